import { createRequire } from 'node:module';
import type { Attribute } from './attribute.ts';
import type { Condition } from './condition.ts';
import { DynamoError, invalid } from './errors.ts';
import type { Path } from './path.ts';
import type { Update } from './update.ts';

/**
 * Everything taken from dynalite (https://github.com/architect/dynalite, Apache-2.0), in this one file:
 *
 * - the checks of a request's shape, which answer with the service's own error texts;
 * - the parsers of condition, projection and update expressions, which those checks call;
 * - the encodings of keys, under which items are stored: they must never change.
 *
 * None of it is dynalite's public interface. `test/unit/dynalite.test.ts` fails where a new version of dynalite lacks a
 * part of it, gives it another shape, or encodes a key in another way.
 *
 * Storage, conditions, updates, indexes and capacity are not taken from dynalite: it tears an item from its index rows
 * on a crash, keeps index rows under 24 bits of a hash of their item's key (two items may overwrite each other's row),
 * compares lists and maps by identity, and has no transactions.
 */
const require = createRequire(import.meta.url);

/** `dynalite/validations`. Both throw `{ statusCode, body: { __type, message } }` for an invalid request. */
interface Validations {
  /** Checks types, and removes the members that the operation does not know. */
  checkTypes(data: unknown, types: unknown): Record<string, unknown>;
  /** Checks ranges and what `custom` demands, which parses the expressions. */
  checkValidations(data: unknown, types: unknown, custom: unknown, store: unknown): void;
}

/** `dynalite/validations/<operation>`. */
interface OperationRules {
  types: Record<string, unknown>;
  custom?: (data: unknown, store: unknown) => string | undefined;
}

/** The part of `dynalite/db` used here. */
interface KeyEncoding {
  /** Six hexadecimal digits of a hash of a partition key: a Scan goes through partitions in this order. */
  hashPrefix(value: string, type: string): string;
  /** A string of ASCII characters, without `/` and `~`, that sorts as DynamoDB sorts the values. */
  toRangeStr(value: string, type: string): string;
}

const validations: Validations = require('dynalite/validations');
export const keyEncoding: KeyEncoding = require('dynalite/db');

/** The operations whose requests dynalite checks. Others are small, or unknown to it, and checked where they are served. */
export const CHECKED_OPERATIONS = [
  'BatchGetItem',
  'BatchWriteItem',
  'CreateTable',
  'DeleteItem',
  'GetItem',
  'PutItem',
  'Query',
  'Scan',
  'UpdateItem',
] as const;
type CheckedOperation = (typeof CHECKED_OPERATIONS)[number];

const rules = new Map<CheckedOperation, OperationRules>();

/** dynalite's rules for an operation, loaded at its first request. */
export function rulesOf(operation: CheckedOperation): OperationRules {
  let found = rules.get(operation);
  if (!found) {
    found = require(
      `dynalite/validations/${operation[0]!.toLowerCase()}${operation.slice(1)}`,
    ) as OperationRules;
    rules.set(operation, found);
  }
  return found;
}

interface Parsed<T> {
  /** Attributes whose members (`a.b`, `a[0]`) the expression names. */
  nestedPaths: Record<string, true>;
  /** The attributes the expression reads. */
  pathHeads: Record<string, true>;
  expression: T;
}

/** What the checks add to a request: its expressions, parsed, with names and values substituted. */
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

/** The largest item, in bytes. */
export const MAX_ITEM_BYTES = 400 * 1024;

// dynalite counts UTF-16 units where the service counts bytes: its own limit is lifted, and bytes are checked elsewhere.
const store = { options: { maxItemSize: Number.POSITIVE_INFINITY } };

/** Parameters that expressions replaced. They are rejected, not emulated. */
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
 * @throws DynamoError ValidationException or SerializationException, with the service's texts
 */
export function validate<T>(operation: CheckedOperation, input: Record<string, unknown>): T & Expressions {
  for (const name of LEGACY)
    if (input[name] != null)
      throw invalid(`The embedded DynamoDB does not support the legacy parameter ${name}`);
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

/** An error as dynalite throws it, as ours; any other stays as it is. */
function asDynamoError(error: unknown): unknown {
  const { statusCode, body } = error as {
    statusCode?: number;
    body?: { __type: string; message?: string; Message?: string };
  };
  if (!statusCode || !body) return error;
  const code = body.__type.slice(body.__type.indexOf('#') + 1);
  return new DynamoError(code, body.message ?? body.Message ?? '', {}, statusCode);
}
