/** Metadata of parameters for the OpenAPI document and pagination links, stored by zod schema. */
import * as z from 'zod';

export interface JsonSchema {
  type?: string | readonly string[];
  format?: string;
  enum?: readonly unknown[];
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: readonly string[];
  additionalProperties?: unknown;
  default?: unknown;
  description?: string;
  [keyword: string]: unknown;
}

export interface FieldFacts {
  readonly json: JsonSchema;
  readonly required: boolean;
  /** The fields of an object. */
  readonly fields?: Readonly<Record<string, z.ZodType>>;
  /** The fields of the objects in a list. */
  readonly itemFields?: Readonly<Record<string, z.ZodType>>;
}

class Registry {
  readonly #facts = new WeakMap<z.ZodType, FieldFacts>();
  add(schema: z.ZodType, facts: FieldFacts): void {
    this.#facts.set(schema, facts);
  }
  get(schema: z.ZodType): FieldFacts | undefined {
    return this.#facts.get(schema);
  }
}

export const fieldFacts = new Registry();

/** The facts of a schema: registered ones for schemas of `params.ts`, otherwise derived from the zod schema. */
export function factsOf(schema: z.ZodType): FieldFacts | undefined {
  const known = fieldFacts.get(schema);
  if (known !== undefined) return known;
  const shape = schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : undefined;
  const facts: FieldFacts = {
    json: foreign(schema),
    required: !schema.safeParse(undefined).success,
    ...(shape === undefined ? {} : { fields: shape }),
  };
  fieldFacts.add(schema, facts);
  return facts;
}

export const jsonSchemaOf = (schema: z.ZodType): JsonSchema =>
  fieldFacts.get(schema)?.json ?? foreign(schema);

function foreign(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' });
  return json as JsonSchema;
}
