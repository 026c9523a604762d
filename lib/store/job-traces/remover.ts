import type { Remover } from '../deletion/remover.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { JobTraces } from './job-traces.ts';

export const remover: Remover<{ readonly jobTraces: JobTraces }> = {
  ofProject: {
    rows: ['job-trace'],
    run: ({ jobTraces }, { id }, deadline) => untilNoneLeft(() => jobTraces.removeOfProject(id), deadline),
  },
};
