import type { Remover } from '../deletion/remover.ts';
import type { ProjectShares } from './shares.ts';

export const remover: Remover<{ readonly projectShares: ProjectShares }> = {
  ofProject: {
    rows: ['share', 'share-below'],
    async run({ projectShares }, { record }) {
      if (record !== undefined) await projectShares.removeOfProject(record);
      return true;
    },
  },
  ofGroup: {
    rows: ['share', 'share-below'],
    run: ({ projectShares }, { id }, deadline) => projectShares.removeOfGroup(id, deadline),
  },
};
