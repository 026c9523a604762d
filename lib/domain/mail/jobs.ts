import * as z from 'zod/mini';
import { defineJob } from '../job.ts';
import { idField, sourceField, textField } from '../job-fields.ts';
import type { MailRecipient } from '../notifications/recipients.ts';
import { SEND } from './message.ts';
import { type MailDeps, sendMail } from './send.ts';

/** Jobs of the queue `mail`. */
export const mailJobs = [
  defineJob({
    name: SEND,
    body: () =>
      z.object({
        to: z.string(),
        subject: z.string(),
        text: z.string(),
        html: z.exactOptional(z.string()),
        headers: z.exactOptional(z.record(z.string(), z.string())),
        messageId: z.exactOptional(z.string()),
        author: z.exactOptional(z.object({ name: z.string(), address: z.exactOptional(z.string()) })),
        reader: z.exactOptional(recipientField()),
        since: z.exactOptional(textField()),
        original: z.exactOptional(textField()),
      }),
    run: (deps: MailDeps, body, { messageId }) => sendMail(deps, messageId, body),
  }),
];

const recipientField = () =>
  z.object({
    userId: idField(),
    source: sourceField(),
    ability: z.string() as unknown as z.ZodMiniType<MailRecipient['ability']>,
    issue: z.exactOptional(z.object({ iid: idField(), internal: z.boolean() })),
    snippet: z.exactOptional(z.object({ id: idField() })),
    epic: z.exactOptional(z.object({ id: idField() })),
  });
