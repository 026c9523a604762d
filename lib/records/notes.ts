// Notes on objects of a project or a group: in partitions of it, so that they are deleted with it.

import { type AuthorSnapshot, snapshotOf } from './authors.ts';
import type { Container } from './labels.ts';
import type { StoredText } from './texts.ts';

/**
 * The object of notes: a commit by its object id, an alert by its number in the project, anything else by its id on the instance. An epic is in a group, which
 * it names; the others are in the project that is named beside them.
 */
export type Noteable =
  | { readonly kind: 'commit'; readonly id: string }
  | { readonly kind: 'issue'; readonly id: number }
  | { readonly kind: 'merge-request'; readonly id: number }
  | { readonly kind: 'snippet'; readonly id: number }
  | { readonly kind: 'alert'; readonly id: number }
  | { readonly kind: 'epic'; readonly id: number; readonly groupId: number };

export type NoteableKind = Noteable['kind'];

/** The project or group that notes on an object are kept with. */
export const holderOf = ({
  projectId,
  noteable,
}: {
  readonly projectId: number;
  readonly noteable: Noteable;
}): Container =>
  noteable.kind === 'epic' ? { kind: 'group', id: noteable.groupId } : { kind: 'project', id: projectId };

/**
 * Who may read a note, of those who may read its object. Lists are kept apart by it, so that a reader without the right
 * to internal notes reads none. `system`: written by the service about a change; `event`: about one that is asked for as
 * events, and is in no list of notes.
 */
export const NOTE_CLASSES = ['comment', 'internal', 'system', 'event'] as const;
export type NoteClass = (typeof NOTE_CLASSES)[number];

