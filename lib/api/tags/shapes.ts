import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { accessLevels } from '../branches/shapes.ts';
import { commit } from '../commits/shapes.ts';

const ofTag = () => z.object({ tag_name: z.string(), description: z.string().nullable() });

export const releaseOfTag = shape(() => ofTag().meta({ id: 'ReleaseOfTag' }));

export const tag = shape(() =>
  z
    .object({
      name: z.string(),
      message: z.string().nullable().describe('Message of an annotated tag; null for a lightweight tag'),
      target: z.string().describe('Id of the tag object, or of the commit for a lightweight tag'),
      commit: commit(),
      release: ofTag().nullable(),
      protected: z.boolean(),
    })
    .meta({ id: 'Tag' }),
);
export const tags = shape(() => z.array(tag()));

export const protectedTag = shape(() =>
  z
    .object({
      name: z.string().describe('Name of a tag, or a pattern in which `*` matches any text'),
      create_access_levels: accessLevels(),
    })
    .meta({ id: 'ProtectedTag' }),
);
export const protectedTags = shape(() => z.array(protectedTag()));
