import * as z from 'zod';
import { shape } from '../../http/shape.ts';

export const timeStats = shape(() =>
  z
    .object({
      time_estimate: z.int().describe('Seconds'),
      total_time_spent: z.int().describe('Seconds'),
      human_time_estimate: z.string().nullable(),
      human_total_time_spent: z.string().nullable(),
    })
    .meta({ id: 'TimeStats' }),
);
