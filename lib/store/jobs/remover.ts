import type { Remover } from '../deletion/remover.ts';
import type { Pipelines } from '../pipelines/pipelines.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { Jobs } from './jobs.ts';

export const remover: Remover<{ readonly jobs: Jobs; readonly pipelines: Pipelines }> = {
  ofProject: {
    rows: [
      'job',
      'job-spec',
      'pipeline-variables',
      'job-id',
      'job-state',
      'job-resource',
      'queued-job',
      'job-token',
      'runner-job',
    ],
    run: async ({ jobs, pipelines }, { id: projectId }, deadline) => {
      // A pipeline's id stays until its jobs are gone, so that another run finds the rest.
      for (;;) {
        const ids = await pipelines.announced(projectId, 50);
        if (ids.length === 0) break;
        for (const id of ids) {
          if (!(await untilNoneLeft(() => jobs.removeOfPipeline(id), deadline))) return false;
          await pipelines.forget(projectId, id);
        }
        if (Date.now() > deadline) return false;
      }
      return untilNoneLeft(() => jobs.removeLists(projectId), deadline);
    },
  },
};
