import * as z from 'zod';
import { aliases, attributes } from '../../domain/settings/attributes.ts';
import type { Attribute } from '../../domain/settings/kinds.ts';
import { shape } from '../../http/shape.ts';
import { time } from '../users/shapes.ts';

export const applicationSettings = shape(() => {
  const shown = Object.entries(attributes).filter(([, { type }]) => type !== 'secret');
  const shownAliases = Object.entries(aliases).filter(([, alias]) => alias.shown);
  return z
    .object({
      id: z.int(),
      created_at: time().nullable().describe('Time of the first change; null if there was none'),
      updated_at: time().nullable().describe('Time of the last change; null if there was none'),
      runners_registration_token: z.string().describe('Registration token of runners of the instance'),
      ...Object.fromEntries(shown.map(([name, attribute]) => [name, shapeOf(attribute)])),
      ...Object.fromEntries(shownAliases.map(([name, { of }]) => [name, shapeOf(attributes[of]!)])),
    })
    .meta({ id: 'ApplicationSettings' });
});

function shapeOf({ type, nullable, values }: Attribute): z.ZodType {
  const texts = values?.filter((value): value is string => typeof value === 'string');
  const value = {
    boolean: () => z.boolean(),
    integer: () => z.int(),
    number: () => z.number(),
    decimal: () => z.string(),
    string: () => (texts === undefined ? z.string() : z.enum(texts)),
    list: () => z.array(z.string()),
    weights: () => z.record(z.string(), z.int()),
    secret: () => z.never(),
  }[type]();
  return nullable ? value.nullable() : value;
}
