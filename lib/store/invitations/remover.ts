import type { Remover } from '../deletion/remover.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { Invitations } from './invitations.ts';

const rows = ['invitation', 'invitation-count', 'invited-address', 'invitation-link'] as const;

export const remover: Remover<{ readonly invitations: Invitations }> = {
  ofProject: {
    rows,
    run: ({ invitations }, { id }, deadline) =>
      untilNoneLeft(() => invitations.removeOfResource({ kind: 'project', id }), deadline),
  },
  ofGroup: {
    rows,
    run: ({ invitations }, { id }, deadline) =>
      untilNoneLeft(() => invitations.removeOfResource({ kind: 'group', id }), deadline),
  },
};
