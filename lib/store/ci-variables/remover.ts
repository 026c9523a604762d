import type { Remover } from '../deletion/remover.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { CiVariables } from './ci-variables.ts';

interface Stores {
  readonly ciVariables: CiVariables;
}

const rows = ['ci-variable', 'ci-variable-count'] as const;

export const remover: Remover<Stores> = {
  ofProject: {
    rows,
    run: ({ ciVariables }, { id }, deadline) =>
      untilNoneLeft(() => ciVariables.removeOf({ kind: 'project', id }), deadline),
  },
  ofGroup: {
    rows,
    run: ({ ciVariables }, { id }, deadline) =>
      untilNoneLeft(() => ciVariables.removeOf({ kind: 'group', id }), deadline),
  },
};
