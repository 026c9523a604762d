import * as z from 'zod';
import { shape } from '../../http/shape.ts';

export const topic = shape(() =>
  z
    .object({
      id: z.int(),
      name: z.string(),
      title: z.string(),
      description: z.string().nullable(),
      total_projects_count: z
        .int()
        .describe('Number of projects with the topic; callers who are no administrators see no private ones'),
      avatar_url: z.string().nullable(),
    })
    .meta({ id: 'Topic' }),
);

export const topics = shape(() => z.array(topic()));
