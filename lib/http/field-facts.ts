/** What the document and the links of pages need to know of a parameter, kept beside its zod schema. */
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
  /** The members of an object. */
  readonly fields?: Readonly<Record<string, z.ZodType>>;
  /** The members of a list's objects. */
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

/** Facts of a schema made by `params.ts`; a plain zod object is described from its shape. */
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
