import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { commit } from '../commits/shapes.ts';

export const tag = shape(() =>
  z
    .object({
      name: z.string(),
      message: z.string().nullable().describe('Null for a lightweight tag'),
      target: z.string().describe('The tag object, or the commit of a lightweight tag'),
      commit: commit(),
      release: z.object({ tag_name: z.string(), description: z.string().nullable() }).nullable(),
      protected: z.boolean(),
    })
    .meta({ id: 'Tag' }),
);
export const tags = shape(() => z.array(tag()));
