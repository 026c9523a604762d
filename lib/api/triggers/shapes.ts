import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { userBasic } from '../users/shapes.ts';

export const trigger = shape(() =>
  z
    .object({
      id: z.int(),
      token: z.string().describe('For others than its owner, only its first four characters'),
      description: z.string(),
      created_at: z.string(),
      updated_at: z.string(),
      last_used: z.string().nullable(),
      owner: userBasic().nullable(),
    })
    .meta({ id: 'Trigger' }),
);
export const triggers = shape(() => z.array(trigger()));
