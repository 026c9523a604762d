import type { Votes } from '../../records/award-emoji.ts';
import type {
  Noteable,
  NoteClass,
  NotePosition,
  NoteRecord,
  Suggestion,
  UnresolvedChange,
} from '../../records/notes.ts';
import type { StoredText } from '../../records/texts.ts';
import type { EventTarget } from '../../store/events/events.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import type { Write } from '../../store/table/write.ts';
import type { ContainerAccess } from '../labels/containers.ts';
import type { DomainEvent } from '../notifications/enqueue.ts';
import type { PositionRequest } from './position-request.ts';

/**
 * What notes are on, as its own subject hands it in: the actor may read it, and what else they may do with its notes is
 * decided there.
 */
export interface NotedObject {
  /** The project or group that it is in. */
  readonly access: ContainerAccess;
  /** 0: the noteable is in a group. */
  readonly projectId: number;
  readonly noteable: Noteable;
  /** Its number in the project or group, where it has one. */
  readonly iid?: number;
  /** Classes of notes that the actor may read. */
  readonly classes: readonly NoteClass[];
  /** Whether a note that stands alone can be replied to. */
  readonly takesReplies: boolean;
  /** @throws 401, 403 when the actor may not comment. @param internal whether on a note for a smaller circle */
  requireComment(internal: boolean): void;
  /** Whether the actor may change and delete the notes of others. */
  readonly moderates: boolean;
  /** Whether the actor may resolve the discussions of others; absent: none can be resolved. */
  readonly resolves?: boolean;
  /** Absent: its notes are about no places in diffs. */
  readonly positions?: {
    /** Finds a place in a diff. @throws 400 where there is none */
    find(request: PositionRequest): Promise<NotePosition>;
    /** Returns where positions are in the latest version, in their order. */
    latest(positions: readonly (NotePosition | undefined)[]): Promise<readonly (NotePosition | undefined)[]>;
    /** What a text suggests to write in place of lines around a place. */
    suggested(text: string, position: NotePosition): Promise<readonly Suggestion[]>;
    /** Whether lines around a place, as it is by now, can still be replaced. */
    isCurrent(position: NotePosition): boolean;
  };
  /** Whether the actor may choose the time of a new note. */
  readonly backdates: boolean;
  /** Which of the system notes that name another place the actor may read; absent: there are none. */
  readonly readable?: (notes: readonly NoteRecord[]) => Promise<readonly boolean[]>;
  /**
   * Runs a write of a user's note or a discussion, with what the object records of it in the same transaction. It runs it
   * again where that was refused because the object changed meanwhile.
   */
  within(counts: NoteCounts, write: (alongside: readonly Write[]) => Promise<void>): Promise<void>;
  /** Absent: neither the object nor its notes can be awarded emoji. */
  readonly awards?: {
    /** When the object was created: its place in lists. ISO 8601. */
    readonly createdAt: string;
    /** The write that counts awards on the object, and is refused when it is deleted. */
    vote(votes: Votes): Write;
  };
  /** Runs the quick actions of a text. @returns undefined where there are none; absent: there never are */
  readonly act?: (text: string) => Promise<ActedNote | undefined>;
  /**
   * What a note means for to-dos, before it is written. Absent: the object has none.
   * @param former the text that a changed note had. @returns the messages for the transaction of the note
   */
  readonly toDo?: (
    authorId: number,
    text: string,
    former?: StoredText,
  ) => Promise<(noteId: number) => OutboxMessage[]>;
  /** What the feeds of the project tell; absent: nothing. */
  readonly eventTarget?: (note: NoteRecord) => EventTarget;
  /** Who is told by mail is decided from it; absent: nobody. */
  readonly notification?: (note: NoteRecord) => DomainEvent;
}

/** What a write adds to the counts of an object. */
export interface NoteCounts {
  /** Notes by users. */
  readonly notes: 1 | 0 | -1;
  /** Discussions that are to be resolved and are not. */
  readonly unresolved: UnresolvedChange;
}

/** What becomes of the text of a note with quick actions. */
export interface ActedNote {
  /** What is left of the text. */
  readonly text: string;
  /** What the actions change, as answers name it. */
  readonly changes: Readonly<Record<string, unknown>>;
  /** What they did, in sentences; empty where that is nothing. */
  readonly summary: string;
  /** The object, on which the note is written in one transaction with what they change. */
  readonly on: NotedObject;
  /** Changes the object without a note. */
  apply(): Promise<void>;
  /** What the actions do beside, after the change. */
  finish(): Promise<void>;
}
