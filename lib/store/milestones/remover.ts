import type { Remover } from '../deletion/remover.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { Milestones } from './milestones.ts';

const rows = ['milestone', 'milestone-of-container', 'milestone-count'] as const;

export const remover: Remover<{ readonly milestones: Milestones }> = {
  ofProject: {
    rows,
    run: ({ milestones }, { id }, deadline) =>
      untilNoneLeft(() => milestones.removeOf({ kind: 'project', id }), deadline),
  },
  ofGroup: {
    rows,
    run: ({ milestones }, { id }, deadline) =>
      untilNoneLeft(() => milestones.removeOf({ kind: 'group', id }), deadline),
  },
};
