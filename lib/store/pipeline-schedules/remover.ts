import type { CiVariables } from '../ci-variables/ci-variables.ts';
import type { Remover } from '../deletion/remover.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { PipelineSchedules } from './pipeline-schedules.ts';

interface Stores {
  readonly pipelineSchedules: PipelineSchedules;
  readonly ciVariables: CiVariables;
}

export const remover: Remover<Stores> = {
  ofProject: {
    rows: ['pipeline-schedule', 'pipeline-schedule-count'],
    async run({ pipelineSchedules, ciVariables }, { id: projectId }, deadline) {
      for (const { id } of await pipelineSchedules.of(projectId)) {
        const owner = { kind: 'schedule', id } as const;
        if (!(await untilNoneLeft(() => ciVariables.removeOf(owner), deadline))) return false;
      }
      return untilNoneLeft(() => pipelineSchedules.removeOfProject(projectId), deadline);
    },
  },
};
