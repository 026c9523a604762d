/**
 * Parameters of endpoints: zod schemas with the REST API's rules for coercion, presence and blank values, its error texts,
 * and a JSON schema. A parameter that is absent, or null without being nullable, is omitted from the result, so
 * `'name' in body` tells whether it was sent.
 */
import * as z from 'zod';
import { type Coerced, INVALID } from './coerce.ts';
import { type Each, type Fail, type Field, field, type Options, register, type Value } from './field.ts';
import { factsOf, type JsonSchema, jsonSchemaOf } from './field-facts.ts';
import { OUTSIDE, toHash } from './fields.ts';
import type { Rule } from './rules.ts';

/** For handlers that find further invalid parameters: 400 with complete texts, as a schema reports them. */
export { badParameters as parameterFailure } from './errors.ts';
export type { Field, Options, Value } from './field.ts';
export * from './fields.ts';
export * from './rules.ts';

/** The parameters of the path, the query or the body; unknown ones are ignored. */
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
      const problem = rule((name) => Object.hasOwn(given, name), value);
      if (problem === undefined) continue;
      const whole = typeof problem === 'string';
      context.issues.push({
        code: 'custom',
        message: whole ? problem : problem.text,
        path: whole ? [] : [problem.name],
        input: raw,
        params: { whole },
      });
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

export type Shape = Readonly<Record<string, Field<unknown>>>;

type OptionalKeys<S extends Shape> = {
  [K in keyof S]: undefined extends z.output<S[K]> ? K : never;
}[keyof S];
export type Output<S extends Shape> = {
  -readonly [K in Exclude<keyof S, OptionalKeys<S>>]: z.output<S[K]>;
} & { -readonly [K in OptionalKeys<S>]?: Exclude<z.output<S[K]>, undefined> };

/** Parameters, and beside them as `sent` everything that the query and the body hold. */
export function withSent<T extends object>(
  declared: Field<T>,
): Field<T & { readonly sent: Readonly<Record<string, unknown>> }> {
  const run = z.any().transform((raw: unknown, context) => {
    const result = declared.safeParse(raw);
    if (result.success) return { ...result.data, sent: (raw ?? {}) as Readonly<Record<string, unknown>> };
    context.issues.push(...(result.error.issues as z.core.$ZodRawIssue[]));
    return z.NEVER;
  });
  return register(run, {}, jsonSchemaOf(declared), {
    fields: factsOf(declared)?.fields ?? {},
  }) as unknown as Field<T & { readonly sent: Readonly<Record<string, unknown>> }>;
}

/** Documented as the given schema, but passed to the handler unvalidated: for bodies that another standard defines. */
export const asGiven = (documented: Field<object>): Field<Readonly<Record<string, unknown>>> =>
  register(z.any(), {}, jsonSchemaOf(documented), { fields: factsOf(documented)?.fields ?? {} });

/** An object of declared fields: `not[author_id]=1` or a JSON object. */
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

type ListOptions<T> = Options<readonly T[]> & {
  /** Whether the list may also be one comma-separated text. */
  comma?: boolean;
  /** For the OpenAPI document: clients send it as one text as well. */
  documentedAsText?: boolean;
  maxItems?: number;
};

/** A list of scalars or objects: `a[]=1&a[]=2`, a JSON array and, if allowed, `a=1,2`. */
export function array<T, const O extends ListOptions<T>>(
  item: Field<T>,
  options?: O,
): Field<Value<Exclude<T, undefined>[], O>> {
  const facts = factsOf(item);
  const maxItems = options?.maxItems ?? 10_000;
  const json: JsonSchema = {
    type: options?.documentedAsText ? ['array', 'string'] : 'array',
    items: jsonSchemaOf(item),
  };
  const split = (text: string): string[] =>
    text
      .split(',', maxItems + 1)
      .map((part) => part.trim())
      .filter((part) => part !== '');
  const read = (raw: unknown): Coerced<unknown[]> => {
    if (raw === null) return null;
    if (typeof raw === 'string' && (options?.comma || raw.trim() === '')) return split(raw);
    if (options?.comma && typeof raw === 'number') return [raw];
    if (!Array.isArray(raw)) return INVALID;
    // `labels[]=` is an empty list; a blank object is still an item.
    if (facts?.fields !== undefined) return raw;
    const parts = options?.comma
      ? raw.flatMap((part) => (typeof part === 'string' ? split(part) : [part]))
      : raw;
    return parts.filter((part) => part !== '' && part !== null);
  };
  const each = (values: unknown[], fail: Fail): unknown[] => {
    if (values.length > maxItems) {
      fail('is too long');
      return values;
    }
    const reported = new Set<string>();
    return values.map((value, index) => {
      const result = item.safeParse(value);
      if (result.success) {
        // Handlers do not expect null among objects.
        if (facts?.fields !== undefined && result.data === undefined) fail('is invalid', [index]);
        return result.data;
      }
      for (const issue of result.error.issues) {
        // Problems of scalar items are reported once, for the list as a whole.
        if (facts?.fields !== undefined) fail(issue.message, [index, ...issue.path], issue);
        else if (!reported.has(issue.message)) fail(issue.message, [], issue);
        reported.add(issue.message);
      }
      return undefined;
    });
  };
  return field(options as Options<unknown[]> | undefined, read, json, undefined, each, {
    ...(facts?.fields === undefined ? {} : { itemFields: facts.fields }),
  }) as Field<Value<Exclude<T, undefined>[], O>>;
}

/** `array` that also accepts comma-separated text or a single number, as most lists of the API do. Commas separate in its items too. */
export const list = <T, const O extends ListOptions<T>>(
  item: Field<T>,
  options?: O,
): Field<Value<Exclude<T, undefined>[], O>> => array(item, { ...options, comma: true } as unknown as O);

/** The texts of all problems, in the order of the declaration. */
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

/** The text of an issue, also of plain zod schemas, which can be used as fields too. */
function textOf(issue: z.core.$ZodIssue, raw: unknown): string {
  if (issue.code === 'custom') return issue.message;
  if (raw === undefined && issue.path.length === 0) return 'is missing';
  return issue.code === 'invalid_value' || issue.code === 'too_big' || issue.code === 'too_small'
    ? OUTSIDE
    : 'is invalid';
}
