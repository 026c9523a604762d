/**
 * Conditions on variables, as in `rules:if` and `only:variables`:
 * https://docs.gitlab.com/ee/ci/jobs/job_control.html#cicd-variable-expressions
 */
import type { Matching } from '../matching.ts';
import type { Variables } from '../variables.ts';
import { invalidExpression, type Operator, type Token, tokensOf } from './tokens.ts';

export type Expression =
  | Exclude<Token, { kind: 'operator' | '(' | ')' }>
  | {
      readonly kind: 'operation';
      readonly operator: Operator;
      readonly left: Expression;
      readonly right: Expression;
    };

/** Operators from the one that binds least; those of a level are worked on from left to right. */
const LEVELS: readonly (readonly Operator[])[] = [['||'], ['&&'], ['==', '!=', '=~', '!~']];
const MAX_DEPTH = 50;

/** @throws ConfigError for a text that is no expression */
export function parseExpression(source: string): Expression {
  const tokens = tokensOf(source);
  let at = 0;
  const operation = (level: number, depth: number): Expression => {
    const operators = LEVELS[level];
    if (operators === undefined) return operand(depth);
    let left = operation(level + 1, depth);
    for (;;) {
      const token = tokens[at];
      if (token?.kind !== 'operator' || !operators.includes(token.operator)) return left;
      at++;
      const right = operation(level + 1, depth);
      const matches = token.operator === '=~' || token.operator === '!~';
      // What a text is matched with is a pattern, or a variable that holds one.
      if (matches && right.kind !== 'pattern' && right.kind !== 'variable') throw invalidExpression();
      if (!matches && (right.kind === 'pattern' || left.kind === 'pattern')) throw invalidExpression();
      left = { kind: 'operation', operator: token.operator, left, right };
    }
  };
  const operand = (depth: number): Expression => {
    const token = tokens[at++];
    if (token?.kind === '(') {
      if (depth >= MAX_DEPTH) throw invalidExpression();
      const inner = operation(0, depth + 1);
      if (tokens[at++]?.kind !== ')') throw invalidExpression();
      return inner;
    }
    if (token === undefined || token.kind === ')' || token.kind === 'operator') throw invalidExpression();
    return token;
  };
  const parsed = operation(0, 0);
  if (at < tokens.length) throw invalidExpression();
  return parsed;
}

/** Text, null, or the truth of an operation. */
type Value = string | null | boolean;

/** Whether a condition holds. An empty text and a variable that is not set do not hold. */
export async function holds(
  expression: Expression,
  variables: Variables,
  matching: Matching,
): Promise<boolean> {
  return isTrue(await evaluate(expression, variables, matching));
}

const isTrue = (value: Value): boolean => value !== null && value !== false && value !== '';

async function evaluate(expression: Expression, variables: Variables, matching: Matching): Promise<Value> {
  switch (expression.kind) {
    case 'variable':
      return variables.get(expression.name) ?? null;
    case 'text':
      return expression.text;
    case 'null':
      return null;
    case 'pattern':
      return `/${expression.source}/${expression.flags}`;
    case 'operation':
      return operate(expression, variables, matching);
  }
}

async function operate(
  { operator, left, right }: Extract<Expression, { kind: 'operation' }>,
  variables: Variables,
  matching: Matching,
): Promise<Value> {
  const first = await evaluate(left, variables, matching);
  if (operator === '&&' && !isTrue(first)) return first;
  if (operator === '||' && isTrue(first)) return first;
  const second = await evaluate(right, variables, matching);
  switch (operator) {
    case '==':
      return first === second;
    case '!=':
      return first !== second;
    case '=~':
      return matches(first, second, matching);
    case '!~':
      return !(await matches(first, second, matching));
    default:
      return second;
  }
}

/** A variable as pattern counts where it has the form of one. What is no pattern matches nothing. */
async function matches(text: Value, pattern: Value, matching: Matching): Promise<boolean> {
  if (typeof text !== 'string' || typeof pattern !== 'string') return false;
  return (await matching.pattern(pattern))?.matches(text) ?? false;
}
