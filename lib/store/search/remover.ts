import type { Remover } from '../deletion/remover.ts';
import type { Search } from './search.ts';

const rows = ['indexed-texts', 'search-gram'] as const;

export const remover: Remover<{ readonly search: Search }> = {
  ofProject: {
    rows,
    async run({ search }, { id }) {
      await search.index('project', id, async () => undefined);
      return true;
    },
  },
  ofGroup: {
    rows,
    async run({ search }, { id }) {
      await search.index('group', id, async () => undefined);
      return true;
    },
  },
  ofUser: {
    rows,
    async run({ search }, { userId }) {
      await search.index('user', userId, async () => undefined);
      return true;
    },
  },
};
