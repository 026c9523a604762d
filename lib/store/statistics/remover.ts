import type { Remover } from '../deletion/remover.ts';
import { statisticsKey } from '../row-keys/statistics.ts';
import type { Statistics } from './statistics.ts';

export const remover: Remover<{ readonly statistics: Statistics }> = {
  ofProject: {
    rows: ['statistics', 'project-size'],
    async run({ statistics }, { id }) {
      await statistics.forget(id);
      return true;
    },
  },
  ofGroup: {
    rows: ['statistics'],
    last: ({ id }) => [{ delete: statisticsKey({ kind: 'group', id }) }],
  },
};
