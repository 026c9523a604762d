import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { commit } from '../commits/shapes.ts';

export const branch = shape(() =>
  z
    .object({
      name: z.string(),
      commit: commit(),
      merged: z.boolean(),
      protected: z.boolean(),
      developers_can_push: z.boolean(),
      developers_can_merge: z.boolean(),
      can_push: z.boolean().describe('Whether the caller is allowed to push'),
      default: z.boolean(),
      web_url: z.string(),
    })
    .meta({ id: 'Branch' }),
);
export const branches = shape(() => z.array(branch()));

export const accessLevels = shape(() =>
  z.array(
    z.object({ access_level: z.int(), access_level_description: z.string() }).meta({ id: 'RefAccessLevel' }),
  ),
);

export const protectedBranch = shape(() =>
  z
    .object({
      id: z.int(),
      name: z.string().describe('Name of the branch, or a pattern in which `*` matches any text'),
      push_access_levels: accessLevels(),
      merge_access_levels: accessLevels(),
      allow_force_push: z.boolean(),
    })
    .meta({ id: 'ProtectedBranch' }),
);
export const protectedBranches = shape(() => z.array(protectedBranch()));
