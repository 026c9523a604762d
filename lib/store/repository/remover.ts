import type { Remover } from '../deletion/remover.ts';
import { removeRepository, type Stores } from './removal.ts';

export const remover: Remover<Stores> = {
  ofRepository: {
    rows: [
      'guard',
      'head',
      'pinned-commit',
      'recent-tip',
      'pack',
      'derived-file',
      'superseded-pack',
      'ref',
      'ref-names',
      'ref-table',
      'ref-table-chunk',
      'ref-table-rank',
      'lease',
      'network-member',
      'pack-heir',
    ],
    run: (stores, { now, ...repository }, deadline) => removeRepository(stores, repository, deadline, now),
  },
};
