import type { Remover } from '../deletion/remover.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { Texts } from './texts.ts';

/** Texts have no rows of their own. They go after the rows that name them. */
export const remover: Remover<{ readonly texts: Texts }> = {
  ofProject: {
    rows: [],
    run: ({ texts }, { id }, deadline) => untilNoneLeft(() => texts.removeOf(id), deadline),
  },
  ofGroup: {
    rows: [],
    run: ({ texts }, { id }, deadline) =>
      untilNoneLeft(() => texts.removeOf({ kind: 'group', id }), deadline),
  },
};
