import * as z from 'zod/mini';
import { LFS_SWEEP_JOB } from '../../store/lfs/objects.ts';
import { defineJob } from '../job.ts';
import { textField } from '../job-fields.ts';

export const jobs = [
  defineJob({
    name: LFS_SWEEP_JOB,
    body: () => z.object({ objects: z.array(textField()) }),
    run: ({ store }, body) => store.lfsObjects.sweep(body),
  }),
];
