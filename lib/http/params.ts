/**
 * Parameters of endpoints: zod schemas with the REST dialect's rules of coercion, presence and blankness, and its
 * texts. Each yields its JSON schema too. A parameter that is absent, or null where null means nothing, is left out
 * of the result, so `'name' in body` tells whether it was given.
 */
import * as z from 'zod';
import {
  type Coerced,
  INVALID,
  toBoolean,
  toContent,
  toDate,
  toDatetime,
  toInteger,
  toNumber,
  toText,
} from './coerce.ts';
import { type FieldFacts, factsOf, fieldFacts, type JsonSchema, jsonSchemaOf } from './field-facts.ts';
import type { UploadedFile } from './multipart.ts';

export type Field<T> = z.ZodType<T>;

/** The rules every parameter may have. */
export interface Options<T> {
  readonly required?: boolean;
  /** `false`: a blank value (null, empty or only spaces, empty list) is refused: `<p> is empty`. */
  readonly blank?: boolean;
  /** Null, given as JSON null or, except for strings, as an empty text, reaches the handler as null. */
  readonly nullable?: boolean;
  readonly default?: NoInfer<T>;
  readonly description?: string;
  /** Whatever else is wrong with the value: the text after the parameter's name, such as `is invalid`. */
  readonly check?: (value: NoInfer<T>) => string | undefined;
}

export type Value<T, O> =
  | T
  | (O extends { nullable: true } ? null : never)
  | (O extends { required: true } | { default: unknown } ? never : undefined);

const OUTSIDE = 'does not have a valid value';

