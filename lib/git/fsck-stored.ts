import type { Fsck } from './fsck.ts';
import { MAX_GITMODULES_BYTES } from './fsck-gitmodules.ts';
import { type Oid, oidBytes } from './oid.ts';
import type { PackStore } from './pack/store.ts';
import { inTurns } from './work.ts';

/**
 * Checks the blobs that new trees name `.gitmodules` and that were stored before: they may have had another name, under which
 * nothing is said of their content. What is not stored is for the check of connectivity.
 * @param isNew what is checked elsewhere
 */
export async function checkStoredGitmodules(
  fsck: Fsck,
  store: PackStore,
  isNew: (oid: Oid) => boolean,
): Promise<void> {
  const oids = [...fsck.gitmodulesBlobs].filter((oid) => !isNew(oid));
  if (oids.length === 0) return;
  const absent = new Set(await store.missing(Buffer.concat(oids.map(oidBytes))));
  for (const oid of oids) {
    if (absent.has(oid)) continue;
    const { type, size } = await store.header(oid);
    if (type !== 'blob') continue;
    const data = size > MAX_GITMODULES_BYTES ? undefined : (await store.read(oid)).data;
    await inTurns(fsck.gitmodules(oid, data));
  }
}
