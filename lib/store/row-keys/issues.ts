import type { IssueAddress, IssueClass, IssueReference } from '../../records/issues.ts';
import { type Key, padded, wholeOrDigest } from './key.ts';
import type { RowKind } from './row-kind.ts';
import { beginningOf, type WordRows } from './search.ts';

// Issues: the records of a project and the rows that lists of them are read from. An index row ends in a place, the
// time of creation with both numbers, so that it leads to the record, and all sources of a list sort alike.

export const issuesPartition = (projectId: number): string => `ISSUES#${padded(projectId)}`;

export const ISSUE = 'ISSUE#';

export const issueKey = ({ projectId, iid }: IssueAddress): Key => ({
  pk: issuesPartition(projectId),
  sk: ISSUE + padded(iid),
});

/**
 * Position of an issue in the order of creation, also among those of other projects.
 * @param createdAt ISO 8601; for another order another time, or a position in the order that people arrange
 */
export const issuePlace = (createdAt: string, iid: number, id: number): string =>
  `${createdAt}#${padded(iid)}#${padded(id)}`;

const PLACE_LENGTH = 24 + 1 + 12 + 1 + 12;

/** The place at the end of a key. */
export const placeOf = (keyPart: string): string => keyPart.slice(-PLACE_LENGTH);

/** The issue's number in its project, from a key that ends in a place. */
export const iidOf = (keyPart: string): number => Number(keyPart.slice(-25, -13));

/** The plain lists of all classes. */
export const ISSUE_LISTS = 'LIST#';

export const issueListPrefix = (listClass: IssueClass): string => `LIST#${listClass}#`;

export const issueListKey = (projectId: number, listClass: IssueClass, place: string): Key => ({
  pk: issuesPartition(projectId),
  sk: issueListPrefix(listClass) + place,
});

/** What issues are found by: their people by user id, the rest by its own id. */
export type IssueFacet = 'author' | 'assignee' | 'label' | 'milestone' | 'iteration' | 'epic';

/** All rows of one value, of every class. */
export const issueFacetPrefix = (facet: IssueFacet, value: number): string => `BY#${facet}#${padded(value)}#`;

/** The class, from the sort key of a row of one value. */
export const listClassOf = (sortKey: string): IssueClass => sortKey.split('#')[3] as IssueClass;

export const issueByPrefix = (facet: IssueFacet, value: number, listClass: IssueClass): string =>
  `${issueFacetPrefix(facet, value)}${listClass}#`;

export const issueByKey = (
  projectId: number,
  facet: IssueFacet,
  value: number,
  listClass: IssueClass,
  place: string,
): Key => ({ pk: issuesPartition(projectId), sk: issueByPrefix(facet, value, listClass) + place });

/** Attribute `what` of the rows that `byUser` finds, before the place. */
export const ownIssuesPrefix = (facet: 'author' | 'assignee', listClass: IssueClass): string =>
  `ISSUE#${facet}#${listClass}#`;

export const ISSUE_WORDS = 'WORD#';

/** An issue that has a word, whatever its class. */
export const issueWordKey = (projectId: number, word: string, place: string): Key => ({
  pk: issuesPartition(projectId),
  sk: `${ISSUE_WORDS}${word}#${place}`,
});

/** The number of an issue among the words that it is found by. */
export const numberWord = (iid: number): string => `#${iid}`;

export const wordsOfProject = (projectId: number): WordRows => ({
  partition: () => issuesPartition(projectId),
  prefix: ISSUE_WORDS,
});

/** How many issues a project has, by class. */
export const issueCountKey = (projectId: number): Key => ({ pk: issuesPartition(projectId), sk: 'COUNT' });

/** The last number given in a project. */
export const issueIidKey = (projectId: number): Key => ({ pk: issuesPartition(projectId), sk: 'IID' });

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

/** Leads from the id of an issue to its project and number. */
export const issueIdKey = (id: number): Key => ({ pk: `ISSUEID#${padded(id)}`, sk: 'ISSUEID' });

