/** The rules common to all parameters: presence, null, blank values, coercion, and the texts of problems. */
import * as z from 'zod';
import { type Coerced, INVALID } from './coerce.ts';
import { type FieldFacts, fieldFacts, type JsonSchema } from './field-facts.ts';

export type Field<T> = z.ZodType<T>;

/** The rules every parameter may have. */
export interface Options<T> {
  readonly required?: boolean;
  /** `false` rejects blank values (null, empty or whitespace text, an empty list): `<p> is empty`. */
  readonly blank?: boolean;
  /** Whether null is passed to the handler: JSON null or, except for strings, an empty text. */
  readonly nullable?: boolean;
  readonly default?: NoInfer<T>;
  readonly description?: string;
  /** Checks the value. @returns the problem as the text after the parameter's name, such as `is invalid` */
  readonly check?: (value: NoInfer<T>) => string | undefined;
}

export type Value<T, O> =
  | T
  | (O extends { nullable: true } ? null : never)
  | (O extends { required: true } | { default: unknown } ? never : undefined);

/** Reports a problem; `path` is its location inside the value. */
export type Fail = (message: string, path?: readonly PropertyKey[], issue?: z.core.$ZodIssue) => void;
/** Validates the items or fields of a value. */
export type Each<T> = (value: T, fail: Fail) => unknown;

/** Makes a field. Every value is checked in this order: absent, coerced, blank, null, `check`, `each`. */
export function field<T, O extends Options<T>>(
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

/** Registers the facts of a schema. */
export function register<S extends z.ZodType>(
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

function isBlank(value: unknown): boolean {
  if (value === null) return true;
  if (typeof value === 'string') return value.trim() === '';
  if (Array.isArray(value)) return value.length === 0;
  return (
    typeof value === 'object' && Object.getPrototypeOf(value) === null && Object.keys(value).length === 0
  );
}
