import {
  type Attribute,
  type AttributeType,
  compareScalars,
  equal,
  type Item,
  typeOf,
  valueAt,
} from './attribute.ts';
import type { Path } from './path.ts';

/** A parsed condition or filter, as dynalite's parser builds it: with names and values substituted. */
export interface Condition {
  type: 'and' | 'or' | 'not' | 'function' | 'between' | 'in' | '=' | '<>' | '<' | '<=' | '>' | '>=';
  /** The function's name when `type` is `function`. */
  name?: string;
  args: Operand[];
}
type Operand = Path | Attribute | Condition;

/**
 * Whether a condition holds for an item; an absent item has no attributes.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html
 */
export function holds(condition: Condition, item: Item): boolean {
  const { type, args } = condition;
  switch (type) {
    case 'and':
      return holds(args[0] as Condition, item) && holds(args[1] as Condition, item);
    case 'or':
      return holds(args[0] as Condition, item) || holds(args[1] as Condition, item);
    case 'not':
      return !holds(args[0] as Condition, item);
  }
  const [left, right, upper] = args.map((operand) => resolve(operand, item));
  switch (type) {
    case 'function':
      return call(condition.name!, left, right);
    case '=':
      return left !== undefined && right !== undefined && equal(left, right);
    case '<>':
      // An absent attribute differs from every value.
      return left === undefined || right === undefined ? left !== right : !equal(left, right);
    case 'in':
      return left !== undefined && args.slice(1).some((operand) => same(left, resolve(operand, item)));
    case 'between':
      return ordered(left, right, (order) => order >= 0) && ordered(left, upper, (order) => order <= 0);
    case '<':
      return ordered(left, right, (order) => order < 0);
    case '<=':
      return ordered(left, right, (order) => order <= 0);
    case '>':
      return ordered(left, right, (order) => order > 0);
    case '>=':
      return ordered(left, right, (order) => order >= 0);
  }
}

function same(a: Attribute, b: Attribute | undefined): boolean {
  return b !== undefined && equal(a, b);
}

const SCALARS: ReadonlySet<AttributeType> = new Set(['S', 'N', 'B']);

/** Compares values of one ordered type: anything else is false, not an error. */
function ordered(
  a: Attribute | undefined,
  b: Attribute | undefined,
  test: (order: number) => boolean,
): boolean {
  if (!a || !b) return false;
  const type = typeOf(a);
  return type === typeOf(b) && SCALARS.has(type) && test(compareScalars(a, b));
}

function resolve(operand: Operand, item: Item): Attribute | undefined {
  if (Array.isArray(operand)) return valueAt(item, operand as Path);
  const { type, name, args } = operand as Condition;
  if (type === 'function' && name === 'size') {
    const size = sizeOf(resolve(args[0]!, item));
    return size === undefined ? undefined : { N: String(size) };
  }
  return operand as Attribute;
}

/** `size()`: characters of a string, bytes of a binary, elements of a set, list or map; undefined for other types. */
function sizeOf(value: Attribute | undefined): number | undefined {
  if (!value) return undefined;
  if (value.S !== undefined) return value.S.length;
  if (value.B !== undefined) return Buffer.byteLength(value.B, 'base64');
  if (value.M) return Object.keys(value.M).length;
  return (value.L ?? value.SS ?? value.NS ?? value.BS)?.length;
}

function call(name: string, subject: Attribute | undefined, argument: Attribute | undefined): boolean {
  switch (name) {
    case 'attribute_exists':
      return subject !== undefined;
    case 'attribute_not_exists':
      return subject === undefined;
    case 'attribute_type':
      return subject !== undefined && typeOf(subject) === argument?.S;
    case 'begins_with':
      if (!subject || !argument) return false;
      if (subject.S !== undefined) return argument.S !== undefined && subject.S.startsWith(argument.S);
      if (subject.B !== undefined && argument.B !== undefined) {
        const start = Buffer.from(argument.B, 'base64');
        return Buffer.from(subject.B, 'base64').subarray(0, start.length).equals(start);
      }
      return false;
    case 'contains':
      return subject !== undefined && argument !== undefined && contains(subject, argument);
    default:
      throw new TypeError(`unknown function ${name}`);
  }
}

function contains(subject: Attribute, argument: Attribute): boolean {
  if (subject.L) return subject.L.some((element) => equal(element, argument));
  if (argument.S !== undefined) return (subject.S ?? subject.SS)?.includes(argument.S) ?? false;
  if (argument.N !== undefined) return subject.NS?.includes(argument.N) ?? false;
  if (argument.B !== undefined) {
    if (subject.BS) return subject.BS.includes(argument.B);
    return (
      subject.B !== undefined && Buffer.from(subject.B, 'base64').includes(Buffer.from(argument.B, 'base64'))
    );
  }
  return false;
}
