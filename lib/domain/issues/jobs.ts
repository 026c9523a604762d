import * as z from 'zod/mini';
import { EPIC_DATES_JOB } from '../../store/epics/dates.ts';
import { INDEX_ISSUE_JOB } from '../../store/issues/kind.ts';
import { UNLINK_ISSUE_JOB } from '../../store/issues/links.ts';
import { SETTLE_JOB } from '../../store/labels/settle.ts';
import { FOLLOW_JOB } from '../../store/labels/uses.ts';
import { UNASSIGN_ISSUES_JOB } from '../../store/tracked/unassign.ts';
import { continuedWith, defineJob } from '../job.ts';
import { idField, sourceKindField, textField } from '../job-fields.ts';
import { surroundingsOf } from '../tracked/related.ts';
import { unassign, unassigningFields } from '../tracked/unassign.ts';
import { DUE_JOB, tellDue } from './due.ts';
import { inheritDates } from './epic-dates.ts';
import { follow } from './follow.ts';
import { settle } from './settle.ts';

/** Milliseconds until issues are looked at again that were being changed during the first run. */
const AGAIN_MS = 60_000;

export const jobs = [
  defineJob({
    name: DUE_JOB,
    body: () =>
      z.object({
        day: textField(),
        baseUrl: z.string(),
        shard: z.exactOptional(z.number()),
        after: z.exactOptional(textField()),
      }),
    run: async (deps, walk, { deadline }) => continuedWith(await tellDue(deps, walk, deadline)),
  }),
  defineJob({
    name: INDEX_ISSUE_JOB,
    body: () => z.object({ projectId: idField(), iid: idField() }),
    run: async (deps, { projectId, iid }) => {
      const project = await deps.store.projects.get(projectId);
      if (project === undefined) return;
      await deps.store.issues.index({ projectId, iid }, (issue) => surroundingsOf(deps, project, issue));
    },
  }),
  defineJob({
    name: EPIC_DATES_JOB,
    body: () => z.object({ epicId: idField(), again: z.optional(z.boolean()) }),
    run: async (deps, { epicId, again }) => {
      await inheritDates(deps, epicId);
      // The index that finds the issues of an epic may have been late.
      return again === true ? undefined : { body: { epicId, again: true }, delayMs: AGAIN_MS };
    },
  }),
  defineJob({
    name: UNLINK_ISSUE_JOB,
    body: () => z.object({ projectId: idField(), iid: idField(), id: idField() }),
    run: ({ store }, issue) => store.issueLinks.removeOfIssue(issue),
  }),
  defineJob({
    name: UNASSIGN_ISSUES_JOB,
    body: unassigningFields,
    run: async (deps, unassigning, { deadline }) => {
      const { issueUses: uses, issues: records } = deps.store;
      return continuedWith(await unassign(deps, { uses, records }, unassigning, deadline));
    },
  }),
  defineJob({
    name: SETTLE_JOB,
    body: () =>
      z.object({
        projectId: idField(),
        from: z.optional(
          z.object({
            step: z.enum([
              'labels',
              'milestones',
              'epics',
              'iterations',
              'list',
              'label',
              'milestone',
              'word',
            ]),
            after: z.optional(z.union([z.number(), z.string()])),
          }),
        ),
      }),
    run: async (deps, settling, { deadline }) => continuedWith(await settle(deps, settling, deadline)),
  }),
  defineJob({
    name: FOLLOW_JOB,
    body: () =>
      z.object({
        facet: z.enum(['label', 'milestone', 'iteration', 'epic']),
        valueId: idField(),
        kind: sourceKindField(),
        id: idField(),
        successorId: z.optional(z.nullable(idField())),
        from: z.optional(
          z.object({
            row: z.enum(['DIRECT', 'DEEP']),
            projectId: idField(),
            after: z.optional(z.string()),
          }),
        ),
        again: z.optional(z.boolean()),
      }),
    run: async (deps, following, { deadline }) => {
      const rest = await follow(deps, following, deadline);
      if (rest !== undefined) return { body: rest };
      const { from: _, ...whole } = following;
      return following.again === true ? undefined : { body: { ...whole, again: true }, delayMs: AGAIN_MS };
    },
  }),
];
