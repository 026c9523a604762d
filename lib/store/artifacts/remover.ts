import type { Remover } from '../deletion/remover.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { Artifacts } from './artifacts.ts';

export const remover: Remover<{ readonly artifacts: Artifacts }> = {
  ofProject: {
    rows: ['artifacts-total'],
    run: ({ artifacts }, { id }, deadline) => untilNoneLeft(() => artifacts.removeOfProject(id), deadline),
  },
};
