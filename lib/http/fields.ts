/** The types of single-value parameters. */
import * as z from 'zod';
import {
  type Coerced,
  INVALID,
  toBoolean,
  toContent,
  toDatetime,
  toDay,
  toInteger,
  toNumber,
  toText,
} from './coerce.ts';
import { type Field, field, type Options, register, type Value } from './field.ts';
import type { JsonSchema } from './field-facts.ts';
import type { UploadedFile } from './multipart.ts';

/** Problem of a value outside the allowed list or range. */
export const OUTSIDE = 'does not have a valid value';

/** @param options.documentedValues values for the OpenAPI document only: the endpoint rejects others with its own text */
export function string<
  const O extends Options<string> & {
    maxLength?: number;
    pattern?: RegExp;
    documentedValues?: readonly string[];
  },
>(options?: O): Field<Value<string, O>> {
  const { maxLength, pattern, documentedValues } = options ?? {};
  return field(
    options,
    toText,
    {
      type: 'string',
      ...(maxLength === undefined ? {} : { maxLength }),
      ...(documentedValues === undefined ? {} : { enum: documentedValues }),
    },
    (text) => {
      if (maxLength !== undefined && text.length > maxLength)
        return `is too long (maximum is ${maxLength} characters)`;
      return pattern === undefined || pattern.test(text) ? undefined : 'is invalid';
    },
  );
}

/** The new text of what must have one: null is no text, and refused as an empty one is, in the words of its subject. */
export const changedText = <const O extends { description?: string }>(options?: O): Field<Value<string, O>> =>
  field(options, (raw) => (raw === null ? '' : toText(raw)), { type: 'string' });

/** A number, or one of some words: the check says which. */
export const numberOrText = <const O extends Options<string>>(options?: O): Field<Value<string, O>> =>
  field(options, toText, { type: ['integer', 'string'] });

/** Text that may contain any character, including NUL: the content of a file. */
export const content = <const O extends Options<string>>(options?: O): Field<Value<string, O>> =>
  field(options, toContent, { type: 'string' });

type IntegerOptions = Options<number> & {
  min?: number;
  max?: number;
  values?: readonly number[];
  /** Values rejected with `<p> has a value not allowed`. */
  except?: readonly number[];
};

export function integer<const O extends IntegerOptions>(options?: O): Field<Value<number, O>> {
  const { min, max, values, except } = options ?? {};
  const json: JsonSchema = { type: 'integer' };
  if (min !== undefined) json.minimum = min;
  if (max !== undefined) json.maximum = max;
  if (values !== undefined) json.enum = values;
  return field(options, toInteger, json, (value) => {
    if (except?.includes(value)) return 'has a value not allowed';
    if (value < (min ?? value) || value > (max ?? value) || !(values?.includes(value) ?? true))
      return OUTSIDE;
    return undefined;
  });
}

/** An integer path parameter that is part of the route: other values are an unknown route (404), not a bad request. */
export function routeInteger(options?: { description?: string }): Field<number> {
  const rules = { required: true, ...options } as const;
  const none = { code: 'custom', input: undefined, params: { route: true } } as const;
  const run = z.any().transform((raw, context) => {
    const value = toInteger(raw);
    if (typeof value === 'number' && value >= 0) return value;
    context.issues.push({ ...none, message: 'is invalid' });
    return z.NEVER;
  });
  return register(run, rules, { type: 'integer', minimum: 0 });
}

/** A path parameter with a fixed set of words that is part of the route: other values are an unknown route (404). */
export function routeWord<const V extends string>(
  values: readonly V[],
  options?: { description?: string },
): Field<V> {
  const none = { code: 'custom', input: undefined, params: { route: true } } as const;
  const run = z.any().transform((raw, context) => {
    const word = values.find((value) => value === raw);
    if (word !== undefined) return word;
    context.issues.push({ ...none, message: 'is invalid' });
    return z.NEVER;
  });
  return register(run, { required: true, ...options }, { type: 'string', enum: values });
}

export const number = <const O extends Options<number>>(options?: O): Field<Value<number, O>> =>
  field(options, toNumber, { type: 'number' });

export const boolean = <const O extends Options<boolean>>(options?: O): Field<Value<boolean, O>> =>
  field(options, toBoolean, { type: 'boolean' });

/** A date and time. */
export const datetime = <const O extends Options<Date>>(options?: O): Field<Value<Date, O>> =>
  field(options, toDatetime, { type: 'string', format: 'date-time' });

/** A day as `YYYY-MM-DD`, or the day of a date and time, as written: clients send both. */
export const date = <const O extends Options<string>>(options?: O): Field<Value<string, O>> =>
  field(options, toDay, { type: 'string', format: 'date' });

/** One of a fixed list of values. */
export function oneOf<const V extends string, const O extends Options<V>>(
  values: readonly V[],
  options?: O,
): Field<Value<V, O>> {
  const known = (value: string) => (values.includes(value as V) ? undefined : OUTSIDE);
  return field(
    options as Options<V> | undefined,
    toText as (raw: unknown) => Coerced<V>,
    { type: 'string', enum: values },
    known,
  ) as Field<Value<V, O>>;
}

/** An uploaded file (multipart); an empty text, which forms send when no file is chosen, is null. */
export const file = <const O extends Options<UploadedFile>>(options?: O): Field<Value<UploadedFile, O>> =>
  field(options, (raw) => (raw === '' ? null : raw === null || isFile(raw) ? raw : INVALID), {
    type: 'string',
    format: 'binary',
  });

/** An object with arbitrary fields: `custom_attributes[key]=v` or a JSON object. */
export const hash = <const O extends Options<Record<string, unknown>>>(
  options?: O,
): Field<Value<Record<string, unknown>, O>> =>
  field(options, toHash, { type: 'object', additionalProperties: true });

/** Any JSON value, including null: for parameters that are stored and returned unchanged. */
export const anything = <const O extends Options<unknown>>(options?: O): Field<unknown> =>
  field(options, (raw) => raw, {});

/** A path inside the repository, see `isFilePath`. */
export const filePath = <const O extends Options<string>>(options?: O): Field<Value<string, O>> =>
  field(options, toText, { type: 'string' }, (path) =>
    isFilePath(path) ? undefined : 'should be a valid file path',
  );

/** Whether a path may name a file: not absolute, without `..` segments; backslashes count as separators. */
function isFilePath(path: string): boolean {
  if (path.startsWith('/') || /^[a-z]:[\\/]/i.test(path)) return false;
  return !path.split(/[\\/]/).includes('..');
}

export const isFile = (raw: unknown): raw is UploadedFile =>
  typeof raw === 'object' && raw !== null && 'bytes' in raw && raw.bytes instanceof Uint8Array;

/** An object from Rack or JSON parameters. */
export function toHash(raw: unknown): Coerced<Record<string, unknown>> {
  if (raw === null || raw === '') return null;
  return typeof raw === 'object' && !Array.isArray(raw) && !isFile(raw)
    ? (raw as Record<string, unknown>)
    : INVALID;
}
