import type { Remover } from '../deletion/remover.ts';
import { Missing, Stale } from '../errors.ts';
import { followDeletion } from '../labels/uses.ts';
import { removeNotesMessage } from '../notes/notes.ts';
import { idOf } from '../row-keys/key.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { Epics } from './epics.ts';

export const remover: Remover<{ readonly epics: Epics }> = {
  ofGroup: {
    rows: ['epic', 'epic-of-group', 'epic-count'],
    run: ({ epics }, { id }, deadline) =>
      untilNoneLeft(() => epics.removeOf({ kind: 'group', id }), deadline),
  },
  ofUserRows: {
    rows: ['epic'],
    byRow: {
      EPIC: async ({ epics }, { pk }, { userId, hard, ghost }) => {
        const epic = await epics.get(idOf(pk));
        if (epic === undefined || epic.author.id !== userId) return;
        try {
          if (hard)
            await epics.remove(epic, {
              messages: [
                followDeletion({ facet: 'epic', ...epic }),
                removeNotesMessage(0, { kind: 'epic', id: epic.id, groupId: epic.container.id }),
              ],
            });
          else await epics.change(epic, { author: ghost }, [], new Date(epic.updatedAt));
        } catch (error) {
          // The next run finds the row again.
          if (!(error instanceof Stale || error instanceof Missing)) throw error;
        }
      },
    },
  },
};
