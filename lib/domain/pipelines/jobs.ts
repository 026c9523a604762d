import * as z from 'zod/mini';
import { CI_STATUSES } from '../../records/pipelines.ts';
import { STOP_ENVIRONMENT_JOB } from '../../store/environments/environments.ts';
import {
  ADVANCE_PIPELINE_JOB,
  CHECK_JOB_JOB,
  CHECK_PIPELINE_JOB,
  CREATE_FOR_MERGE_REQUEST_JOB,
  CREATE_PIPELINES_JOB,
  REMOVE_PIPELINE_JOB,
} from '../../store/pipelines/pipelines.ts';
import { defineJob } from '../job.ts';
import { idField, textField } from '../job-fields.ts';
import { advancePipeline } from './advance-pipeline.ts';
import { withBridges } from './bridges.ts';
import { checkJob, checkPipeline, removeRest } from './cancel.ts';
import { buildMergeRequest } from './of-merge-requests.ts';
import { createForPush } from './pushed.ts';
import { stopDue } from './stop-environment.ts';

const reference = () => ({ projectId: idField(), pipelineId: idField() });

export const jobs = [
  defineJob({
    name: CREATE_PIPELINES_JOB,
    body: () =>
      z.object({
        projectId: idField(),
        refs: z.array(z.object({ name: textField(), from: textField(), to: textField() })),
        actorId: z.nullable(idField()),
        baseUrl: z.string(),
        options: z.optional(z.array(z.string())),
      }),
    run: (deps, body, { messageId }) => createForPush(deps, body, messageId),
  }),
  defineJob({
    name: CREATE_FOR_MERGE_REQUEST_JOB,
    body: () =>
      z.object({
        projectId: idField(),
        iid: idField(),
        actorId: z.nullable(idField()),
        baseUrl: z.string(),
      }),
    run: buildMergeRequest,
  }),
  defineJob({
    name: ADVANCE_PIPELINE_JOB,
    body: () =>
      z.object({
        ...reference(),
        changed: z.optional(z.array(z.object({ id: idField(), status: z.enum(CI_STATUSES) }))),
      }),
    run: (deps, { changed = [], ...body }, { messageId }) =>
      advancePipeline(deps, body, { bridges: withBridges, heard: { changed, messageId } }),
  }),
  defineJob({
    name: CHECK_PIPELINE_JOB,
    body: () => z.object(reference()),
    run: async (deps, body) => {
      const delayMs = await checkPipeline(deps, body, withBridges);
      return delayMs === undefined ? undefined : { body, delayMs };
    },
  }),
  defineJob({
    name: CHECK_JOB_JOB,
    body: () => z.object({ pipelineId: idField(), jobId: idField() }),
    run: async (deps, body) => {
      const delayMs = await checkJob(deps, body);
      return delayMs === undefined ? undefined : { delayMs };
    },
  }),
  defineJob({
    name: STOP_ENVIRONMENT_JOB,
    body: () => z.object({ projectId: idField(), environmentId: idField() }),
    run: stopDue,
  }),
  defineJob({
    name: REMOVE_PIPELINE_JOB,
    body: () => z.object({ ...reference(), sha: textField() }),
    run: (deps, body, { deadline }) => removeRest(deps, body, deadline),
  }),
];
