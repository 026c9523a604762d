// Awards: emoji with which users react to an object of a project or a group, or to a note on one.

import type { AuthorSnapshot } from './authors.ts';
import type { Noteable } from './notes.ts';

/** What awards are on: an object of a project or a group, or one of its notes. */
export interface Awardable {
  /** 0: the noteable is in a group. */
  readonly projectId: number;
  readonly noteable: Noteable;
  /** The number of the noteable in its project or group, where it has one. */
  readonly iid?: number;
  /** Absent: the award is on the noteable itself. */
  readonly noteId?: number;
}

export interface AwardRecord extends Awardable {
  readonly id: number;
  /** A name of an emoji, without colons. */
  readonly name: string;
  readonly author: AuthorSnapshot;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** What a name of an emoji looks like. */
export const EMOJI_NAME = /^[\w+-]{1,60}$/;

/** The name under which an emoji is awarded: votes have one each. */
export const awardedName = (name: string): string =>
  name === '+1' ? 'thumbsup' : name === '-1' ? 'thumbsdown' : name;

/** The awards that are counted in the record of what they are on, and how. */
export type Votes = Readonly<Partial<Record<'upvotes' | 'downvotes', number>>>;

/**
 * What is added to the record of an object. Records of epics are written whole, so that a vote is a change of them which
 * others notice; issues and merge requests add votes beside their versions.
 */
export const countedVotes = (kind: Noteable['kind'], votes: Votes): Readonly<Record<string, number>> =>
  kind === 'epic' ? { ...votes, version: 1 } : { ...votes };

/** What an award that comes (1) or goes (-1) adds to the counts. */
export function votesOf({ name, noteId }: Pick<AwardRecord, 'name' | 'noteId'>, change: 1 | -1): Votes {
  if (noteId !== undefined) return {};
  return name === 'thumbsup' ? { upvotes: change } : name === 'thumbsdown' ? { downvotes: change } : {};
}
