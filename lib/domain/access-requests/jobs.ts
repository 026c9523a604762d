import * as z from 'zod/mini';
import { defineJob } from '../job.ts';
import { idField, sourceKindField } from '../job-fields.ts';
import { notifyOfRequest, REQUESTED_JOB } from './access-requests.ts';

export const jobs = [
  defineJob({
    name: REQUESTED_JOB,
    body: () =>
      z.object({
        kind: sourceKindField(),
        id: idField(),
        userId: idField(),
        baseUrl: z.string().check(z.minLength(1)),
      }),
    run: (deps, { kind, id, userId, baseUrl }, { messageId }) =>
      notifyOfRequest(deps, { id: messageId, source: { kind, id }, userId, baseUrl }),
  }),
];
