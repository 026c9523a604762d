import type * as z from 'zod';

/**
 * The schema of an answer, built when the document is asked for and once: a schema with an id
 * (`.meta({ id })`) stands once in the document, under that id.
 */
export function shape<S extends z.ZodType>(make: () => S): () => S {
  let schema: S | undefined;
  return () => (schema ??= make());
}
