import * as z from 'zod/mini';
import { COPY_ISSUE_JOB } from '../../store/issues/copies.ts';
import { defineJob } from '../job.ts';
import { idField } from '../job-fields.ts';
import { copyRest } from './copy.ts';

export const jobs = [
  defineJob({
    name: COPY_ISSUE_JOB,
    body: () => z.object({ projectId: idField(), iid: idField() }),
    run: (deps, address, { deadline }) => copyRest(deps, address, deadline),
  }),
];
