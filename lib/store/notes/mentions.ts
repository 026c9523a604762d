/** What the service noted on issues about the places that name them, each once: a row for each pair. */
import type { MergeRequestAddress } from '../../records/merge-requests.ts';
import type { MentionSource, Noteable, NoteRecord } from '../../records/notes.ts';
import { TransactionRefused } from '../errors.ts';
import { MAINTENANCE, message, type OutboxMessage } from '../outbox/outbox.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import { issueKey } from '../row-keys/issues.ts';
import type { Key } from '../row-keys/key.ts';
import {
  mentionKey,
  namingMergeRequest,
  namingMergeRequestsPrefix,
  notesPartition,
} from '../row-keys/notes.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, PRESENT, type Put } from '../table/write.ts';
import { noteWrites } from './notes.ts';

/** Notes on issues that a text names them. */
export const MENTIONS_JOB = 'references.text';
/** The same for the messages of pushed commits; closes the issues that those of the default branch say they close. */
export const PUSHED_JOB = 'references.push';

/** Closes the issues that a merge request says it closes: `{ projectId, iid }`. */
export const MERGED_JOB = 'references.merge';

/** A new text that may name issues: of an issue or a merge request, or of a note on something. */
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

/** An issue, and what is to be noted on it. */
export interface MentionedIssue {
  readonly projectId: number;
  readonly id: number;
  readonly iid: number;
}

type What = 'closed' | 'mentioned';

export class Mentions {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** Returns for each issue whether this was noted there before. */
  async known(issues: readonly MentionedIssue[], what: What, source: MentionSource): Promise<boolean[]> {
    const rows = await this.#table.batchGet(issues.map((issue) => keyOf(issue, what, source)));
    return rows.map((row) => row !== undefined);
  }

  /** Returns where the merge requests are that were noted on an issue as naming it, at most `limit`. */
  async namingMergeRequests(
    { projectId, id }: MentionedIssue,
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
  once(issue: MentionedIssue, what: What, source: MentionSource): Put {
    return { put: { ...keyOf(issue, what, source) }, if: ABSENT, reason: 'mention' };
  }

  /** Stores the note that an issue is mentioned. @returns whether it is new; not if the issue is gone */
  async add(note: NoteRecord, issue: MentionedIssue, source: MentionSource): Promise<boolean> {
    try {
      await this.#table.transact([
        ...noteWrites(note),
        this.once(issue, 'mentioned', source),
        { check: issueKey(issue), if: PRESENT, reason: 'issue' },
        checkProjectExists(issue.projectId),
      ]);
      return true;
    } catch (error) {
      if (error instanceof TransactionRefused) return false;
      throw error;
    }
  }
}

const keyOf = ({ projectId, id }: MentionedIssue, what: What, source: MentionSource) =>
  mentionKey(projectId, { kind: 'issue', id }, what, source);
