import { type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';

/** A large push through the staging area. */
export const pushUploadKey = (id: string): Key => ({ pk: `UPLOAD#${id}`, sk: 'UPLOAD' });

/** A user's slots for concurrent large pushes: their number is the limit. */
export const SLOT = 'SLOT#';

export const uploadSlotsPartition = (userId: number): string => `UPLOADS#${padded(userId)}`;

export const uploadSlotKey = (userId: number, slot: number): Key => ({
  pk: uploadSlotsPartition(userId),
  sk: `${SLOT}${slot}`,
});

export const rowKinds = [
  {
    name: 'push-upload',
    partitions: ['UPLOAD#'],
    keys: { pushUploadKey },
    of: ['project', 'user'],
    expires: true,
  },
  { name: 'upload-slot', partitions: ['UPLOADS#'], keys: { uploadSlotKey }, of: ['user'], expires: true },
] as const satisfies readonly RowKind[];
