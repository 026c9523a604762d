import { createRequire } from 'node:module';
import type { Attribute } from './attribute.ts';
import type { Condition } from './condition.ts';
import { DynamoError, invalid } from './errors.ts';
import type { Update } from './update.ts';

/**
 * What we take from dynalite: the checks of a request's shape, with the service's own texts, the three
 * expression parsers behind them, and the order-preserving encoding of keys. Storage, conditions, updates,
 * indexes and capacity are ours: dynalite tears an item from its index rows on a crash, keeps index rows under
 * 24 bits of a hash of their item's key (two items may overwrite each other's row), compares lists and maps by
 * identity, and has no transactions.
 */
const require = createRequire(import.meta.url);

interface Rules {
  types: Record<string, unknown>;
  custom?: (data: unknown, store: unknown) => string | undefined;
}

interface Validations {
  checkTypes(data: unknown, types: unknown): Record<string, unknown>;
  checkValidations(data: unknown, types: unknown, custom: unknown, store: unknown): void;
}

interface KeyEncoding {
  /** Six hexadecimal digits that spread partition keys, as the order of a Scan does. */
  hashPrefix(value: string, type: string): string;
  /** A string of ASCII characters, without `/` and `~`, that sorts as DynamoDB sorts the values. */
  toRangeStr(value: string, type: string): string;
}

/** An expression of paths: `['a', 0, 'b']` is `a[0].b`. */
export type Path = readonly (string | number)[];

interface Parsed<T> {
  /** Attributes whose members (`a.b`, `a[0]`) the expression names. */
  nestedPaths: Record<string, true>;
  /** The attributes the expression reads. */
  pathHeads: Record<string, true>;
  expression: T;
}

/** What the checks add to a request: its expressions, parsed, names and values put in. */
export interface Expressions {
  _condition?: Parsed<Condition>;
  _filter?: Parsed<Condition>;
  _projection?: { paths: Path[]; nestedPaths: Record<string, true> };
  _updates?: Update;
  KeyConditions?: Record<string, KeyCondition>;
}

export interface KeyCondition {
  ComparisonOperator: string;
  AttributeValueList: Attribute[];
}

const validations: Validations = require('dynalite/validations');
export const keyEncoding: KeyEncoding = require('dynalite/db');
export const Decimal: new (value: string) => DecimalNumber = require(
  require.resolve('big.js', { paths: [require.resolve('dynalite/package.json')] }),
);

/** The part of big.js used here. Exact decimal arithmetic. */
export interface DecimalNumber {
  c: number[];
  e: number;
  cmp(other: string): -1 | 0 | 1;
  plus(other: string): DecimalNumber;
  minus(other: string): DecimalNumber;
  toFixed(): string;
}

const rules = new Map<string, Rules>();

function rulesOf(operation: string): Rules {
  let found = rules.get(operation);
  if (!found) {
    found = require(`dynalite/validations/${operation[0]!.toLowerCase()}${operation.slice(1)}`) as Rules;
    rules.set(operation, found);
  }
  return found;
}

/** The limit of an item, in bytes. */
export const MAX_ITEM_BYTES = 400 * 1024;

// dynalite measures in UTF-16 units, never more than the bytes we check ourselves: this lets all pass.
const store = { options: { maxItemSize: Number.POSITIVE_INFINITY } };

/** Parameters from before expressions. Nothing of ours sends them, so they are refused rather than emulated. */
const LEGACY = [
  'Expected',
  'AttributeUpdates',
  'KeyConditions',
  'QueryFilter',
  'ScanFilter',
  'ConditionalOperator',
  'AttributesToGet',
];

const EXPRESSIONS = [
  'ConditionExpression',
  'FilterExpression',
  'KeyConditionExpression',
  'ProjectionExpression',
  'UpdateExpression',
];
/** The limits of an expression: bytes of its text, and operands of one IN. */
const MAX_EXPRESSION_BYTES = 4096;
const MAX_IN_OPERANDS = 100;

/**
 * Checks a request's shape and parses its expressions. Consumes `input`: members unknown to the operation are
 * removed from it.
 * @throws DynamoError ValidationException or SerializationException, worded as the service words them.
 */
export function validate<T>(operation: string, input: Record<string, unknown>): T & Expressions {
  for (const name of LEGACY)
    if (input[name] != null)
      throw invalid(`The embedded DynamoDB does not know the legacy parameter ${name}`);
  for (const name of EXPRESSIONS) {
    const bytes = typeof input[name] === 'string' ? Buffer.byteLength(input[name]) : 0;
    if (bytes > MAX_EXPRESSION_BYTES) {
      throw invalid(
        `Invalid ${name}: Expression size has exceeded the maximum allowed size; expression size: ${bytes}`,
      );
    }
  }
  const { types, custom } = rulesOf(operation);
  let data: T & Expressions;
  try {
    data = validations.checkTypes(input, types) as T & Expressions;
    validations.checkValidations(data, types, custom, store);
  } catch (error) {
    throw asDynamoError(error);
  }
  if (data._condition) checkIn('ConditionExpression', data._condition.expression);
  if (data._filter) checkIn('FilterExpression', data._filter.expression);
  return data;
}

function checkIn(name: string, { type, args }: Condition): void {
  if (type === 'in' && args.length - 1 > MAX_IN_OPERANDS) {
    throw invalid(
      `Invalid ${name}: The IN operator is provided with too many operands; number of operands: ${args.length - 1}`,
    );
  }
  if (type === 'and' || type === 'or' || type === 'not') {
    for (const operand of args) checkIn(name, operand as Condition);
  }
}

function asDynamoError(error: unknown): unknown {
  const { statusCode, body } = error as {
    statusCode?: number;
    body?: { __type: string; message?: string; Message?: string };
  };
  if (!statusCode || !body) return error;
  const code = body.__type.slice(body.__type.indexOf('#') + 1);
  return new DynamoError(code, body.message ?? body.Message ?? '', {}, statusCode);
}
