import type { Awardable } from '../../records/award-emoji.ts';
import type { Container } from '../../records/labels.ts';
import { holderOf, type Noteable } from '../../records/notes.ts';
import { type Key, padded } from './key.ts';
import { notePrefix, placeOfHolder } from './notes.ts';
import type { RowKind } from './row-kind.ts';

/** All awards that are kept with a project or a group. */
export const awardsOfHolder = (holder: Container): string => `AWARDS#${placeOfHolder(holder)}`;

export const awardsPartition = (on: Pick<Awardable, 'projectId' | 'noteable'>): string =>
  awardsOfHolder(holderOf(on));

/** All rows of an object and of the notes on it. */
export const awardsOfNoteablePrefix = (noteable: Noteable): string => notePrefix(noteable);

/** All rows of an object alone, or of one note. */
export const awardsPrefix = ({ noteable, noteId = 0 }: Pick<Awardable, 'noteable' | 'noteId'>): string =>
  `${notePrefix(noteable)}${padded(noteId)}#`;

/** Ids increase with time: the oldest award comes first. */
export const awardPrefix = (on: Pick<Awardable, 'noteable' | 'noteId'>): string => `${awardsPrefix(on)}ID#`;

export const awardKey = (on: Awardable, id: number): Key => ({
  pk: awardsPartition(on),
  sk: awardPrefix(on) + padded(id),
});

/** Which emoji a user has awarded: each at most once. */
export const awardsOfUserKey = (on: Awardable, userId: number): Key => ({
  pk: awardsPartition(on),
  sk: `${awardsPrefix(on)}BY#${padded(userId)}`,
});

type AwardableKind = Noteable['kind'] | 'note';

/** Attribute `what` of the awards of one emoji that a user gave to objects of a kind, before their place in lists. */
export const reactionPrefix = (kind: AwardableKind, name: string): string => `AWARD#${kind}#${name}#`;

/** Attribute `what` of the rows that say that a user gave any. */
export const anyReactionPrefix = (kind: AwardableKind): string => `AWARDED#${kind}#`;

export const rowKinds = [
  { name: 'award', partitions: ['AWARDS#'], keys: { awardKey }, of: ['project', 'group', 'user'] },
  {
    name: 'awards-of-user',
    partitions: ['AWARDS#'],
    keys: { awardsOfUserKey },
    of: ['project', 'group', 'user'],
  },
] as const satisfies readonly RowKind[];
