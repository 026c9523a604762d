/** Releases of deleted tags, which are deleted with them. */

import { ZERO_OID } from '../../git/oid.ts';
import type { RefUpdate } from '../../git/ports.ts';
import { shortName, spaceOf } from '../../git/refname.ts';
import { MAINTENANCE, message, type OutboxMessage } from '../../store/outbox/outbox.ts';
import type { Write } from '../../store/table/write.ts';
import type { Deps } from '../deps.ts';

/** Deletes the releases of a project whose tags are gone. */
export const TAGS_DELETED_JOB = 'releases.tags-deleted';

/** A worker deletes the releases of more tags, or with more rows, than this: they would not fit into the transaction. */
const MAX_TOGETHER = 8;
const MAX_WRITES = 40;

/** What the transaction that deletes tags has to do about their releases. */
export async function releasesOfDeleted(
  { store: { releases } }: Deps,
  projectId: number,
  updates: readonly RefUpdate[],
): Promise<{ readonly writes: readonly Write[]; readonly messages: readonly OutboxMessage[] }> {
  const deleted = updates.filter(
    ({ name, from, to }) => spaceOf(name) === 'tags' && from !== to && to === ZERO_OID,
  );
  if (deleted.length === 0) return { writes: [], messages: [] };
  const later = { writes: [], messages: [message(MAINTENANCE, TAGS_DELETED_JOB, { projectId })] };
  if (deleted.length > MAX_TOGETHER) return later;
  const tags = deleted.map(({ name }) => shortName(name));
  const found = await releases.ofTags(projectId, tags);
  // Of a release that is being created for the tag, one of the two loses.
  const writes = found.flatMap((release, i) =>
    release === undefined ? [releases.absence(projectId, tags[i]!)] : releases.removal(release),
  );
  return writes.length > MAX_WRITES ? later : { writes, messages: [] };
}
