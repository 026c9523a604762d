import type { Remover } from '../deletion/remover.ts';
import { removeLazyRepository } from '../repository/lazy-removal.ts';
import type { Stores } from '../repository/removal.ts';

/** Wikis have no rows of their own: each is a repository. */
export const remover: Remover<Stores> = {
  ofProject: {
    rows: [],
    run: (stores, { id, record }, deadline) =>
      removeLazyRepository(
        stores,
        { kind: 'project-wiki', id, storagePrefix: record?.storagePrefix },
        deadline,
      ),
  },
  ofGroup: {
    rows: [],
    run: (stores, { id, storagePrefix }, deadline) =>
      removeLazyRepository(stores, { kind: 'group-wiki', id, storagePrefix }, deadline),
  },
};
