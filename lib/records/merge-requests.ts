import type { AuthorSnapshot } from './authors.ts';
import type { StoredText } from './texts.ts';
import type { Edited, TrackedAddress } from './tracked.ts';

export const MERGE_REQUEST_STATES = ['opened', 'closed', 'merged'] as const;
export type MergeRequestState = (typeof MERGE_REQUEST_STATES)[number];

/** A branch of a project, without `refs/heads/`. */
export interface BranchOfProject {
  readonly projectId: number;
  readonly branch: string;
}

/**
 * What a merge request proposes: the changes from `baseSha` to `headSha`. A push to the source, and another target, make
 * a version with the next number. All its commits are kept in the target's repository for good.
 */
export interface DiffVersion {
  /** Unique on the instance. */
  readonly id: number;
  /** Counted from 1. */
  readonly number: number;
  readonly headSha: string;
  /** The merge base of head and start. Null: their histories have none. */
  readonly baseSha: string | null;
  /** The head of the target branch when the version was made. */
  readonly startSha: string;
  /** Files that it changes, counted up to one above {@link MAX_COUNTED_FILES}. Absent: there is no merge base. */
  readonly fileCount?: number;
  /** Its newest commits, at most {@link MAX_FINDING_COMMITS}: what the latest version is found by. */
  readonly commitShas?: readonly string[];
  readonly createdAt: string;
}

/** The commits that places in a version are told by. */
export type VersionCommits = Pick<DiffVersion, 'headSha' | 'baseSha' | 'startSha'>;

export const MAX_FINDING_COMMITS = 50;

export const MAX_CONTEXT_COMMITS = 100;

export const MAX_COUNTED_FILES = 1_000;

/** Twice as many, those of before and those of now, change in one transaction. */
export const MAX_CLOSES = 45;

/** Whether a head can be merged into the head of a target. It says nothing of any other two commits. */
export interface MergeVerdict {
  readonly headSha: string;
  readonly targetSha: string;
  readonly mergeable: boolean;
  /** The head has all commits of the target. */
  readonly fastForward: boolean;
  /** Paths in conflict, the first {@link MAX_CONFLICTS}. Empty where there is nothing to merge, or no common commit. */
  readonly conflicts: readonly string[];
  /** What it changes that has code owners, at most {@link MAX_OWNED}. Absent: nothing has. */
  readonly owned?: readonly OwnedFiles[];
}

export const MAX_CONFLICTS = 100;

/** Files that a merge request changes and that one entry of the target's CODEOWNERS is for. */
export interface OwnedFiles {
  /** Of the approval rule that it makes. Unique on the instance. */
  readonly id: number;
  readonly section: string;
  readonly pattern: string;
  /** By owners, where the target branch asks for code owners; 0: the section is optional. */
  readonly approvalsRequired: number;
  /** The owners who were members of the project when they were looked for. */
  readonly userIds: readonly number[];
  readonly groupIds: readonly number[];
  /** Finding the owners would have passed a limit: nobody counts as one. */
  readonly unknown?: true;
}

/** Entries with owners that the changes of one merge request may match. */
export const MAX_OWNED = 50;

/** What a worker was told to check. */
export interface RequestedCheck {
  readonly headSha: string;
  readonly targetSha: string;
  readonly at: string;
}

/** How a merge is to be done, as its caller chose. Null: as the settings say. */
export interface MergeChoices {
  readonly mergeMessage: string | null;
  readonly squashMessage: string | null;
  readonly squash: boolean | null;
  readonly removeSource: boolean | null;
}

