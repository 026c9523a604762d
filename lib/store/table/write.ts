/** Writes as plain values, and their translation into DynamoDB expressions. */
import { isDeepStrictEqual } from 'node:util';
import type { Key } from '../row-keys/key.ts';
import { toWire, type WireItem } from './wire.ts';

export type Item = Record<string, unknown>;
export type Values = Readonly<Record<string, unknown>>;

/** `if` and `where` are DynamoDB expressions: `#name` is that attribute, `:name` is `values.name`. */
interface Conditional {
  readonly if?: string;
  readonly values?: Values;
  /** Label of this write's failed condition in `TransactionRefused`. */
  readonly reason?: string;
}

export interface Put extends Conditional {
  readonly put: Item & Key;
}

export interface Update extends Conditional {
  readonly update: Key;
  readonly set?: Values;
  readonly remove?: readonly string[];
  /** Numbers to add; an absent attribute counts as 0. */
  readonly add?: Readonly<Record<string, number>>;
}

export interface Delete extends Conditional {
  readonly delete: Key;
}

/** A condition without a write; only in transactions. */
export interface Check extends Conditional {
  readonly check: Key;
  readonly if: string;
  readonly reason: string;
}

export type Write = Put | Update | Delete | Check;

/** Conditions on whether the item exists. */
export const ABSENT = 'attribute_not_exists(#pk)';
export const PRESENT = 'attribute_exists(#pk)';

/** The condition that a record is still the one that was read; it fails under `reason`. */
export const unchangedSince = ({ version }: { readonly version: number }, reason: string) => ({
  if: '#version = :version',
  values: { version },
  reason,
});

/** Counts one more where fewer than `limit` are counted; it fails under `reason`. */
export const countBelow = (count: Key, limit: number, reason: string): Update => ({
  update: count,
  add: { total: 1 },
  if: 'attribute_not_exists(#total) OR #total < :limit',
  values: { limit },
  reason,
});

/** Returns the key that a write is for. */
export const keyOf = (write: Write): Key => {
  if ('put' in write) return write.put;
  if ('update' in write) return write.update;
  return 'delete' in write ? write.delete : write.check;
};

/**
 * Joins the writes of several rules for one transaction, which takes one write for each item: additions to the same item
 * are added up, and of equal checks one is left.
 */
export function joined(writes: readonly Write[]): Write[] {
  const result: Write[] = [];
  const at = new Map<string, number>();
  for (const write of writes) {
    const key = keyOf(write);
    const name = JSON.stringify([key.pk, key.sk]);
    const place = at.get(name);
    const earlier = place === undefined ? undefined : result[place]!;
    if (place !== undefined && earlier !== undefined && isAddition(earlier) && isAddition(write)) {
      const add = { ...earlier.add };
      for (const [attribute, n] of Object.entries(write.add)) add[attribute] = (add[attribute] ?? 0) + n;
      result[place] = { update: earlier.update, add };
    } else if (earlier === undefined || !isDeepStrictEqual(earlier, write)) {
      at.set(name, result.length);
      result.push(write);
    }
  }
  return result;
}

/** An update that adds to numbers, whatever else the item has. */
const isAddition = (write: Write): write is Update & Required<Pick<Update, 'add'>> =>
  'update' in write && Object.keys(write).every((name) => name === 'update' || name === 'add');

export interface Expressions {
  ExpressionAttributeNames?: Record<string, string>;
  /** In their wire form. */
  ExpressionAttributeValues?: WireItem;
}

/** Builds the maps of names (from the expressions) and of values (undefined ones are left out). */
export function placeholders(expressions: readonly (string | undefined)[], values: Values = {}): Expressions {
  const text = expressions.filter((e) => e !== undefined).join(' ');
  const names: Record<string, string> = {};
  for (const [placeholder, name] of text.matchAll(/#([A-Za-z_]\w*)/g)) names[placeholder] = name!;
  const used: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) used[`:${name}`] = value;
  }
  return {
    ...(Object.keys(names).length > 0 ? { ExpressionAttributeNames: names } : {}),
    ...(Object.keys(used).length > 0 ? { ExpressionAttributeValues: toWire(used) } : {}),
  };
}

/** `SET ... REMOVE ... ADD ...`; an undefined value in `set` leaves the attribute alone. */
export function updateExpression(write: Update): { expression: string; values: Record<string, unknown> } {
  const values: Record<string, unknown> = { ...write.values };
  const sets: string[] = [];
  for (const [name, value] of Object.entries(write.set ?? {})) {
    if (value === undefined) continue;
    values[`set_${name}`] = value;
    sets.push(`#${name} = :set_${name}`);
  }
  const adds: string[] = [];
  for (const [name, value] of Object.entries(write.add ?? {})) {
    values[`add_${name}`] = value;
    adds.push(`#${name} :add_${name}`);
  }
  const removes = (write.remove ?? []).map((name) => `#${name}`);
  const clauses = [
    sets.length > 0 ? `SET ${sets.join(', ')}` : '',
    removes.length > 0 ? `REMOVE ${removes.join(', ')}` : '',
    adds.length > 0 ? `ADD ${adds.join(', ')}` : '',
  ];
  return { expression: clauses.filter((c) => c !== '').join(' '), values };
}
