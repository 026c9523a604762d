import * as z from 'zod/mini';
import { COLLECT_EVIDENCE_JOB } from '../../store/releases/releases.ts';
import { continuedWith, defineJob } from '../job.ts';
import { idField, textField } from '../job-fields.ts';
import { codeOf } from '../repository/read.ts';
import { TAGS_DELETED_JOB } from '../repository/tag-releases.ts';
import { collectEvidence } from './evidence.ts';
import { removeWithoutTags } from './releases.ts';

export const jobs = [
  defineJob({
    name: TAGS_DELETED_JOB,
    body: () => z.object({ projectId: idField(), after: z.optional(textField()) }),
    run: async (deps, { projectId, after }, { deadline }) => {
      const project = await deps.store.projects.get(projectId);
      if (project === undefined || project.deletedAt !== null) return;
      const git = codeOf(deps, { project, level: 0 });
      const next = await removeWithoutTags(deps, git, projectId, after, deadline);
      return continuedWith(next === undefined ? undefined : { projectId, after: next });
    },
  }),
  defineJob({
    name: COLLECT_EVIDENCE_JOB,
    body: () =>
      z.object({ projectId: idField(), tag: textField(), releaseId: idField(), first: z.boolean() }),
    run: (deps, body, { messageId }) => collectEvidence(deps, body, messageId),
  }),
];
