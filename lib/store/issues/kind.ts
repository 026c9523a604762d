/**
 * Issues as a kind of tracked records: the rows that lists and searches find an issue by. They are computed from its
 * record alone, and checked against it by readers.
 */

import { classOf, ISSUE_CLASSES, type IssueClass, type IssueRecord } from '../../records/issues.ts';
import { beginningOfText } from '../../records/texts.ts';
import { removeNotesMessage } from '../notes/notes.ts';
import {
  type IssueFacet,
  issueAgentKey,
  issueCopyKey,
  issueDuePlace,
  issueKeys,
  issuesDueOn,
} from '../row-keys/issues.ts';
import { listPartition } from '../row-keys/lists.ts';
import { numberWord, trackedPlace } from '../row-keys/tracked.ts';
import { indexedWords } from '../search/words.ts';
import { fieldsOf } from '../table/fields.ts';
import { facetRows, type Row, type Surroundings, TRACKED_FIELDS, type TrackedKind } from '../tracked/kind.ts';
import { rangesOf } from '../tracked/ranges.ts';
import { unlinkMessage } from './links.ts';

/** Brings the rows of an issue in line with its record: `{ projectId, iid }`. */
export const INDEX_ISSUE_JOB = 'issue.index';

/** The ranges that lists of issues are read from. */
export const issueRanges = rangesOf(issueKeys);

/** Its place in the order that people arrange by hand. No other issue has the same one. */
export const arrangedPlace = (issue: Pick<IssueRecord, 'relativePosition' | 'createdAt' | 'iid' | 'id'>) =>
  trackedPlace(issue.relativePosition ?? issue.createdAt, issue.iid, issue.id);

/** Digits of milliseconds since 1970 in keys. */
const MAX_TIME = 9_999_999_999_999;

/** Its place in the order of the issues of its epic: where somebody put it, or else in front of all that are older. */
export function placeInEpic({ epicPosition: put, epicId, createdAt, iid, id }: IssueRecord): string {
  const position =
    put?.epicId === epicId ? put.position : String(MAX_TIME - Date.parse(createdAt)).padStart(13, '0');
  return trackedPlace(position, iid, id);
}

const FIELDS = fieldsOf<IssueRecord>({
  ...TRACKED_FIELDS,
  state: true,
  confidential: true,
  type: true,
  iterationId: true,
  epicId: true,
  dueDate: true,
  weight: true,
  healthStatus: true,
  severity: true,
  discussionLocked: true,
  timeEstimate: true,
  timeSpent: true,
  closedAt: true,
  closedById: true,
  movedTo: true,
  duplicatedTo: true,
  relativePosition: true,
  epicPosition: true,
  zoomUrl: true,
  tasks: true,
  alertIid: true,
  closers: true,
});

/** The words that a search finds an issue by. */
export const wordsOfIssue = ({ title, description }: Pick<IssueRecord, 'title' | 'description'>): string[] =>
  indexedWords(title, beginningOfText(description));

export const ISSUE_KIND: TrackedKind<IssueRecord, IssueFacet, IssueClass> = {
  name: 'issue',
  sign: '#',
  keys: issueKeys,
  classes: ISSUE_CLASSES,
  classOf,
  fields: FIELDS,
  recordIndex: (issue) => ({
    list: issueKeys.ofProject(issue.projectId, classOf(issue)),
    byId: arrangedPlace(issue),
    byUpdated: trackedPlace(issue.updatedAt, issue.iid, issue.id),
  }),
  listRow: (issue, rootId) => facetRows(ISSUE_KIND, issue, rootId).plain(issue.updatedAt),
  rows: rowsOfIssue,
  indexJob: INDEX_ISSUE_JOB,
  removed: (issue) => ({
    keys: [issueCopyKey(issue), issueAgentKey(issue)],
    messages: [removeNotesMessage(issue.projectId, { kind: 'issue', id: issue.id }), unlinkMessage(issue)],
  }),
};

function rowsOfIssue(issue: IssueRecord, { rootId, labelTitles, milestoneTitle }: Surroundings): Row[] {
  const { id, iid, projectId } = issue;
  const listClass = classOf(issue);
  const { place, by, own, titled, word, plain } = facetRows(ISSUE_KIND, issue, rootId);
  const due =
    issue.state === 'closed' || issue.dueDate === null
      ? {}
      : { list: listPartition(issuesDueOn(issue.dueDate), id), byId: issueDuePlace(issue) };
  const planned = (facet: 'epic' | 'iteration', value: number) =>
    by(facet, value, { list: issueKeys.ofValue(facet, value, listClass), byId: place });
  return [
    // Of the rows in no other list this is the one that every issue has once: being found by its day costs no row.
    { ...issueKeys.id(id), projectId, iid, ...due },
    plain(issue.updatedAt),
    {
      ...own('author', issue.author.id),
      list: listPartition(issueKeys.ofAll(listClass), id),
      byId: place,
    },
    // Before those that a worker may have to write: who asks for a number gets it at once.
    word(numberWord(ISSUE_KIND.sign, iid)),
    ...issue.assigneeIds.map((userId) => own('assignee', userId)),
    ...issue.labelIds.map((label) => titled('label', label, labelTitles.get(label))),
    ...(issue.milestoneId === null ? [] : [titled('milestone', issue.milestoneId, milestoneTitle)]),
    ...(issue.iterationId === null ? [] : [planned('iteration', issue.iterationId)]),
    ...(issue.epicId === null ? [] : [planned('epic', issue.epicId)]),
    ...wordsOfIssue(issue).map(word),
  ];
}
