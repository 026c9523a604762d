import type { Remover } from '../deletion/remover.ts';
import type { Integrations } from './integrations.ts';

export const remover: Remover<{ readonly integrations: Integrations }> = {
  ofProject: {
    rows: ['integration'],
    run: ({ integrations }, { id }, deadline) => integrations.removeOf({ kind: 'project', id }, deadline),
  },
  ofGroup: {
    rows: ['integration'],
    run: ({ integrations }, { id }, deadline) => integrations.removeOf({ kind: 'group', id }, deadline),
  },
};
