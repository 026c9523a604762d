/**
 * The rows that lists and searches find an issue by. They are computed from its record alone, and checked against it by
 * readers.
 */

import { classOf, type IssueRecord } from '../../records/issues.ts';
import { beginningOfText } from '../../records/texts.ts';
import {
  type IssueFacet,
  issueByKey,
  issueDuePlace,
  issueIdKey,
  issueKey,
  issueListKey,
  issuePlace,
  issuesDueOn,
  issuesOfProject,
  issuesOfRoot,
  issuesOfRootBy,
  issuesOfValue,
  issueWordKey,
  numberWord,
  ownIssuesPrefix,
  wordsOfAll,
  wordsOfRoot,
} from '../row-keys/issues.ts';
import type { Key } from '../row-keys/key.ts';
import { listPartition } from '../row-keys/lists.ts';
import { userPartition } from '../row-keys/users.ts';
import { indexedWords } from '../search/words.ts';
import type { Item } from '../table/write.ts';

/** What the rows say beside the record: it changes when projects move, and labels or milestones are renamed. */
export interface IssueSurroundings {
  /** The top-level group of its project, or the personal namespace. */
  readonly rootId: number;
  /** Titles of its labels and its milestone, by id; those without one are in no list of the root. */
  readonly labelTitles: ReadonlyMap<number, string>;
  readonly milestoneTitle?: string | undefined;
}

type Row = Item & Key;

/** Attributes that the record has as a row, beside its fields. */
export const recordIndex = (issue: IssueRecord): Item => ({
  list: issuesOfProject(issue.projectId, classOf(issue)),
  byId: arrangedPlace(issue),
  byUpdated: issuePlace(issue.updatedAt, issue.iid, issue.id),
});

/** Its place in the order that people arrange by hand. No other issue has the same one. */
export const arrangedPlace = (issue: Pick<IssueRecord, 'relativePosition' | 'createdAt' | 'iid' | 'id'>) =>
  issuePlace(issue.relativePosition ?? issue.createdAt, issue.iid, issue.id);

export const recordItem = (issue: IssueRecord): Row => ({
  ...issueKey(issue),
  ...issue,
  ...recordIndex(issue),
});

/** The words that a search finds an issue by. */
export const wordsOfIssue = ({ title, description }: Pick<IssueRecord, 'title' | 'description'>): string[] =>
  indexedWords(title, beginningOfText(description));

/** The row of the plain list: the only one beside the record that says when the issue was changed. */
export function listRow(issue: IssueRecord, rootId: number): Row {
  const { id, iid, projectId, createdAt, updatedAt } = issue;
  const [listClass, place] = [classOf(issue), issuePlace(createdAt, iid, id)];
  return {
    ...issueListKey(projectId, listClass, place),
    list: issuesOfRoot(rootId, listClass),
    byId: place,
    byUpdated: issuePlace(updatedAt, iid, id),
  };
}

/** All rows beside the record; those of words come last. */
export function issueRows(issue: IssueRecord, around: IssueSurroundings): Row[] {
  const { id, iid, projectId, createdAt } = issue;
  const { rootId, labelTitles, milestoneTitle } = around;
  const listClass = classOf(issue);
  const place = issuePlace(createdAt, iid, id);
  const by = (facet: IssueFacet, value: number, attributes: Item = {}): Row => ({
    ...issueByKey(projectId, facet, value, listClass, place),
    ...attributes,
  });
  const own = (facet: 'author' | 'assignee', userId: number) =>
    by(facet, userId, { who: userPartition(userId), what: ownIssuesPrefix(facet, listClass) + place });
  const due =
    issue.state === 'closed' || issue.dueDate === null
      ? {}
      : { list: listPartition(issuesDueOn(issue.dueDate), id), byId: issueDuePlace(issue) };
  const titled = (facet: 'label' | 'milestone', value: number, title: string | undefined) =>
    by(
      facet,
      value,
      title === undefined ? {} : { list: issuesOfRootBy(rootId, facet, title, listClass), byId: place },
    );
  const word = (each: string): Row => ({
    ...issueWordKey(projectId, each, place),
    list: wordsOfRoot(rootId).partition(each),
    byId: `${each}#${place}`,
    who: wordsOfAll.partition(each),
    what: `${each}#${place}`,
  });
  const planned = (facet: 'epic' | 'iteration', value: number) =>
    by(facet, value, { list: issuesOfValue(facet, value, listClass), byId: place });
  return [
    // Of the rows in no other list this is the one that every issue has once: being found by its day costs no row.
    { ...issueIdKey(id), projectId, iid, ...due },
    listRow(issue, rootId),
    {
      ...own('author', issue.author.id),
      list: listPartition(`ISSUES#all#${listClass}`, id),
      byId: place,
    },
    ...issue.assigneeIds.map((userId) => own('assignee', userId)),
    ...issue.labelIds.map((label) => titled('label', label, labelTitles.get(label))),
    ...(issue.milestoneId === null ? [] : [titled('milestone', issue.milestoneId, milestoneTitle)]),
    ...(issue.iterationId === null ? [] : [planned('iteration', issue.iterationId)]),
    ...(issue.epicId === null ? [] : [planned('epic', issue.epicId)]),
    ...[numberWord(iid), ...wordsOfIssue(issue)].map(word),
  ];
}
