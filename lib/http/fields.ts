/** The kinds of single values a parameter may have. */
import * as z from 'zod';
import {
  type Coerced,
  INVALID,
  toBoolean,
  toContent,
  toDate,
  toDatetime,
  toDay,
  toInteger,
  toNumber,
  toText,
} from './coerce.ts';
import { type Field, field, type Options, register, type Value } from './field.ts';
import type { JsonSchema } from './field-facts.ts';
import type { UploadedFile } from './multipart.ts';

/** The value is outside the allowed list or range. */
export const OUTSIDE = 'does not have a valid value';

/** `told` are the values there are, for a rule that refuses others in words of its own. */
export function string<
  const O extends Options<string> & { maxLength?: number; pattern?: RegExp; told?: readonly string[] },
>(options?: O): Field<Value<string, O>> {
  const { maxLength, pattern, told } = options ?? {};
  return field(
    options,
    toText,
    {
      type: 'string',
      ...(maxLength === undefined ? {} : { maxLength }),
      ...(told === undefined ? {} : { enum: told }),
    },
    (text) => {
      if (maxLength !== undefined && text.length > maxLength)
        return `is too long (maximum is ${maxLength} characters)`;
      return pattern === undefined || pattern.test(text) ? undefined : 'is invalid';
    },
  );
}

/** Text that may hold any character, NUL too: the content of a file. */
export const content = <const O extends Options<string>>(options?: O): Field<Value<string, O>> =>
  field(options, toContent, { type: 'string' });

type IntegerOptions = Options<number> & {
  min?: number;
  max?: number;
  values?: readonly number[];
  /** Values refused with `<p> has a value not allowed`. */
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

/** An integer in a path that is part of the route: anything else is not a bad request but no such route. */
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

/** One of a few words in a path that are part of the route: anything else is no such route. */
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

/** An instant. */
export const datetime = <const O extends Options<Date>>(options?: O): Field<Value<Date, O>> =>
  field(options, toDatetime, { type: 'string', format: 'date-time' });

/** A day as `YYYY-MM-DD`; with `times` that of an instant too, as it is written. */
export const date = <const O extends Options<string> & { times?: boolean }>(
  options?: O,
): Field<Value<string, O>> =>
  field(options, options?.times ? toDay : toDate, { type: 'string', format: 'date' });

/** One of a list of texts. */
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

/** An uploaded file (multipart); an empty text, as forms send for no file, is null. */
export const file = <const O extends Options<UploadedFile>>(options?: O): Field<Value<UploadedFile, O>> =>
  field(options, (raw) => (raw === '' ? null : raw === null || isFile(raw) ? raw : INVALID), {
    type: 'string',
    format: 'binary',
  });

/** An object of any members: `custom_attributes[key]=v` or a JSON object. */
export const hash = <const O extends Options<Record<string, unknown>>>(
  options?: O,
): Field<Value<Record<string, unknown>, O>> =>
  field(options, toHash, { type: 'object', additionalProperties: true });

/** Null, or whatever JSON says: for parameters that are stored and returned as they are. */
export const anything = <const O extends Options<unknown>>(options?: O): Field<unknown> =>
  field(options, (raw) => raw, {});

/** `a path inside the repository`: relative, without `.`, `..` or empty segments. */
export const filePath = <const O extends Options<string>>(options?: O): Field<Value<string, O>> =>
  field(options, toText, { type: 'string' }, (path) =>
    isFilePath(path) ? undefined : 'should be a valid file path',
  );

/** The path may name a file: no way up, no absolute path, no backslash trick. */
export function isFilePath(path: string): boolean {
  if (path.startsWith('/') || /^[a-z]:[\\/]/i.test(path)) return false;
  return !path.split(/[\\/]/).includes('..');
}

const isFile = (raw: unknown): raw is UploadedFile =>
  typeof raw === 'object' && raw !== null && 'bytes' in raw && raw.bytes instanceof Uint8Array;

/** A hash as Rack or JSON carries it. */
export function toHash(raw: unknown): Coerced<Record<string, unknown>> {
  if (raw === null || raw === '') return null;
  return typeof raw === 'object' && !Array.isArray(raw) && !isFile(raw)
    ? (raw as Record<string, unknown>)
    : INVALID;
}
