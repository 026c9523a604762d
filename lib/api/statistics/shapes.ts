import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { time } from '../users/shapes.ts';

export const languages = shape(() => z.record(z.string(), z.number()).meta({ id: 'ProjectLanguages' }));

export const fetches = shape(() =>
  z
    .object({
      fetches: z.object({
        total: z.int(),
        days: z.array(z.object({ count: z.int(), date: z.iso.date() })),
      }),
    })
    .meta({ id: 'ProjectFetchStatistics' }),
);

export const storage = shape(() =>
  z
    .object({
      project_id: z.int(),
      disk_path: z.string(),
      created_at: time(),
      repository_storage: z.string(),
    })
    .meta({ id: 'ProjectStorage' }),
);
