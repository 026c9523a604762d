import type { Remover } from '../deletion/remover.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { Forks } from './forks.ts';

export const remover: Remover<{ readonly forks: Forks }> = {
  ofProject: {
    rows: ['fork'],
    run: ({ forks }, { id }, deadline) => untilNoneLeft(() => forks.unrelateAll(id), deadline),
  },
};