export interface NoteRecord {
  readonly id: number;
  /** 0: the noteable is in a group. */
  readonly projectId: number;
  readonly noteable: Noteable;
  /** The number of the noteable in its project or group, where it has one. */
  readonly iid?: number;
  /** At most {@link MAX_NOTE_LENGTH} characters. */
  readonly body: StoredText;
  readonly author: AuthorSnapshot;
  /** The line of a diff that the note is about. */
  readonly line: NotedLine | null;
  /** Of a note on the diff of a merge request: where it was written. Replies have that of their discussion. */
  readonly position?: NotePosition;
  /** What its text suggests to write in place of lines of the new version; absent: nothing. */
  readonly suggestions?: readonly Suggestion[];
  /** The id of the first note of its discussion; absent in that note. */
  readonly inDiscussion?: number;
  /** Whether it was written as a part of a discussion. */
  readonly discussed?: true;
  /** Only for those who may read confidential issues. */
  readonly internal?: true;
  /** Written by the service; the kind of change, such as `title` or `closed`. */
  readonly system?: string;
  /** Of a system note that is told as events. */
  readonly change?: NotedChange;
  /** Of a system note that names another place: shown to those who may read that. */
  readonly mentionedIn?: NamedPlace;
  /** Sort key of the event that tells of it in the feeds of its project; it goes with the note. */
  readonly event?: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** What the service notes about a change. */
export interface SystemNote {
  /** The kind of change. */
  readonly action: string;
  readonly text: string;
  /** What is told as events, in place of the note. */
  readonly change?: NotedChange;
  /** The place that the text names: only those who may read that see the note. */
  readonly mentionedIn?: NamedPlace;
}

/** A note by the service. @param author who made the change @param at ISO 8601, UTC */
export const systemNote = (
  id: number,
  { projectId, noteable, iid }: Pick<NoteRecord, 'projectId' | 'noteable' | 'iid'>,
  { action, text, change, mentionedIn }: SystemNote,
  author: AuthorSnapshot,
  at: string,
): NoteRecord => ({
  id,
  projectId,
  noteable,
  ...(iid === undefined ? {} : { iid }),
  body: text,
  author: snapshotOf(author),
  line: null,
  system: action,
  ...(change === undefined ? {} : { change }),
  ...(mentionedIn === undefined ? {} : { mentionedIn }),
  createdAt: at,
  updatedAt: at,
});

/**
 * What a system note tells of that is asked for as events: of labels one for each, of the others one. The ids of the events
 * are that of the note and those that follow it.
 */
export type NotedChange =
  | { readonly kind: 'label'; readonly added: readonly number[]; readonly removed: readonly number[] }
  | { readonly kind: 'state'; readonly state: 'closed' | 'reopened' | 'merged' }
  | {
      readonly kind: 'milestone';
      readonly milestoneId: number;
      readonly action: 'add' | 'remove';
      /** The state that the object had. */
      readonly state: 'opened' | 'closed' | 'merged';
    }
  | { readonly kind: 'iteration'; readonly iterationId: number; readonly action: 'add' | 'remove' }
  | { readonly kind: 'weight'; readonly weight: number | null };

export const eventsOfChange = (change: NotedChange): number =>
  change.kind === 'label' ? change.added.length + change.removed.length : 1;

/** How many ids a note takes. */
export const idsOfNote = ({ change }: Pick<NoteRecord, 'change'>): number =>
  change === undefined ? 1 : eventsOfChange(change);

/**
 * Where a noteable was mentioned: in the texts of an issue, a merge request or an epic, in notes on it, in the message of a
 * commit or notes on that, in notes on a snippet.
 */
export type MentionSource =
  | { readonly kind: 'epic'; readonly id: number; readonly iid: number }
  | ProjectSource;

/** One that belongs to a project. */
export type ProjectSource =
  | { readonly kind: 'issue'; readonly projectId: number; readonly iid: number }
  | { readonly kind: 'merge-request'; readonly projectId: number; readonly iid: number }
  | { readonly kind: 'commit'; readonly projectId: number; readonly sha: string }
  | { readonly kind: 'snippet'; readonly projectId: number; readonly id: number };

/** Another place that a system note names. */
export type NamedPlace = ProjectSource | { readonly kind: 'epic'; readonly id: number };

/** A line that a diff added or deleted, with its line number on both sides, counted from 1; 0 where the file is not there. */
export interface NotedLine {
  /** Path in the new version; in the old version for a deleted file. */
  readonly path: string;
  readonly type: 'new' | 'old';
  readonly oldLine: number;
  readonly newLine: number;
}

/** The commits between which a diff is. */
export interface DiffRefs {
  readonly baseSha: string;
  /** The head of the target branch then. */
  readonly startSha: string;
  readonly headSha: string;
}

/** A place in the diff of a version of a merge request. */
export interface NotePosition extends DiffRefs {
  readonly oldPath: string;
  readonly newPath: string;
  readonly on: PlaceInFile;
}

export type PlaceInFile =
  | {
      readonly kind: 'text';
      readonly line: PlacedLine;
      /** The first and the last of several lines. */
      readonly range?: { readonly start: PlacedLine; readonly end: PlacedLine };
    }
  | { readonly kind: 'file' }
  /** Pixels of the whole image, and of the point in it. */
  | {
      readonly kind: 'image';
      readonly width: number;
      readonly height: number;
      readonly x: number;
      readonly y: number;
    };

/** A line by its numbers on both sides, counted from 1; one of them is null where it is added or deleted. */
export interface PlacedLine {
  readonly oldLine: number | null;
  readonly newLine: number | null;
  /** Digest of the path, and the numbers as a diff counts them: it names the line in the diff. */
  readonly code: string;
}

/** Lines around the one that a note is about, and what is suggested in their place. Texts have the ends of their lines. */
export interface Suggestion {
  readonly above: number;
  readonly below: number;
  readonly from: string;
  readonly to: string;
  readonly applied?: true;
}

/** Of one note. */
export const MAX_SUGGESTIONS = 20;

/** Tells suggestions of the instance apart. @param index among those of the note */
export const idOfSuggestion = ({ id }: Pick<NoteRecord, 'id'>, index: number): number => id * 100 + index;

export const suggestionOf = (id: number): { readonly noteId: number; readonly index: number } => ({
  noteId: Math.floor(id / 100),
  index: id % 100,
});

/** Characters. */
export const MAX_NOTE_LENGTH = 1_000_000;

export const classOfNote = ({
  system,
  change,
  internal,
}: Pick<NoteRecord, 'system' | 'change' | 'internal'>): NoteClass => {
  if (system !== undefined) return change === undefined ? 'system' : 'event';
  return internal === true ? 'internal' : 'comment';
};

/** The class of the discussion that a note is in: what the service notes in one of people is in theirs. */
export const classOfDiscussion = (
  note: Pick<NoteRecord, 'system' | 'change' | 'internal' | 'inDiscussion'>,
): NoteClass =>
  note.system !== undefined && note.inDiscussion !== undefined ? 'comment' : classOfNote(note);

/** Notes that belong together, oldest first: one note, or a thread of a note and its replies. */
export interface DiscussionRecord {
  /** Also identifies the discussion, when that note is deleted too. */
  readonly firstId: number;
  /** 0: the noteable is in a group. */
  readonly projectId: number;
  readonly noteable: Noteable;
  readonly noteClass: NoteClass;
  /** A single note that nobody has replied to, written as such. */
  readonly individual: boolean;
  /** Whether the first note was deleted. */
  readonly headless?: true;
  /** Ids of the first ones, in the order of writing; an earlier release wrote up to 1,000 here. */
  readonly replies: readonly number[];
  /** How many replies came after these: each has a row of its own. */
  readonly further?: number;
  /** Who resolved it, and when; it is only on those that {@link isResolvable}. ISO 8601. */
  readonly resolved?: Resolved;
  /** Raised by each change. */
  readonly version: number;
}

export interface Resolved {
  readonly byId: number;
  readonly at: string;
}

/** Whether a discussion is one to be resolved: on merge requests, what people began as a discussion or replied to. */
export const isResolvable = ({
  noteable,
  individual,
  noteClass,
}: Pick<DiscussionRecord, 'noteable' | 'individual' | 'noteClass'>): boolean =>
  noteable.kind === 'merge-request' && !individual && (noteClass === 'comment' || noteClass === 'internal');

/** The same of the discussion of a note. */
export const isResolvableNote = (
  note: Pick<NoteRecord, 'noteable' | 'discussed' | 'system' | 'change' | 'internal'>,
): boolean =>
  isResolvable({
    noteable: note.noteable,
    individual: note.discussed !== true,
    noteClass: classOfNote(note),
  });

/** What a change of a discussion adds to those that are to be resolved. @param before, after undefined: there is none */
export const unresolvedBy = (
  before: DiscussionRecord | undefined,
  after: DiscussionRecord | undefined,
): UnresolvedChange => (countOf(after) - countOf(before)) as UnresolvedChange;

export type UnresolvedChange = 1 | 0 | -1;

const countOf = (discussion: DiscussionRecord | undefined): 1 | 0 =>
  discussion !== undefined && isResolvable(discussion) && discussion.resolved === undefined ? 1 : 0;

/** Replies that the row of their discussion names, so that a reply costs the same however many there are. */
export const REPLIES_IN_ROW = 100;
