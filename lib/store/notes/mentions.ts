/** Jobs that note on objects which places name them, and the rows of these notes that requests read. */
import type { MergeRequestAddress, MergeRequestReference } from '../../records/merge-requests.ts';
import type { Noteable } from '../../records/notes.ts';
import { MAINTENANCE, message, type OutboxMessage } from '../outbox/outbox.ts';
import type { Key } from '../row-keys/key.ts';
import { namingMergeRequest, namingMergeRequestsPrefix, notesPartition } from '../row-keys/notes.ts';
import type { Table } from '../table/table.ts';

/** Notes on what a text names that it does. */
export const MENTIONS_JOB = 'references.text';
/** The same for the messages of pushed commits; closes the issues that those of the default branch say they close. */
export const PUSHED_JOB = 'references.push';

/** Closes the issues that a merge request says it closes: `{ projectId, iid }`. */
export const MERGED_JOB = 'references.merge';

/** A new text that may name something: of an issue, a merge request or an epic, or of a note on something. */
export type NamingText =
  | { readonly kind: 'epic'; readonly groupId: number; readonly id: number }
  | { readonly kind: 'issue'; readonly projectId: number; readonly iid: number }
  | { readonly kind: 'merge-request'; readonly projectId: number; readonly iid: number }
  | {
      readonly kind: 'note';
      /** 0: the noteable is in a group. */
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

/** What something is to be noted on. */
export interface MentionedPlace {
  /** 0: it is in a group. */
  readonly projectId: number;
  /** Of all but commits. */
  readonly iid?: number;
  readonly noteable: Exclude<Noteable, { readonly kind: 'snippet' | 'alert' }>;
}

export const placeOf = (
  kind: 'issue' | 'merge-request',
  { projectId, iid, id }: MergeRequestReference,
): MentionedPlace => ({ projectId, iid, noteable: { kind, id } });

export class Mentions {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
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
}
