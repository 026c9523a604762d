import * as z from 'zod/mini';
import { DELETE_GROUP_JOB } from '../../store/groups/groups.ts';
import { DELETE_PROJECT_JOB } from '../../store/projects/projects.ts';
import { SWEEP_JOB } from '../../store/repository/lazy-removal.ts';
import { DELETE_USER_JOB } from '../../store/users/users.ts';
import { requesterField } from '../audit-events/requester-field.ts';
import { defineJob } from '../job.ts';
import { idField, sourceKindField, textField } from '../job-fields.ts';
import { emptyGroup } from './empty-group.ts';
import { DELETION_JOB, deleteDue } from './mark-and-delete.ts';
import { removeProject, removeUser, sweepRepository } from './purge.ts';

const repositoryFields = () => ({
  repositoryId: textField(),
  networkId: z.exactOptional(textField()),
  storagePrefix: z.exactOptional(textField()),
});

export const jobs = [
  defineJob({
    name: DELETION_JOB,
    body: () =>
      z.object({ kind: sourceKindField(), id: idField(), dueOn: textField(), by: requesterField() }),
    run: (deps, { kind, id, ...due }) => deleteDue(deps, { kind, id }, due),
  }),
  defineJob({
    name: DELETE_PROJECT_JOB,
    body: () =>
      z.object({ projectId: idField(), deleterId: z.exactOptional(idField()), ...repositoryFields() }),
    run: (deps, body, { deadline }) => removeProject(deps, body, deadline),
  }),
  defineJob({
    name: SWEEP_JOB,
    body: () => z.object(repositoryFields()),
    run: (deps, body, { deadline }) => sweepRepository(deps, body, deadline),
  }),
  defineJob({
    name: DELETE_GROUP_JOB,
    body: () => z.object({ groupId: idField(), by: requesterField() }),
    run: (deps, body, { deadline }) => emptyGroup(deps, body, deadline),
  }),
  defineJob({
    name: DELETE_USER_JOB,
    body: () =>
      z.object({
        userId: idField(),
        last: z._default(z.boolean(), false),
        hard: z.exactOptional(z.boolean()),
        by: requesterField(),
      }),
    run: (deps, body, { deadline }) => removeUser(deps, body, deadline),
  }),
];
