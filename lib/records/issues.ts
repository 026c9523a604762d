import type { AuthorSnapshot } from './authors.ts';
import type { StoredText } from './texts.ts';
import type { Edited, TrackedAddress } from './tracked.ts';

export const ISSUE_STATES = ['opened', 'closed'] as const;
export type IssueState = (typeof ISSUE_STATES)[number];

export const ISSUE_TYPES = ['issue', 'incident', 'test_case'] as const;
export type IssueType = (typeof ISSUE_TYPES)[number];

export const SEVERITIES = ['UNKNOWN', 'LOW', 'MEDIUM', 'HIGH', 'CRITICAL'] as const;
export type Severity = (typeof SEVERITIES)[number];

export const HEALTH_STATUSES = ['on_track', 'needs_attention', 'at_risk'] as const;
export type HealthStatus = (typeof HEALTH_STATUSES)[number];

export const MAX_CLOSERS = 100;

/** What people may change of an issue. Days are `YYYY-MM-DD`, times ISO 8601 in UTC with milliseconds. */
export interface IssueFields extends Edited {
  readonly title: string;
  readonly description: StoredText | null;
  readonly state: IssueState;
  readonly confidential: boolean;
  readonly type: IssueType;
  readonly author: AuthorSnapshot;
  /** Each once, in the order given. */
  readonly assigneeIds: readonly number[];
  /** Each once. An id whose label is deleted stands for nothing. */
  readonly labelIds: readonly number[];
  readonly milestoneId: number | null;
  readonly iterationId: number | null;
  readonly epicId: number | null;
  readonly dueDate: string | null;
  readonly weight: number | null;
  readonly healthStatus: HealthStatus | null;
  readonly severity: Severity;
  /** Only members may write notes; null: never decided. */
  readonly discussionLocked: boolean | null;
  /** Seconds. */
  readonly timeEstimate: number;
  readonly timeSpent: number;
  readonly closedAt: string | null;
  readonly closedById: number | null;
  /** The issue that took its place when it was moved to another project. */
  readonly movedTo: IssueReference | null;
  readonly duplicatedTo: IssueReference | null;
  /** Its place in the order that people arrange by hand, compared as text; null: the time of its creation. */
  readonly relativePosition: string | null;
  /** Where it was put by hand among the issues of an epic, which counts while it is in that one; absent: nowhere. */
  readonly epicPosition?: { readonly epicId: number; readonly position: string };
  /** Address of a Zoom meeting about it, at most 255 characters; records of earlier releases have none. */
  readonly zoomUrl?: string | null;
  /** Items of task lists in the description. */
  readonly tasks: { readonly count: number; readonly completed: number };
  readonly updatedAt: string;
}

export interface IssueRecord extends IssueFields {
  readonly id: number;
  /** Its number in the project. */
  readonly iid: number;
  readonly projectId: number;
  readonly createdAt: string;
  /** The number of the alert that opened it; absent: none did. */
  readonly alertIid?: number;
  /** The merge requests that say they close it, at most {@link MAX_CLOSERS}. Changed without a new version; absent: none. */
  readonly closers?: readonly TrackedAddress[];
  /** Notes by users; awards. Changed by adding, without a new version. */
  readonly userNotesCount: number;
  readonly upvotes: number;
  readonly downvotes: number;
  /** Raised by each change; what counts notes and awards leaves it alone. */
  readonly version: number;
}

/** Where an issue is stored. */
export interface IssueAddress {
  readonly projectId: number;
  readonly iid: number;
}

export interface IssueReference extends IssueAddress {
  readonly id: number;
}

/**
 * What lists tell issues apart by. A reader without the right to confidential issues reads the plain classes, and finds
 * their own confidential ones under themselves as author or assignee.
 */
export const ISSUE_CLASSES = ['opened', 'closed', 'opened-confidential', 'closed-confidential'] as const;
export type IssueClass = (typeof ISSUE_CLASSES)[number];

export const classOf = ({ state, confidential }: Pick<IssueFields, 'state' | 'confidential'>): IssueClass =>
  confidential ? `${state}-confidential` : state;

/** How an issue relates to another. */
export const ISSUE_LINK_TYPES = ['relates_to', 'blocks', 'is_blocked_by'] as const;
export type IssueLinkType = (typeof ISSUE_LINK_TYPES)[number];

/** A relation as one of its two issues has it. */
export interface IssueLinkRecord {
  readonly id: number;
  readonly type: IssueLinkType;
  readonly issue: IssueReference;
  readonly other: IssueReference;
  readonly createdAt: string;
}
