import { type Key, padded } from './key.ts';

/** A push by way of the staging area. */
export const pushUploadKey = (id: string): Key => ({ pk: `UPLOAD#${id}`, sk: 'UPLOAD' });

/** Places of a user's pushes under way: as many as there are, so many may be. */
export const SLOT = 'SLOT#';

export const uploadSlotsPartition = (userId: number): string => `UPLOADS#${padded(userId)}`;

export const uploadSlotKey = (userId: number, slot: number): Key => ({
  pk: uploadSlotsPartition(userId),
  sk: `${SLOT}${slot}`,
});