export function string<const O extends Options<string> & { maxLength?: number; pattern?: RegExp }>(
  options?: O,
): Field<Value<string, O>> {
  const { maxLength, pattern } = options ?? {};
  return field(
    options,
    toText,
    { type: 'string', ...(maxLength === undefined ? {} : { maxLength }) },
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

export const number = <const O extends Options<number>>(options?: O): Field<Value<number, O>> =>
  field(options, toNumber, { type: 'number' });

export const boolean = <const O extends Options<boolean>>(options?: O): Field<Value<boolean, O>> =>
  field(options, toBoolean, { type: 'boolean' });

/** An instant. */
export const datetime = <const O extends Options<Date>>(options?: O): Field<Value<Date, O>> =>
  field(options, toDatetime, { type: 'string', format: 'date-time' });

/** A day as `YYYY-MM-DD`. */
export const date = <const O extends Options<string>>(options?: O): Field<Value<string, O>> =>
  field(options, toDate, { type: 'string', format: 'date' });

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

/** An uploaded file (multipart). */
export const file = <const O extends Options<UploadedFile>>(options?: O): Field<Value<UploadedFile, O>> =>
  field(options, (raw) => (raw === null || isFile(raw) ? raw : INVALID), {
    type: 'string',
    format: 'binary',
  });

type ListOptions<T> = Options<readonly T[]> & {
  /** The list may also be one text with commas between the items. */
  comma?: boolean;
  maxItems?: number;
};

/** A list of scalars or objects: `a[]=1&a[]=2`, a JSON array and, if allowed, `a=1,2`. */
export function array<T, const O extends ListOptions<T>>(
  item: Field<T>,
  options?: O,
): Field<Value<Exclude<T, undefined>[], O>> {
  const facts = factsOf(item);
  const maxItems = options?.maxItems ?? 10_000;
  const json: JsonSchema = { type: 'array', items: jsonSchemaOf(item) };
  const read = (raw: unknown): Coerced<unknown[]> => {
    if (raw === null) return null;
    if (typeof raw === 'string' && (options?.comma || raw.trim() === '')) {
      return raw
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '');
    }
    if (!Array.isArray(raw)) return INVALID;
    // `labels[]=` names a list of nothing; a blank hash is still an element.
    return facts?.fields === undefined ? raw.filter((part) => part !== '' && part !== null) : raw;
  };
  const each = (values: unknown[], fail: Fail): unknown[] => {
    if (values.length > maxItems) {
      fail('is too long');
      return values;
    }
    const told = new Set<string>();
    return values.map((value, index) => {
      const result = item.safeParse(value);
      if (result.success) return result.data;
      for (const issue of result.error.issues) {
        // A scalar's problem is said of the list as a whole, and once.
        if (facts?.fields !== undefined) fail(issue.message, [index, ...issue.path], issue);
        else if (!told.has(issue.message)) fail(issue.message, [], issue);
        told.add(issue.message);
      }
      return undefined;
    });
  };
  return field(options as Options<unknown[]> | undefined, read, json, undefined, each, {
    ...(facts?.fields === undefined ? {} : { itemFields: facts.fields }),
  }) as Field<Value<Exclude<T, undefined>[], O>>;
}

/** `array` that also takes one text with commas, as most lists of the interface do. */
export const list = <T, const O extends ListOptions<T>>(
  item: Field<T>,
  options?: O,
): Field<Value<Exclude<T, undefined>[], O>> => array(item, { ...options, comma: true } as unknown as O);

/** An object of any members: `custom_attributes[key]=v` or a JSON object. */
export const hash = <const O extends Options<Record<string, unknown>>>(
  options?: O,
): Field<Value<Record<string, unknown>, O>> =>
  field(options, toHash, { type: 'object', additionalProperties: true });

/** An object of declared members: `not[author_id]=1` or a JSON object. */
export function object<S extends Shape, const O extends Options<Output<S>>>(
  shape: S,
  options?: O,
  rules: readonly Rule[] = [],
): Field<Value<Output<S>, O>> {
  const inner = params(shape, rules);
  const facts = factsOf(inner)!;
  const each = (value: Record<string, unknown>, fail: Fail) => {
    const result = inner.safeParse(value);
    if (result.success) return result.data;
    for (const issue of result.error.issues) fail(issue.message, issue.path, issue);
    return value;
  };
  return field(
    options as Options<Record<string, unknown>> | undefined,
    toHash,
    facts.json,
    undefined,
    each as Each<Record<string, unknown>>,
    {
      fields: shape,
    },
  ) as Field<Value<Output<S>, O>>;
}

/** Null, or whatever JSON says: for parameters that are stored and returned as they are. */
export const anything = <const O extends Options<unknown>>(options?: O): Field<unknown> =>
  field(options, (raw) => raw, {});

export type Shape = Readonly<Record<string, Field<unknown>>>;

type OptionalKeys<S extends Shape> = {
  [K in keyof S]: undefined extends z.output<S[K]> ? K : never;
}[keyof S];
export type Output<S extends Shape> = {
  -readonly [K in Exclude<keyof S, OptionalKeys<S>>]: z.output<S[K]>;
} & { -readonly [K in OptionalKeys<S>]?: Exclude<z.output<S[K]>, undefined> };

/** A rule over several parameters; yields the whole text when it is broken. */
export type Rule = (given: (name: string) => boolean) => string | undefined;

export const mutuallyExclusive =
  (...names: string[]): Rule =>
  (given) => {
    const both = names.filter(given);
    return both.length > 1 ? `${both.join(', ')} are mutually exclusive` : undefined;
  };

export const atLeastOneOf =
  (...names: string[]): Rule =>
  (given) =>
    names.some(given)
      ? undefined
      : `${names.join(', ')} are missing, at least one parameter must be provided`;

export const exactlyOneOf =
  (...names: string[]): Rule =>
  (given) =>
    names.some(given)
      ? mutuallyExclusive(...names)(given)
      : `${names.join(', ')} are missing, exactly one parameter must be provided`;

export const allOrNoneOf =
  (...names: string[]): Rule =>
  (given) => {
    const count = names.filter(given).length;
    return count === 0 || count === names.length
      ? undefined
      : `${names.join(', ')} provide all or none of parameters`;
  };

/** The parameters of one place (path, query or body); unknown ones are ignored. */
export function params<S extends Shape>(shape: S, rules: readonly Rule[] = []): Field<Output<S>> {
  const run = z.any().transform((raw: unknown, context) => {
    const given = (raw ?? {}) as Readonly<Record<string, unknown>>;
    const value: Record<string, unknown> = {};
    for (const [name, item] of Object.entries(shape)) {
      const result = item.safeParse(Object.hasOwn(given, name) ? given[name] : undefined);
      if (!result.success) {
        for (const issue of result.error.issues) {
          context.issues.push({
            ...issue,
            path: [name, ...issue.path],
            message: textOf(issue, given[name]),
          } as z.core.$ZodRawIssue);
        }
      } else if (result.data !== undefined) value[name] = result.data;
    }
    for (const rule of rules) {
      const text = rule((name) => Object.hasOwn(given, name));
      if (text !== undefined)
        context.issues.push({ code: 'custom', message: text, input: raw, params: { whole: true } });
    }
    return value as Output<S>;
  });
  const required = Object.entries(shape).filter(([, item]) => factsOf(item)?.required === true);
  const json: JsonSchema = {
    type: 'object',
    properties: Object.fromEntries(Object.entries(shape).map(([name, item]) => [name, jsonSchemaOf(item)])),
    ...(required.length === 0 ? {} : { required: required.map(([name]) => name) }),
  };
  return register(run as unknown as z.ZodType<Output<S>>, {}, json, { fields: shape });
}

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

type Fail = (message: string, path?: readonly PropertyKey[], issue?: z.core.$ZodIssue) => void;
type Each<T> = (value: T, fail: Fail) => unknown;

/** The one way every parameter goes: absent, null, coerced, blank, checked. */
function field<T, O extends Options<T>>(
  options: O | undefined,
  coerce: (raw: unknown) => Coerced<T>,
  json: JsonSchema,
  check?: (value: T) => string | undefined,
  each?: Each<T>,
  facts: Pick<FieldFacts, 'fields' | 'itemFields'> = {},
): Field<Value<T, O>> {
  const rules: Options<T> = options ?? {};
  const run = z.any().transform((raw: unknown, context): unknown => {
    const fail: Fail = (message, path = [], issue) => {
      const extra = issue !== undefined && 'params' in issue ? { params: issue.params } : {};
      context.issues.push({ code: 'custom', message, path: [...path], input: raw, ...extra });
    };
    if (raw === undefined) {
      if (rules.required !== true) return rules.default;
      fail('is missing');
      if (rules.blank === false) fail('is empty');
      return z.NEVER;
    }
    const value = coerce(raw);
    if (value === INVALID) {
      fail('is invalid');
      return z.NEVER;
    }
    if (rules.blank === false && isBlank(value)) {
      fail('is empty');
      return z.NEVER;
    }
    if (value === null) {
      if (rules.nullable === true) return null;
      if (rules.required === true) fail('is empty');
      return rules.default;
    }
    const problem = check?.(value) ?? rules.check?.(value);
    if (problem !== undefined) fail(problem);
    return each === undefined ? value : each(value, fail);
  });
  return register(run as unknown as Field<Value<T, O>>, rules, json, facts);
}

function register<S extends z.ZodType>(
  schema: S,
  rules: Omit<Options<unknown>, 'check'>,
  json: JsonSchema,
  facts: Pick<FieldFacts, 'fields' | 'itemFields'> = {},
): S {
  const described: JsonSchema = { ...json };
  if (rules.nullable === true && typeof described.type === 'string')
    described.type = [described.type, 'null'];
  if (rules.nullable === true && described.enum) described.enum = [...described.enum, null];
  if (rules.default !== undefined) described.default = rules.default;
  if (rules.description !== undefined) described.description = rules.description;
  fieldFacts.add(schema, { ...facts, json: described, required: rules.required === true });
  return schema;
}

/** Texts of foreign zod schemas, which may stand wherever a parameter does. */
function textOf(issue: z.core.$ZodIssue, raw: unknown): string {
  if (issue.code === 'custom') return issue.message;
  if (raw === undefined && issue.path.length === 0) return 'is missing';
  return issue.code === 'invalid_value' || issue.code === 'too_big' || issue.code === 'too_small'
    ? OUTSIDE
    : 'is invalid';
}

const isFile = (raw: unknown): raw is UploadedFile =>
  typeof raw === 'object' && raw !== null && 'bytes' in raw && raw.bytes instanceof Uint8Array;

function toHash(raw: unknown): Coerced<Record<string, unknown>> {
  if (raw === null || raw === '') return null;
  return typeof raw === 'object' && !Array.isArray(raw) && !isFile(raw)
    ? (raw as Record<string, unknown>)
    : INVALID;
}

function isBlank(value: unknown): boolean {
  if (value === null) return true;
  if (typeof value === 'string') return value.trim() === '';
  if (Array.isArray(value)) return value.length === 0;
  return (
    typeof value === 'object' && Object.getPrototypeOf(value) === null && Object.keys(value).length === 0
  );
}

/** The texts of all that was wrong, in the order of the declaration. */
export function problemsOf(error: z.ZodError): { texts: string[]; noRoute: boolean } {
  const facts = (issue: z.core.$ZodIssue) => (issue.code === 'custom' ? issue.params : undefined);
  return {
    texts: error.issues.map((issue) =>
      facts(issue)?.['whole'] === true ? issue.message : `${nameOf(issue.path)} ${issue.message}`,
    ),
    noRoute: error.issues.some((issue) => facts(issue)?.['route'] === true),
  };
}

const nameOf = (path: readonly PropertyKey[]): string =>
  path.map((part, index) => (index === 0 ? String(part) : `[${String(part)}]`)).join('');
