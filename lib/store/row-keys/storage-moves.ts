import type { MovedKind, MovedSubject } from '../../records/storage-moves.ts';
import { idOf, type Key, MAX_ID, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';

/** All moves of a kind, the newest first. */
export const storageMovesPartition = (kind: MovedKind): string => `STORAGEMOVES#${kind.toUpperCase()}`;

export const STORAGE_MOVE = 'MOVE#';

export const storageMoveKey = (kind: MovedKind, id: number): Key => ({
  pk: storageMovesPartition(kind),
  sk: `${STORAGE_MOVE}${padded(MAX_ID - id)}`,
});

/** Those of a project, a group or a snippet. */
export const movesOfPartition = ({ kind, id }: MovedSubject): string =>
  `MOVESOF#${kind.toUpperCase()}#${padded(id)}`;

export const moveOfKey = (subject: MovedSubject, id: number): Key => ({
  pk: movesOfPartition(subject),
  sk: `${STORAGE_MOVE}${padded(MAX_ID - id)}`,
});

/** The id of the move at a sort key. */
export const storageMoveIdOf = (sort: string): number => MAX_ID - idOf(sort);

const of = ['project', 'group'] as const;

export const rowKinds = [
  { name: 'storage-move', partitions: ['STORAGEMOVES#'], keys: { storageMoveKey }, of },
  { name: 'storage-move-of-subject', partitions: ['MOVESOF#'], keys: { moveOfKey }, of },
] as const satisfies readonly RowKind[];
