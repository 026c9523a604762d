import type { AuthorSnapshot } from './authors.ts';
import { classOf, type IssueClass, type IssueState } from './issues.ts';
import type { Container } from './labels.ts';
import type { StoredText } from './texts.ts';

/** An epic of a group: a larger goal, to which issues below the group belong. Days are `YYYY-MM-DD`, times ISO 8601. */
export interface EpicRecord {
  readonly id: number;
  /** Its number in its group. */
  readonly iid: number;
  readonly container: Container;
  /** The top-level group above, in whose list it is. */
  readonly rootId: number;
  /** At most 255 characters. */
  readonly title: string;
  readonly description: StoredText | null;
  readonly state: IssueState;
  readonly confidential: boolean;
  readonly author: AuthorSnapshot;
  /** Each once. An id whose label is deleted, or no longer above the group, stands for nothing. */
  readonly labelIds: readonly number[];
  readonly parentId: number | null;
  /** They count as long as the dates are said to be fixed. */
  readonly startDateFixed: string | null;
  readonly startDateIsFixed: boolean;
  readonly dueDateFixed: string | null;
  readonly dueDateIsFixed: boolean;
  /** Those of the milestones of its issues, which count where none is fixed; a worker keeps them. Absent: none yet. */
  readonly inheritedDates?: InheritedDates;
  readonly closedAt: string | null;
  readonly closedById: number | null;
  /** Awards; absent: none yet. */
  readonly upvotes?: number;
  readonly downvotes?: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly version: number;
}

export interface InheritedDates {
  readonly start: string | null;
  readonly due: string | null;
}

/** What lists tell epics apart by, as issues. */
export type EpicClass = IssueClass;
export const classOfEpic = (epic: Pick<EpicRecord, 'state' | 'confidential'>): EpicClass => classOf(epic);
