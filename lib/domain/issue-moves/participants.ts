import type { IssueCopyRecord } from '../../records/issue-copies.ts';
import { TransactionRefused } from '../../store/errors.ts';
import type { Deps } from '../deps.ts';

const AT_ONCE = 100;

/** Who takes part in the conversation about an issue takes part in that about its copy, and as openly. May run twice. */
export async function copyParticipants({ store }: Deps, { source, target }: IssueCopyRecord): Promise<void> {
  const [from, to] = [source, target].map(
    ({ projectId, id }) => ({ projectId, noteable: { kind: 'issue', id } }) as const,
  );
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page = await store.threads.members(from!, after, AT_ONCE);
    const members = await store.threads.getMany(from!, page.ids);
    for (const [i, id] of page.ids.entries()) {
      const { takesPart, openly } = members[i]!;
      if (!takesPart) continue;
      const joins = store.threads.joinWrite(to!, id, !openly);
      const present = [store.users.isThere(id), store.issues.isThere(target)];
      await store.table.transact([joins, ...present]).catch((error: unknown) => {
        const isGone = error instanceof TransactionRefused && (error.has('user') || error.has('source'));
        if (!isGone) throw error;
      });
    }
    after = page.until;
  }
}
