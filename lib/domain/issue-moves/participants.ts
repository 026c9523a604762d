import type { IssueCopyRecord } from '../../records/issue-copies.ts';
import type { Deps } from '../deps.ts';

/** Users of one step: each has two items of its transaction (DynamoDB, `TransactWriteItems`). */
const AT_ONCE = 45;

/**
 * The next of those who take part in the conversation about an issue take part in that about its copy, and as openly.
 * @returns that there is more to copy: notes
 */
export async function copyParticipants({ store }: Deps, copy: IssueCopyRecord): Promise<true> {
  const { source, target, joined = 0 } = copy;
  const [from, to] = [source, target].map(
    ({ projectId, id }) => ({ projectId, noteable: { kind: 'issue', id } }) as const,
  );
  const { ids, until } = await store.threads.members(from!, joined, AT_ONCE);
  const [members, users] = await Promise.all([store.threads.getMany(from!, ids), store.users.getMany(ids)]);
  const joining = ids.flatMap((id, i) => {
    const { takesPart, openly } = members[i]!;
    return takesPart && users[i] !== undefined ? [{ id, openly }] : [];
  });
  await store.issueCopies.advance(copy, {
    change: until === undefined ? { step: 'notes' } : { joined: until },
    writes: joining.map(({ id, openly }) => store.threads.joinWrite(to!, id, !openly)),
    authorIds: joining.map(({ id }) => id),
  });
  return true;
}
