import type { Remover } from '../deletion/remover.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { Events } from './events.ts';

export const remover: Remover<{ readonly events: Events }> = {
  ofProject: {
    rows: ['event'],
    run: ({ events }, { id }, deadline) =>
      untilNoneLeft(() => events.removeOf({ kind: 'project', id }), deadline),
  },
  ofGroup: {
    rows: ['event'],
    run: ({ events }, { id }, deadline) =>
      untilNoneLeft(() => events.removeOf({ kind: 'group', id }), deadline),
  },
  ofUser: {
    rows: ['event'],
    run: ({ events }, { userId }, deadline) => events.removeOfAuthor(userId, deadline),
  },
};
