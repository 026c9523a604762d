import type { Remover } from '../deletion/remover.ts';
import type { Hooks } from './hooks.ts';

export const remover: Remover<{ readonly hookRecords: Hooks }> = {
  ofProject: {
    rows: ['hook'],
    run: ({ hookRecords }, { id }, deadline) => hookRecords.removeOf({ kind: 'project', id }, deadline),
  },
  ofGroup: {
    rows: ['hook', 'hook-count'],
    run: ({ hookRecords }, { id }, deadline) => hookRecords.removeOf({ kind: 'group', id }, deadline),
  },
};
