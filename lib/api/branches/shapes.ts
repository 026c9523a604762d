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
    z
      .object({
        id: z.int().describe('Unique within the rule'),
        access_level: z.int().nullable().describe('Null for a user or group'),
        access_level_description: z.string().describe('The name of the level, user or group'),
        user_id: z.int().nullable(),
        group_id: z.int().nullable(),
      })
      .meta({ id: 'RefAccessLevel' }),
  ),
);

export const protectedBranch = shape(() =>
  z
    .object({
      id: z.int(),
      name: z.string().describe('Name of the branch, or a pattern in which `*` matches any text'),
      push_access_levels: accessLevels(),
      merge_access_levels: accessLevels(),
      unprotect_access_levels: accessLevels().describe(
        'Who of those that may change the settings of the project may change this rule; all if it is empty',
      ),
      allow_force_push: z.boolean(),
      code_owner_approval_required: z.boolean(),
    })
    .meta({ id: 'ProtectedBranch' }),
);
export const protectedBranches = shape(() => z.array(protectedBranch()));
