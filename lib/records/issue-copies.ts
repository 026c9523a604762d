import type { IssueReference } from './issues.ts';

/**
 * What is still to be copied to an issue from the one that it was moved or cloned from. It is there until all is copied.
 */
export interface IssueCopyRecord {
  readonly source: IssueReference;
  readonly target: IssueReference;
  /** Who moved or cloned it. References in texts are followed as far as this user sees. */
  readonly actorId: number;
  readonly withNotes: boolean;
  /** Notes with ids above are not copied. */
  readonly upTo: number;
  /** Ids for the copies of notes, so that these stand before later notes. */
  readonly ids: { readonly next: number; readonly last: number };
  readonly step: 'files' | 'people' | 'notes';
  /** The last user who takes part in the conversation about the copy, in the step of people. Absent: none. */
  readonly joined?: number;
  /** The first note of the last discussion that is copied. */
  readonly after: number;
  /** Of the discussion behind it: its first note, that of the copy, and the last note that is copied. */
  readonly part: { readonly of: number; readonly firstId: number; readonly lastId: number } | null;
  /** Notes that are copied and whose awards are not: the note, and its copy. Absent: none. */
  readonly awarded?: readonly { readonly from: number; readonly to: number }[];
  /** Raised by each step. */
  readonly version: number;
}
