import * as z from 'zod/mini';
import { defineJob } from '../job.ts';
import { idField, textField } from '../job-fields.ts';
import { NOTE_ERROR_JOB, noteError } from './tracked-errors.ts';

export const jobs = [
  defineJob({
    name: NOTE_ERROR_JOB,
    body: () =>
      z.object({
        projectId: idField(),
        sent: z.object({
          eventId: textField(),
          fingerprint: textField(),
          name: textField(),
          description: z.nullable(z.string()),
          actor: z.nullable(z.string()),
          platform: z.nullable(z.string()),
          level: z.nullable(z.string()),
          environment: z.nullable(z.string()),
          occurredAt: textField(),
          payload: z.string(),
        }),
      }),
    run: (deps, body, { messageId }) => noteError(deps, body, messageId),
  }),
];
