import type { LfsLock, LfsObject } from '../../lib/records/lfs.ts';
import { uploadedTo } from '../../lib/store/lfs/objects.ts';
import { idOf } from '../../lib/store/row-keys/key.ts';
import {
  LFS_LOCK,
  LFS_OBJECT,
  LFS_TOTAL,
  lfsHeirKey,
  lfsLockKey,
  lfsObjectKey,
  lockedPath,
} from '../../lib/store/row-keys/lfs.ts';
import { userPartition } from '../../lib/store/row-keys/users.ts';
import { livingOf } from './records.ts';
import { keyText, type Row, rowCheck } from './rows.ts';

/** Objects of Git LFS are counted, and those that were uploaded elsewhere are protected there; locks are where they are found. */
export const largeFiles = rowCheck(['lfs-object', 'lfs-total', 'lfs-heir', 'lfs-lock'], function* (rows) {
  const all = rows.of('LFS#');
  const living = new Set(livingOf(rows).map(({ id }) => id));
  for (const id of living) {
    const own = all.filter(({ pk }) => idOf(pk) === id);
    const objects = own.filter(({ sk }) => sk.startsWith(LFS_OBJECT)) as unknown as (Row & LfsObject)[];
    const totals = own.filter(({ sk }) => sk.startsWith(LFS_TOTAL));
    const bytes = objects.reduce((sum, { size }) => sum + size, 0);
    const counted = totals.reduce((sum, row) => sum + (row['bytes'] as number), 0);
    const number = totals.reduce((sum, row) => sum + (row['objects'] as number), 0);
    if (bytes !== counted || objects.length !== number)
      yield `project ${id} counts ${number} objects of ${counted} bytes and has ${objects.length} of ${bytes}`;
    for (const row of objects) {
      if (keyText(lfsObjectKey(id, row.oid)) !== keyText(row)) yield `${row.oid} stands at ${keyText(row)}`;
      if (uploadedTo(row.location) !== id && rows.get(lfsHeirKey(row.location, id)) === undefined)
        yield `the bytes of ${row.oid} of project ${id} may be removed`;
    }
  }
  for (const row of all.filter(({ pk, sk }) => sk.startsWith(LFS_LOCK) && living.has(idOf(pk)))) {
    const { projectId, path, userId, id } = row as unknown as Row & LfsLock;
    const place = lockedPath(path);
    if (keyText(lfsLockKey(projectId, place)) !== keyText(row) || !id.startsWith(place))
      yield `the lock ${id} stands at ${keyText(row)}`;
    if (row['who'] !== userPartition(userId)) yield `the lock ${id} is not found under user ${userId}`;
  }
});
