import * as z from 'zod/mini';
import { MEASURE_JOB } from '../../store/statistics/statistics.ts';
import { defineJob } from '../job.ts';
import { idField } from '../job-fields.ts';
import { measureProject } from './measure.ts';

export const jobs = [
  defineJob({
    name: MEASURE_JOB,
    body: () => z.object({ projectId: idField() }),
    run: (deps, { projectId }) => measureProject(deps, projectId),
  }),
];
