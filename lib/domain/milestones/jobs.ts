import * as z from 'zod/mini';
import { continuedWith, defineJob } from '../job.ts';
import { idField, textField } from '../job-fields.ts';
import { MILESTONE_PROMOTED_JOB, mergePromoted } from './promote.ts';

export const jobs = [
  defineJob({
    name: MILESTONE_PROMOTED_JOB,
    body: () =>
      z.object({
        milestoneId: idField(),
        title: textField(),
        groupId: idField(),
        from: z.optional(idField()),
      }),
    run: async (deps, { from, ...promoted }, { deadline }) =>
      continuedWith(
        await mergePromoted(deps, { ...promoted, ...(from === undefined ? {} : { from }) }, deadline),
      ),
  }),
];
