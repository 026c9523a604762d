/** What the service noted on issues and merge requests about the places that name them, each once: a row for each pair. */
import type { MergeRequestAddress, MergeRequestReference } from '../../records/merge-requests.ts';
import type { MentionSource, Noteable, NoteRecord } from '../../records/notes.ts';
import { TransactionRefused } from '../errors.ts';
import { MAINTENANCE, message, type OutboxMessage } from '../outbox/outbox.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import { issueKey } from '../row-keys/issues.ts';
import type { Key } from '../row-keys/key.ts';
import { mergeRequestKeys } from '../row-keys/merge-requests.ts';
import {
  mentionKey,
  namingMergeRequest,
  namingMergeRequestsPrefix,
  notesPartition,
} from '../row-keys/notes.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, PRESENT, type Put } from '../table/write.ts';
import { noteWrites } from './notes.ts';

/** Notes on issues and merge requests that a text names them. */
export const MENTIONS_JOB = 'references.text';
/** The same for the messages of pushed commits; closes the issues that those of the default branch say they close. */
export const PUSHED_JOB = 'references.push';

/** Closes the issues that a merge request says it closes: `{ projectId, iid }`. */
export const MERGED_JOB = 'references.merge';

/** A new text that may name issues and merge requests: of an issue or a merge request, or of a note on something. */
export type NamingText =
  | { readonly kind: 'issue'; readonly projectId: number; readonly iid: number }
  | { readonly kind: 'merge-request'; readonly projectId: number; readonly iid: number }
  | {
      readonly kind: 'note';
      readonly projectId: number;
      readonly noteable: Noteable;
      readonly noteId: number;
    };

/** A branch that was pushed. Object ids; `from` is all zeros for a new one. */
export interface PushedBranch {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

/** What was pushed to a project. */
export interface Push {
  readonly projectId: number;
  readonly branches: readonly PushedBranch[];
  /** Number of the merge request whose merge it is. */
  readonly merged?: number | undefined;
}

/** Who wrote it, and the base URL of the instance as they see it. */
export interface Writer {
  readonly actorId: number | null;
  readonly baseUrl: string;
}

export const mentionsMessage = (text: NamingText, writer: Writer): OutboxMessage =>
  message(MAINTENANCE, MENTIONS_JOB, { text, ...writer });

export const pushedMessage = (push: Push, writer: Writer): OutboxMessage =>
  message(MAINTENANCE, PUSHED_JOB, { ...push, ...writer });

export const mergedMessage = (
  mergeRequest: { readonly projectId: number; readonly iid: number },
  merger: Writer,
): OutboxMessage => message(MAINTENANCE, MERGED_JOB, { ...mergeRequest, ...merger });

/** An issue or a merge request, on which something is to be noted. */
export interface MentionedPlace {
  readonly projectId: number;
  readonly iid: number;
  readonly noteable: { readonly kind: 'issue' | 'merge-request'; readonly id: number };
}

export const placeOf = (
  kind: MentionedPlace['noteable']['kind'],
  { projectId, iid, id }: MergeRequestReference,
): MentionedPlace => ({ projectId, iid, noteable: { kind, id } });

type What = 'closed' | 'mentioned';

export class Mentions {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** Returns for each place whether this was noted there before. */
  async known(places: readonly MentionedPlace[], what: What, source: MentionSource): Promise<boolean[]> {
    const rows = await this.#table.batchGet(places.map((place) => keyOf(place, what, source)));
    return rows.map((row) => row !== undefined);
  }

  /** Returns where the merge requests are that were noted on an issue as naming it, at most `limit`. */
  async namingMergeRequests(
    { projectId, id }: Pick<MergeRequestReference, 'projectId' | 'id'>,
    limit: number,
  ): Promise<MergeRequestAddress[]> {
    const { items } = await this.#table.query({
      partition: notesPartition(projectId, { kind: 'issue', id }),
      prefix: namingMergeRequestsPrefix(id),
      limit,
    });
    return items.map((row) => namingMergeRequest(row as unknown as Key));
  }

  /** The row, for the transaction of what happens once: refused as `mention` if it has happened. */
  once(place: MentionedPlace, what: What, source: MentionSource): Put {
    return { put: { ...keyOf(place, what, source) }, if: ABSENT, reason: 'mention' };
  }

  /** Stores the note that a place is mentioned. @returns whether it is new; not if the place is gone */
  async add(note: NoteRecord, place: MentionedPlace, source: MentionSource): Promise<boolean> {
    const record = place.noteable.kind === 'issue' ? issueKey(place) : mergeRequestKeys.record(place);
    try {
      await this.#table.transact([
        ...noteWrites(note),
        this.once(place, 'mentioned', source),
        { check: record, if: PRESENT, reason: 'place' },
        checkProjectExists(place.projectId),
      ]);
      return true;
    } catch (error) {
      if (error instanceof TransactionRefused) return false;
      throw error;
    }
  }
}

const keyOf = ({ projectId, noteable }: MentionedPlace, what: What, source: MentionSource) =>
  mentionKey(projectId, noteable, what, source);
