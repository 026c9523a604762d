import * as z from 'zod/mini';
import { INGEST_PUSH_JOB } from '../../store/git/push-uploads.ts';
import { defineJob } from '../job.ts';
import { textField } from '../job-fields.ts';
import type { Propose } from './push-answer.ts';
import { ingestUpload } from './receive-staged-push.ts';

/** Of the queue `ingest`. @param propose what does as options of a push ask */
export const ingestJobs = (propose: Propose) => [
  defineJob({
    name: INGEST_PUSH_JOB,
    body: () => z.object({ id: textField() }),
    run: (deps, { id }) => ingestUpload(deps, id, propose),
  }),
];
