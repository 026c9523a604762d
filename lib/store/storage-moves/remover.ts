import type { Remover } from '../deletion/remover.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { StorageMoves } from './storage-moves.ts';

interface Stores {
  readonly storageMoves: StorageMoves;
}

const rows = ['storage-move', 'storage-move-of-subject'] as const;

export const remover: Remover<Stores> = {
  ofProject: {
    rows,
    run: ({ storageMoves }, { id }, deadline) =>
      untilNoneLeft(() => storageMoves.removeOf({ kind: 'project', id }), deadline),
  },
  ofGroup: {
    rows,
    run: ({ storageMoves }, { id }, deadline) =>
      untilNoneLeft(() => storageMoves.removeOf({ kind: 'group', id }), deadline),
  },
};
