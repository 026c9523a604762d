import * as z from 'zod/mini';
import { defineJob } from '../job.ts';
import { idField, textField } from '../job-fields.ts';
import { noteAlert } from './note.ts';
import { NOTE_ALERT_JOB } from './receive.ts';

export const jobs = [
  defineJob({
    name: NOTE_ALERT_JOB,
    body: () =>
      z.object({
        projectId: idField(),
        integrationId: idField(),
        at: textField(),
        baseUrl: z.exactOptional(z.string()),
        payload: z.union([
          z.string(),
          z.object({ blob: textField(), bytes: z.number(), beginning: z.optional(z.string()) }),
        ]),
      }),
    run: (deps, body, { messageId }) => noteAlert(deps, body as Parameters<typeof noteAlert>[1], messageId),
  }),
];