/** How far what belongs to an issue is copied from the one that it was moved or cloned from. */
export const issueCopyKey = ({ projectId, iid }: IssueAddress): Key => ({
  pk: issuesPartition(projectId),
  sk: `COPY#${padded(iid)}`,
});

// Partitions of `list`.

export const issuesOfProject = (projectId: number, listClass: IssueClass): string =>
  `${issuesPartition(projectId)}#${listClass}`;

/** @param rootId the top-level group, or the personal namespace */
export const issuesOfRoot = (rootId: number, listClass: IssueClass): string =>
  `ISSUES#ROOT#${padded(rootId)}#${listClass}`;

/** Of one label or milestone of a root, by its title. */
export const issuesOfRootBy = (
  rootId: number,
  facet: 'label' | 'milestone',
  title: string,
  listClass: IssueClass,
): string => `ISSUES#ROOT#${padded(rootId)}#${facet}#${wholeOrDigest(title)}#${listClass}`;

/** The same rows below a root, in `list` and `byId`. */
export const wordsOfRoot = (rootId: number): WordRows => ({
  index: 'byId',
  partition: (word) => `ISSUES#ROOT#${padded(rootId)}#word#${beginningOf(word)}`,
  prefix: '',
});

/** The same rows of the instance, in `who` and `what`. */
export const wordsOfAll: WordRows = {
  index: 'byUser',
  partition: (word) => `ISSUES#WORD#${beginningOf(word)}`,
  prefix: '',
};

/** Open issues that are due on a day (`YYYY-MM-DD`), before the shard. */
export const issuesDueOn = (day: string): string => `ISSUES#due#${day}`;

/** Position in that list, which names the issue. */
export const issueDuePlace = ({ projectId, iid, id }: IssueReference): string =>
  `${padded(projectId)}#${padded(iid)}#${padded(id)}`;

export function issueOfDuePlace(place: string): IssueReference {
  const [projectId, iid, id] = place.split('#').map(Number);
  return { projectId: projectId!, iid: iid!, id: id! };
}

/** Of one epic or iteration, in all projects: it is in one group, so its id is enough. */
export const issuesOfValue = (facet: 'epic' | 'iteration', id: number, listClass: IssueClass): string =>
  `ISSUES#${facet}#${padded(id)}#${listClass}`;

/** The same list of another root. */
export const underRoot = (list: string, rootId: number): string =>
  list.replace(/^ISSUES#ROOT#\d+/, `ISSUES#ROOT#${padded(rootId)}`);

/** All rows of a facet: what is in lists of the root by label or milestone. */
export const issueFacetsPrefix = (facet: IssueFacet): string => `BY#${facet}#`;

/** The value, from the sort key of a row of one value. */
export const facetValueOf = (sortKey: string): number => Number(sortKey.split('#')[2]);

export const rowKinds = [
  { name: 'issue', partitions: ['ISSUES#'], keys: { issueKey }, of: ['project', 'user'] },
  { name: 'issue-in-list', partitions: ['ISSUES#'], keys: { issueListKey }, of: ['project'] },
  { name: 'issue-by', partitions: ['ISSUES#'], keys: { issueByKey }, of: ['project', 'user'] },
  { name: 'issue-word', partitions: ['ISSUES#'], keys: { issueWordKey }, of: ['project'] },
  { name: 'issue-count', partitions: ['ISSUES#'], keys: { issueCountKey }, of: ['project'] },
  { name: 'issue-iid', partitions: ['ISSUES#'], keys: { issueIidKey }, of: ['project'] },
  { name: 'issue-link', partitions: ['ISSUES#'], keys: { issueLinkKey }, of: ['project'] },
  { name: 'issue-link-count', partitions: ['ISSUES#'], keys: { issueLinkCountKey }, of: ['project'] },
  { name: 'issue-copy', partitions: ['ISSUES#'], keys: { issueCopyKey }, of: ['project'] },
  { name: 'issue-id', partitions: ['ISSUEID#'], keys: { issueIdKey }, of: ['project'] },
] as const satisfies readonly RowKind[];
