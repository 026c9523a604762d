import * as z from 'zod/mini';
import { MEASURE_JOB } from '../../store/statistics/statistics.ts';
import { defineJob } from '../job.ts';
import { idField } from '../job-fields.ts';

export const jobs = [
  defineJob({
    name: MEASURE_JOB,
    body: () => z.object({ projectId: idField() }),
    run: async (deps, { projectId }) => {
      // Loaded when it is called for, with the table of languages.
      const { measureProject } = await import('./measure.ts');
      return measureProject(deps, projectId);
    },
  }),
];
