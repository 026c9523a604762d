import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { time } from '../users/shapes.ts';

export const languages = shape(() => z.record(z.string(), z.number()).meta({ id: 'ProjectLanguages' }));

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
