import * as z from 'zod/mini';
import { defineJob } from '../job.ts';
import { textField } from '../job-fields.ts';
import { DROP_TEXTS_JOB } from '../long-texts.ts';

export const jobs = [
  defineJob({
    name: DROP_TEXTS_JOB,
    body: () => z.object({ texts: z.array(z.object({ blob: textField(), bytes: z.number() })) }),
    run: (deps, { texts }) => deps.store.texts.drop(...texts),
  }),
];
