import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { day, time } from '../users/shapes.ts';

export const milestone = shape(() =>
  z
    .object({
      id: z.int(),
      iid: z.int().describe('Number in its project or group'),
      project_id: z.int().optional().describe('Of a milestone of a project'),
      group_id: z.int().optional().describe('Of a milestone of a group'),
      title: z.string(),
      description: z.string().nullable(),
      state: z.enum(['active', 'closed']),
      created_at: time(),
      updated_at: time(),
      due_date: day().nullable(),
      start_date: day().nullable(),
      expired: z.boolean().describe('Whether the due date has passed'),
      web_url: z.string(),
    })
    .meta({ id: 'Milestone' }),
);
export const milestones = shape(() => z.array(milestone()));
