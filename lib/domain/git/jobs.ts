import * as z from 'zod/mini';
import { INGEST_PUSH_JOB } from '../../store/git/push-uploads.ts';
import { defineJob } from '../job.ts';
import { textField } from '../job-fields.ts';
import { ingestUpload, type PushMeans } from './receive-staged-push.ts';

/** Of the queue `ingest`. */
export const ingestJobs = (means: PushMeans) => [
  defineJob({
    name: INGEST_PUSH_JOB,
    body: () => z.object({ id: textField() }),
    run: (deps, { id }) => ingestUpload(deps, id, means),
  }),
];
