import * as z from 'zod/mini';
import { MENTIONS_JOB, MERGED_JOB, type NamingText, PUSHED_JOB } from '../../store/notes/mentions.ts';
import { defineJob } from '../job.ts';
import { idField, textField } from '../job-fields.ts';
import { noteableField } from '../notes/jobs.ts';
import { tellOfText } from './mentions.ts';
import { tellOfMerge } from './merged.ts';
import { tellOfPush } from './pushed.ts';

const writerFields = () => ({ actorId: z.nullable(idField()), baseUrl: z.string() });

const textOfField = (): z.ZodMiniType<NamingText> =>
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('issue'), projectId: idField(), iid: idField() }),
    z.object({ kind: z.literal('merge-request'), projectId: idField(), iid: idField() }),
    z.object({ kind: z.literal('epic'), groupId: idField(), id: idField() }),
    z.object({ kind: z.literal('note'), projectId: idField(), noteable: noteableField(), noteId: idField() }),
  ]);

export const jobs = [
  defineJob({
    name: MENTIONS_JOB,
    body: () => z.object({ text: textOfField(), ...writerFields() }),
    run: (deps, body, { deadline }) => tellOfText(deps, body, deadline),
  }),
  defineJob({
    name: PUSHED_JOB,
    body: () =>
      z.object({
        projectId: idField(),
        merged: z.optional(idField()),
        branches: z.array(z.object({ name: textField(), from: textField(), to: textField() })),
        ...writerFields(),
      }),
    run: (deps, body, { deadline }) => tellOfPush(deps, body, deadline),
  }),
  defineJob({
    name: MERGED_JOB,
    body: () => z.object({ projectId: idField(), iid: idField(), ...writerFields() }),
    run: (deps, body, { deadline }) => tellOfMerge(deps, body, deadline),
  }),
];
