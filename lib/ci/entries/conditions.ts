/** When a job belongs to a pipeline: `rules`, and the older `only` and `except`. */
import { parseDuration } from '../duration.ts';
import { ConfigError } from '../errors.ts';
import { type Expression, parseExpression } from '../expression/expression.ts';
import { isHash } from '../yaml/values.ts';
import { type Entry, isText, isTexts, type Problems } from './problems.ts';
import { type VariableTexts, variables } from './variables.ts';

const RULE_WHENS = ['on_success', 'on_failure', 'always', 'never', 'manual', 'delayed'] as const;
type RuleWhen = (typeof RULE_WHENS)[number];

export interface Rule {
  readonly if?: Expression;
  readonly changes?: readonly string[];
  readonly exists?: readonly string[];
  readonly when?: RuleWhen;
  /** Seconds. */
  readonly startIn?: number;
  readonly allowFailure?: boolean;
  readonly variables?: VariableTexts;
}

export interface Policy {
  /** Kinds of pipelines (`branches`), names and patterns of refs (`/^v/`). */
  readonly refs?: readonly string[];
  readonly variables?: readonly Expression[];
  readonly changes?: readonly string[];
  readonly kubernetes?: 'active';
}

/** Paths of one rule. */
const MAX_PATHS = 50;
/** Seconds that a delayed job may wait. */
const MAX_DELAY = 7 * 24 * 3600;

const MAX_NESTING = 10;

export const rules =
  (whens: readonly RuleWhen[] = RULE_WHENS): Entry<readonly Rule[]> =>
  (value, path, problems) => {
    const list = Array.isArray(value) ? flattened(value, 1) : undefined;
    if (list === undefined) return problems.add(path, 'config should be an array of hashes');
    return list.flatMap((item) => rule(item, `${path}:rule`, problems, whens) ?? []);
  };

function flattened(list: readonly unknown[], depth: number): unknown[] | undefined {
  if (depth > MAX_NESTING) return undefined;
  const items: unknown[] = [];
  for (const item of list) {
    const inner = Array.isArray(item) ? flattened(item, depth + 1) : isHash(item) ? [item] : undefined;
    if (inner === undefined) return undefined;
    items.push(...inner);
  }
  return items;
}

function rule(
  given: unknown,
  path: string,
  problems: Problems,
  whens: readonly RuleWhen[],
): Rule | undefined {
  if (!isHash(given)) return problems.add(path, 'config should be a hash');
  const known = ['if', 'changes', 'exists', 'when', 'start_in', 'allow_failure', 'variables', 'needs'];
  if (!problems.keys(path, given, known)) return undefined;
  if (Object.keys(given).length === 0) return problems.add(path, "config can't be blank");
  const when = given['when'] ?? undefined;
  if (when !== undefined && !whens.includes(when as RuleWhen))
    return problems.add(path, `when unknown value: ${String(when)}`);
  const condition = given['if'] == null ? undefined : expression(given['if'], path, problems);
  if (given['if'] != null && condition === undefined) return undefined;
  const delay = startIn(given['start_in'], when as RuleWhen | undefined, path, problems);
  const allowFailure = given['allow_failure'] ?? undefined;
  if (allowFailure !== undefined && typeof allowFailure !== 'boolean')
    return problems.add(path, 'allow failure should be a boolean value');
  const set =
    given['variables'] == null ? undefined : variables(given['variables'], `${path}:variables`, problems);
  const changes = paths(given['changes'], `${path}:changes`, problems);
  const exists = paths(given['exists'], `${path}:exists`, problems);
  return {
    ...(condition && { if: condition }),
    ...(changes && { changes }),
    ...(exists && { exists }),
    ...(when !== undefined && { when: when as RuleWhen }),
    ...(delay !== undefined && { startIn: delay }),
    ...(allowFailure !== undefined && { allowFailure }),
    ...(set && { variables: set }),
  };
}

/** Seconds that a delayed job waits. @param given with `when: delayed`, and only then */
export function startIn(
  given: unknown,
  when: string | undefined,
  path: string,
  problems: Problems,
): number | undefined {
  if (given == null) {
    if (when === 'delayed') problems.add(path, 'start in should be a duration');
    return undefined;
  }
  if (when !== 'delayed') return problems.add(path, 'start in must be blank');
  const seconds = parseDuration(String(given));
  if (seconds === undefined) return problems.add(path, 'start in should be a duration');
  return seconds <= MAX_DELAY ? seconds : problems.add(path, 'start in should not exceed the limit');
}

function expression(given: unknown, path: string, problems: Problems): Expression | undefined {
  if (!isText(given)) return problems.add(path, 'if invalid expression syntax');
  try {
    return parseExpression(given);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return problems.add(path, `if ${error.message}`);
  }
}

/** A list of paths, also as `{ paths: [...] }`. */
function paths(given: unknown, path: string, problems: Problems): readonly string[] | undefined {
  if (given == null) return undefined;
  if (isHash(given)) {
    if (!problems.keys(path, given, ['paths', 'compare_to'])) return undefined;
    return paths(given['paths'] ?? [], path, problems);
  }
  if (!isTexts(given)) return problems.add(path, 'config should be an array of strings');
  if (given.length > MAX_PATHS)
    return problems.add(path, `config is too long (maximum is ${MAX_PATHS} characters)`);
  return given;
}

export const policy: Entry<Policy> = (value, path, problems) => {
  const refs = (given: unknown): given is string[] => isTexts(given);
  if (isText(value)) return { refs: [value] };
  if (Array.isArray(value))
    return refs(value)
      ? { refs: value }
      : problems.add(path, 'config should be an array of strings or regexps');
  if (!isHash(value)) return problems.add(path, 'has to be either an array of conditions or a hash');
  if (!problems.keys(path, value, ['refs', 'kubernetes', 'variables', 'changes'])) return undefined;
  const given = isText(value['refs']) ? [value['refs']] : (value['refs'] ?? undefined);
  if (given !== undefined && !refs(given))
    return problems.add(path, 'refs should be an array of strings or regexps');
  const conditions = isText(value['variables']) ? [value['variables']] : (value['variables'] ?? undefined);
  if (conditions !== undefined && !isTexts(conditions))
    return problems.add(path, 'variables should be an array of strings');
  const { kubernetes } = value;
  if (kubernetes != null && kubernetes !== 'active')
    return problems.add(path, `kubernetes unknown value: ${String(kubernetes)}`);
  const parsed = conditions?.map((condition) => {
    try {
      return parseExpression(condition);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return problems.add(path, `variables ${error.message}`);
    }
  });
  if (parsed?.includes(undefined)) return undefined;
  const changes = paths(value['changes'], `${path}:changes`, problems);
  return {
    ...(given && { refs: given }),
    ...(parsed && { variables: parsed as Expression[] }),
    ...(changes && { changes }),
    ...(kubernetes === 'active' && { kubernetes }),
  };
};
