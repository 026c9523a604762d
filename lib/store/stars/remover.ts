import type { Remover } from '../deletion/remover.ts';
import { idOf } from '../row-keys/key.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { Stars } from './stars.ts';

export const remover: Remover<{ readonly stars: Stars }> = {
  ofProject: {
    rows: ['star'],
    run: ({ stars }, { id }, deadline) => untilNoneLeft(() => stars.removeOfProject(id), deadline),
  },
  ofUserRows: {
    rows: ['star'],
    byRow: { STAR: ({ stars }, { pk, sk }) => stars.forget(idOf(pk), idOf(sk)) },
  },
};
