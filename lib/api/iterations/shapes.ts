import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { day, time } from '../users/shapes.ts';

export const iteration = shape(() =>
  z
    .object({
      id: z.int(),
      iid: z.int().describe('Number in its group'),
      group_id: z.int(),
      title: z.string(),
      description: z.string().nullable(),
      state: z.int().min(1).max(3).describe('1: upcoming, 2: current, 3: closed'),
      created_at: time(),
      updated_at: time(),
      start_date: day(),
      due_date: day(),
      web_url: z.string(),
    })
    .meta({ id: 'Iteration' }),
);
export const iterations = shape(() => z.array(iteration()));
