import * as z from 'zod/mini';
import {
  EXPIRE_ARTIFACTS_JOB,
  EXPIRE_PROJECT_ARTIFACTS_JOB,
  SWEEP_ARTIFACTS_JOB,
} from '../../store/artifacts/artifacts.ts';
import { defineJob } from '../job.ts';
import { idField, textField } from '../job-fields.ts';
import { expireProjectArtifacts } from './expire-project.ts';
import { expireArtifacts } from './expiry.ts';

export const jobs = [
  defineJob({
    name: EXPIRE_ARTIFACTS_JOB,
    body: () => z.object({ pipelineId: idField(), jobId: idField() }),
    run: expireArtifacts,
  }),
  defineJob({
    name: EXPIRE_PROJECT_ARTIFACTS_JOB,
    body: () =>
      z.object({
        projectId: idField(),
        at: textField(),
        status: z.optional(textField()),
        after: z.optional(idField()),
      }),
    run: expireProjectArtifacts,
  }),
  defineJob({
    name: SWEEP_ARTIFACTS_JOB,
    body: () => z.object({ pipelineId: idField(), jobId: idField(), blobs: z.array(textField()) }),
    run: ({ store }, body) => store.artifacts.sweep(body),
  }),
];
