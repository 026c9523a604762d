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
      can_push: z.boolean().describe('Whether the caller may'),
      default: z.boolean(),
      web_url: z.string(),
    })
    .meta({ id: 'Branch' }),
);
export const branches = shape(() => z.array(branch()));