/** What people may change of a merge request. Times are ISO 8601 in UTC with milliseconds. */
export interface MergeRequestFields extends Edited {
  /** Begins with `Draft:` while it is not ready. */
  readonly title: string;
  readonly description: StoredText | null;
  readonly state: MergeRequestState;
  readonly author: AuthorSnapshot;
  readonly source: BranchOfProject;
  /** Of its own project. */
  readonly targetBranch: string;
  /** Each once, in the order given. */
  readonly assigneeIds: readonly number[];
  readonly reviewerIds: readonly number[];
  /** Each once. An id whose label is deleted stands for nothing. */
  readonly labelIds: readonly number[];
  readonly milestoneId: number | null;
  /** Only members may write notes; null: never decided. */
  readonly discussionLocked: boolean | null;
  /** Seconds. */
  readonly timeEstimate: number;
  readonly timeSpent: number;
  /** Items of task lists in the description. */
  readonly tasks: { readonly count: number; readonly completed: number };
  readonly squash: boolean;
  /** Whether its author wants the source branch removed when it is merged. */
  readonly forceRemoveSource: boolean;
  /** Whether its merger wanted that. Absent: it is not merged, or they left it to the author. */
  readonly removeSource?: boolean;
  /** Whether members of the target who may merge may push to the source branch of a fork. */
  readonly allowCollaboration: boolean;
  /** Number of approvals that it asks for itself; null: what the project asks for. */
  readonly approvalsBeforeMerge: number | null;
  /** Who approved it, each once, at most 100. */
  readonly approvals: readonly { readonly userId: number; readonly at: string }[];
  /** Ids of commits that are named beside those it proposes, each once, at most {@link MAX_CONTEXT_COMMITS}. Absent: none. */
  readonly contextCommits?: readonly string[];
  /** The latest version of what it proposes. */
  readonly diff: DiffVersion;
  /** To be merged when the pipeline of its head succeeds; null: not asked for. */
  readonly autoMerge: (MergeChoices & { readonly userId: number; readonly headSha: string }) | null;
  /** Why the last attempt to merge or rebase failed. */
  readonly mergeError: string | null;
  /** The rebase that is under way. */
  readonly rebase: { readonly id: string; readonly at: string; readonly userId: number } | null;
  readonly closedAt: string | null;
  readonly closedById: number | null;
  readonly mergedAt: string | null;
  readonly mergedById: number | null;
  /** Null too where merging moved the target to the head. */
  readonly mergeCommitSha: string | null;
  readonly squashCommitSha: string | null;
  readonly updatedAt: string;
}

export interface MergeRequestRecord extends MergeRequestFields {
  readonly id: number;
  /** Its number in the project. */
  readonly iid: number;
  /** The project of the target branch, which it belongs to. */
  readonly projectId: number;
  readonly createdAt: string;
  /** The issues that it says it closes, at most {@link MAX_CLOSES}: it is among their closers. Absent: none. */
  readonly closes?: readonly TrackedAddress[];
  /** The latest answer of a check. Changed without a new version. */
  readonly verdict: MergeVerdict | null;
  /** The latest check that a worker was told to make. Changed without a new version; absent: there was none. */
  readonly check?: RequestedCheck;
  /** When a deployment first brought it to production. Set once, without a new version; absent: none has. */
  readonly firstDeployedAt?: string;
  /** Notes by users; awards. Changed by adding, without a new version. */
  readonly userNotesCount: number;
  readonly upvotes: number;
  readonly downvotes: number;
  /** Discussions that are to be resolved and are not. Changed by adding, without a new version. */
  readonly unresolvedCount: number;
  /** Raised by each change; what counts notes and awards, and what checks and deployments tell, leaves it alone. */
  readonly version: number;
}

/** Fields that lists neither show nor filter by. */
export const UNLISTED_FIELDS = [
  ...(['check', 'closes', 'contextCommits', 'firstDeployedAt'] as const),
  ...(['lastEdited', 'mergeError', 'updatedById', 'version'] as const),
] as const;

/** A merge request in a list: of its latest version the head alone. */
export type ListedMergeRequest = Omit<MergeRequestRecord, (typeof UNLISTED_FIELDS)[number] | 'diff'> & {
  readonly diff: Pick<DiffVersion, 'headSha'>;
};

/** Where a merge request is stored. */
export interface MergeRequestAddress {
  readonly projectId: number;
  readonly iid: number;
}

export interface MergeRequestReference extends MergeRequestAddress {
  readonly id: number;
}

/** Whether its latest version may have more commits than it is found by. */
export const isLong = ({ diff }: Pick<MergeRequestFields, 'diff'>): boolean =>
  diff.commitShas?.length === MAX_FINDING_COMMITS;

/** The commits that a merge request is found by: those of its latest version, and what merging it made. */
export const commitsOf = ({
  diff,
  mergeCommitSha,
  squashCommitSha,
}: Pick<MergeRequestFields, 'diff' | 'mergeCommitSha' | 'squashCommitSha'>): string[] => [
  ...new Set([mergeCommitSha, squashCommitSha, ...(diff.commitShas ?? [])].filter((sha) => sha !== null)),
];

/** Whether a title says that the merge request is not ready to be merged. */
export const isDraft = ({ title }: Pick<MergeRequestFields, 'title'>): boolean =>
  /^\s*(?:draft:|\[draft\]|\(draft\)|wip:|\[wip\])/i.test(title);
