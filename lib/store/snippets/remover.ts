import type { SnippetOwner } from '../../records/snippets.ts';
import type { Remover } from '../deletion/remover.ts';
import { Missing, Stale } from '../errors.ts';
import { idOf } from '../row-keys/key.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { Snippets } from './snippets.ts';

interface Stores {
  readonly snippets: Snippets;
}

const rows = ['snippet', 'snippet-agent', 'snippet-of-owner'] as const;

/** Deletes a page of an owner's snippets. @returns whether any are left */
async function removePage({ snippets }: Stores, owner: SnippetOwner): Promise<boolean> {
  const page = await snippets.some(owner);
  const changed = await Promise.all(
    page.snippets.map((each) => snippets.removeWithOwner(each).then(() => false, ifConcurrent)),
  );
  return page.more || changed.includes(true);
}

export const remover: Remover<Stores> = {
  ofProject: {
    rows: [...rows, 'snippet-total'],
    async run(stores, { id }, deadline) {
      const none = await untilNoneLeft(() => removePage(stores, { kind: 'project', id }), deadline);
      if (none) await stores.snippets.removeTotal(id);
      return none;
    },
  },
  ofUser: {
    rows: ['snippet-agent', 'snippet-of-owner'],
    run: (stores, { userId }, deadline) =>
      untilNoneLeft(() => removePage(stores, { kind: 'user', id: userId }), deadline),
  },
  ofUserRows: {
    rows: ['snippet'],
    byRow: {
      // Personal snippets go with their author; those in projects stay, unless all that they wrote goes.
      SNIPPET: async ({ snippets }, { pk }, { userId, hard, ghost }) => {
        const snippet = await snippets.get(idOf(pk));
        if (snippet === undefined || snippet.author.id !== userId) return;
        await (snippet.projectId === null || hard
          ? snippets.remove(snippet, new Date())
          : snippets.change(snippet, { author: ghost }, new Date(snippet.updatedAt))
        ).catch(ifConcurrent);
      },
    },
  },
};

/** What was changed meanwhile is found again. */
function ifConcurrent(error: unknown): true {
  if (!(error instanceof Stale || error instanceof Missing)) throw error;
  return true;
}
