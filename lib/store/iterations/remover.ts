import type { Remover } from '../deletion/remover.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { Iterations } from './iterations.ts';

export const remover: Remover<{ readonly iterations: Iterations }> = {
  ofGroup: {
    rows: ['iteration', 'iteration-of-group', 'iteration-count', 'iteration-schedule'],
    run: ({ iterations }, { id }, deadline) =>
      untilNoneLeft(() => iterations.removeOf({ kind: 'group', id }), deadline),
  },
};
