import * as z from 'zod/mini';
import { EPIC_DATES_JOB } from '../../store/epics/dates.ts';
import { INDEX_ISSUE_JOB } from '../../store/issues/kind.ts';
import { UNLINK_ISSUE_JOB } from '../../store/issues/links.ts';
import { UNASSIGN_ISSUES_JOB } from '../../store/tracked/unassign.ts';
import { continuedWith, defineJob } from '../job.ts';
import { idField, textField } from '../job-fields.ts';
import { surroundingsOf } from '../tracked/related.ts';
import { unassign, unassigningFields } from '../tracked/unassign.ts';
import { DUE_JOB, tellDue } from './due.ts';
import { inheritDates } from './epic-dates.ts';

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
];
