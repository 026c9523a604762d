import { type Attribute, type Item, typeOf, valueAt } from './attribute.ts';
import { Decimal } from './decimal.ts';
import { invalid } from './errors.ts';
import type { Path } from './path.ts';

/** A parsed update expression, as dynalite's parser builds it: with names and values substituted. */
export interface Update {
  sections: Action[];
  /** The paths the actions write, in the expression's order. */
  paths: Path[];
  nestedPaths: Record<string, true>;
}
interface Action {
  type: 'set' | 'remove' | 'add' | 'delete';
  path: Path;
  val?: Value;
}
type Value = Path | Attribute | Call;
interface Call {
  type: 'add' | 'subtract' | 'function';
  name?: 'if_not_exists' | 'list_append';
  args: Value[];
}

type SetType = 'SS' | 'NS' | 'BS';

const badOperand = () => invalid('An operand in the update expression has an incorrect data type');

/**
 * The item after an update. Every action reads the item from before the update, so their order does not matter, and the
 * indexes of several `REMOVE a[i]` refer to the original list.
 * @param item is not changed
 * @throws DynamoError ValidationException when an operand is missing or of a wrong type, or a path does not exist
 */
export function applyUpdate(update: Update, item: Item): Item {
  const result = structuredClone(item);
  const values = update.sections.map((action) => newValue(action, item));
  /** Lists that lose elements or gain some beyond their end, with the removed indexes: gaps are closed at the end. */
  const lists = new Map<Attribute[], Set<number>>();
  update.sections.forEach((action, index) => {
    const parent = valueAt(result, action.path.slice(0, -1));
    const last = action.path.at(-1)!;
    const container = typeof last === 'number' ? parent?.L : parent?.M;
    if (!container) {
      throw invalid('The document path provided in the update expression is invalid for update');
    }
    const value = values[index];
    if (Array.isArray(container)) {
      let removed = lists.get(container);
      if (!removed) lists.set(container, (removed = new Set()));
      // Removed elements stay until the end, so that the indexes of the other actions stay valid.
      if (value === undefined) removed.add(last as number);
      else container[last as number] = value;
    } else if (value === undefined) delete container[last];
    else container[last] = value;
  });
  for (const [list, removed] of lists) {
    const kept = list.filter((element, index) => element !== undefined && !removed.has(index));
    list.splice(0, list.length, ...kept);
  }
  return result;
}

/** The value that an action puts at its path; undefined to remove it. */
function newValue(action: Action, item: Item): Attribute | undefined {
  const current = valueAt(item, action.path);
  switch (action.type) {
    case 'set':
      return structuredClone(resolve(action.val!, item));
    case 'remove':
      return undefined;
    case 'add': {
      const operand = action.val as Attribute;
      if (operand.N !== undefined) {
        if (current && current.N === undefined) throw badOperand();
        return { N: calculate('add', current?.N ?? '0', operand.N) };
      }
      const type = typeOf(operand) as SetType;
      if (current && typeOf(current) !== type) throw badOperand();
      return { [type]: [...new Set([...(current?.[type] ?? []), ...operand[type]!])] };
    }
    case 'delete': {
      if (!current) return undefined;
      const operand = action.val as Attribute;
      const type = typeOf(operand) as SetType;
      if (typeOf(current) !== type) throw badOperand();
      const remaining = current[type]!.filter((member) => !operand[type]!.includes(member));
      return remaining.length ? { [type]: remaining } : undefined;
    }
  }
}

function resolve(value: Value, item: Item): Attribute {
  if (Array.isArray(value)) {
    const found = valueAt(item, value as Path);
    if (!found) {
      throw invalid('The provided expression refers to an attribute that does not exist in the item');
    }
    return found;
  }
  const { type, name, args } = value as Call;
  if (type === 'add' || type === 'subtract') {
    const [left, right] = args.map((operand) => resolve(operand, item));
    if (left!.N === undefined || right!.N === undefined) throw badOperand();
    return { N: calculate(type, left!.N, right!.N) };
  }
  if (type === 'function' && name === 'if_not_exists') {
    return valueAt(item, args[0] as Path) ?? resolve(args[1]!, item);
  }
  if (type === 'function' && name === 'list_append') {
    const [left, right] = args.map((operand) => resolve(operand, item));
    if (!left!.L || !right!.L) throw badOperand();
    return { L: [...left!.L, ...right!.L] };
  }
  return value as Attribute;
}

/** Exact, within the 38 digits and the range of magnitudes of a Number. */
function calculate(operation: 'add' | 'subtract', left: string, right: string): string {
  if (left.length < 15 && right.length < 15 && !left.includes('.') && !right.includes('.')) {
    return String(operation === 'add' ? Number(left) + Number(right) : Number(left) - Number(right));
  }
  const a = new Decimal(left);
  const result = operation === 'add' ? a.plus(right) : a.minus(right);
  if (result.e > 125 || result.e < -130) {
    throw invalid('Number overflow. Attempting to store a number with magnitude larger than supported range');
  }
  if (result.c.length > 38) throw invalid('Attempting to store more than 38 significant digits in a Number');
  return result.toFixed();
}
