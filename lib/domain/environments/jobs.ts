import * as z from 'zod/mini';
import { DELETE_ENVIRONMENT_JOB } from '../../store/environments/environments.ts';
import { defineJob } from '../job.ts';
import { idField } from '../job-fields.ts';
import { removeDue } from './environments.ts';

export const jobs = [
  defineJob({
    name: DELETE_ENVIRONMENT_JOB,
    body: () => z.object({ projectId: idField(), environmentId: idField() }),
    run: (deps, { projectId, environmentId }, { deadline }) =>
      removeDue(deps, projectId, environmentId, deadline),
  }),
];
