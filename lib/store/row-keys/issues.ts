import type { IssueAddress, IssueClass, IssueReference } from '../../records/issues.ts';
import { type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';
import { trackedKeys } from './tracked.ts';

// Issues: the records of a project and the rows that lists of them are read from.

/** What issues are found by: their people by user id, the rest by its own id. */
export type IssueFacet = 'author' | 'assignee' | 'label' | 'milestone' | 'iteration' | 'epic';

export const issueKeys = trackedKeys<IssueFacet, IssueClass>({ plural: 'ISSUES', one: 'ISSUE' });

export const issuesPartition = issueKeys.partition;

export const ISSUE = issueKeys.recordPrefix;

export const issueKey = issueKeys.record;

/** Relations of all issues of a project. */
export const ISSUE_LINKS = 'LINK#';

/** The relations of an issue, by the ids of both. */
export const issueLinkPrefix = (id: number): string => `${ISSUE_LINKS}${padded(id)}#`;

export const issueLinkKey = (projectId: number, id: number, otherId: number): Key => ({
  pk: issuesPartition(projectId),
  sk: issueLinkPrefix(id) + padded(otherId),
});

/** How many relations an issue has. */
export const issueLinkCountKey = (projectId: number, id: number): Key => ({
  pk: issuesPartition(projectId),
  sk: `LINKS#${padded(id)}`,
});

/** What an issue was created with. */
export const issueAgentKey = ({ projectId, iid }: IssueAddress): Key => ({
  pk: issuesPartition(projectId),
  sk: `AGENT#${padded(iid)}`,
});

/** How far what belongs to an issue is copied from the one that it was moved or cloned from. */
export const issueCopyKey = ({ projectId, iid }: IssueAddress): Key => ({
  pk: issuesPartition(projectId),
  sk: `COPY#${padded(iid)}`,
});

/** Open issues that are due on a day (`YYYY-MM-DD`), before the shard. */
export const issuesDueOn = (day: string): string => `ISSUES#due#${day}`;

/** Position in that list, which names the issue. */
export const issueDuePlace = ({ projectId, iid, id }: IssueReference): string =>
  `${padded(projectId)}#${padded(iid)}#${padded(id)}`;

export function issueOfDuePlace(place: string): IssueReference {
  const [projectId, iid, id] = place.split('#').map(Number);
  return { projectId: projectId!, iid: iid!, id: id! };
}

const { record, list, by, word, count, iid, id } = issueKeys;

export const rowKinds = [
  { name: 'issue', partitions: ['ISSUES#'], keys: { record }, of: ['project', 'user'] },
  { name: 'issue-in-list', partitions: ['ISSUES#'], keys: { list }, of: ['project'] },
  { name: 'issue-by', partitions: ['ISSUES#'], keys: { by }, of: ['project', 'user'] },
  { name: 'issue-word', partitions: ['ISSUES#'], keys: { word }, of: ['project'] },
  { name: 'issue-count', partitions: ['ISSUES#'], keys: { count }, of: ['project'] },
  { name: 'issue-iid', partitions: ['ISSUES#'], keys: { iid }, of: ['project'] },
  { name: 'issue-link', partitions: ['ISSUES#'], keys: { issueLinkKey }, of: ['project'] },
  { name: 'issue-link-count', partitions: ['ISSUES#'], keys: { issueLinkCountKey }, of: ['project'] },
  { name: 'issue-agent', partitions: ['ISSUES#'], keys: { issueAgentKey }, of: ['project'] },
  { name: 'issue-copy', partitions: ['ISSUES#'], keys: { issueCopyKey }, of: ['project'] },
  { name: 'issue-id', partitions: ['ISSUEID#'], keys: { id }, of: ['project'] },
] as const satisfies readonly RowKind[];
