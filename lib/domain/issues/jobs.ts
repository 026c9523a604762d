import * as z from 'zod/mini';
import { INDEX_ISSUE_JOB } from '../../store/issues/issues.ts';
import { defineJob } from '../job.ts';
import { idField } from '../job-fields.ts';
import { surroundingsOf } from './related.ts';

export const jobs = [
  defineJob({
    name: INDEX_ISSUE_JOB,
    body: () => z.object({ projectId: idField(), iid: idField() }),
    run: async (deps, { projectId, iid }) => {
      const project = await deps.store.projects.get(projectId);
      if (project === undefined) return;
      await deps.store.issues.index({ projectId, iid }, (issue) => surroundingsOf(deps, project, issue));
    },
  }),
];
