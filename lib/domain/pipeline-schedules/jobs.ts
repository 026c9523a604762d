import * as z from 'zod/mini';
import {
  SCHEDULE_DUE_JOB,
  SCHEDULED_PIPELINE_JOB,
} from '../../store/pipeline-schedules/pipeline-schedules.ts';
import { defineJob } from '../job.ts';
import { idField, textField } from '../job-fields.ts';
import { makeScheduled } from './make.ts';
import { runDue } from './runs.ts';

export const jobs = [
  defineJob({
    name: SCHEDULE_DUE_JOB,
    body: () => z.object({ projectId: idField(), scheduleId: idField(), at: textField() }),
    run: (deps, { projectId, scheduleId, at }) => runDue(deps, projectId, scheduleId, at),
  }),
  defineJob({
    name: SCHEDULED_PIPELINE_JOB,
    body: () =>
      z.object({ projectId: idField(), scheduleId: idField(), userId: idField(), baseUrl: z.string() }),
    run: (deps, body, { messageId }) => makeScheduled(deps, body, messageId),
  }),
];
