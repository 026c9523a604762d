import * as z from 'zod/mini';
import { continuedWith, defineJob } from '../job.ts';
import { idField, sourceField, textField } from '../job-fields.ts';
import { type ChangeOfIssue, type ChangeOfMergeRequest, type DomainEvent, NOTIFY_JOB } from './enqueue.ts';
import { formerField } from './former-field.ts';
import { sendNotification } from './send.ts';

export const jobs = [
  defineJob({
    name: NOTIFY_JOB,
    body: () =>
      z.object({
        id: z.exactOptional(textField()),
        actorId: z.nullable(idField()),
        baseUrl: z.string(),
        happening: domainEventField(),
        position: z.exactOptional(z.object({ stage: textField(), after: z.number() })),
      }),
    run: async (deps, body, { messageId, deadline }) =>
      continuedWith(await sendNotification(deps, body.id ?? messageId, body, deadline)),
  }),
];

const domainEventField = (): z.ZodMiniType<DomainEvent> => {
  const outcome = z.enum(['success', 'failed']);
  return z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('note'), projectId: idField(), commit: textField(), noteId: idField() }),
    z.object({ kind: z.literal('issue-note'), projectId: idField(), iid: idField(), noteId: idField() }),
    z.object({
      kind: z.literal('issue'),
      projectId: idField(),
      iid: idField(),
      changes: z.array(changeOfIssueField()),
    }),
    z.object({
      kind: z.literal('merge-request-note'),
      projectId: idField(),
      iid: idField(),
      noteId: idField(),
    }),
    z.object({
      kind: z.literal('merge-request'),
      projectId: idField(),
      iid: idField(),
      changes: z.array(changeOfMergeRequestField()),
    }),
    z.object({
      kind: z.literal('snippet-note'),
      projectId: idField(),
      snippetId: idField(),
      noteId: idField(),
    }),
    z.object({
      kind: z.literal('pipeline'),
      projectId: idField(),
      sha: textField(),
      pipelineId: idField(),
      outcome,
      before: z.nullable(outcome),
    }),
    z.object({ kind: z.literal('release'), projectId: idField(), tag: textField() }),
    z.object({
      kind: z.literal('alert'),
      projectId: idField(),
      iid: idField(),
      what: z.enum(['triggered', 'resolved']),
    }),
    z.object({
      kind: z.literal('epic'),
      groupId: idField(),
      epicId: idField(),
      what: z.exactOptional(z.enum(['closed', 'reopened'])),
    }),
    z.object({ kind: z.literal('epic-note'), groupId: idField(), epicId: idField(), noteId: idField() }),
    z.object({
      kind: z.literal('moved'),
      projectId: idField(),
      from: textField(),
      fromIds: z.exactOptional(z.array(z.number())),
    }),
    z.object({
      kind: z.literal('membership'),
      source: sourceField(),
      userId: idField(),
      what: z.enum(['granted', 'changed', 'denied']),
    }),
    z.object({
      kind: z.literal('invitation'),
      source: sourceField(),
      email: textField(),
      inviterId: idField(),
      userId: z.nullable(idField()),
    }),
  ]);
};

const changesOfTracked = () =>
  [
    z.object({ what: z.enum(['opened', 'closed', 'reopened']) }),
    z.object({ what: z.literal('reassigned'), formerIds: z.array(idField()) }),
    z.object({ what: z.literal('relabelled'), labelIds: z.array(idField()) }),
    z.object({ what: z.literal('replanned'), milestoneId: z.nullable(idField()) }),
    z.object({ what: z.literal('described'), former: formerField() }),
  ] as const;

const changeOfIssueField = (): z.ZodMiniType<ChangeOfIssue> =>
  z.discriminatedUnion('what', [
    ...changesOfTracked(),
    z.object({ what: z.literal('moved') }),
    z.object({ what: z.literal('due'), day: textField() }),
  ]);

const changeOfMergeRequestField = (): z.ZodMiniType<ChangeOfMergeRequest> =>
  z.discriminatedUnion('what', [
    ...changesOfTracked(),
    z.object({ what: z.enum(['merged', 'approved', 'unapproved', 'auto-merge', 'pushed', 'resolved']) }),
    z.object({ what: z.literal('reviewers'), formerIds: z.array(idField()) }),
  ]);
