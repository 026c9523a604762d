/**
 * Merge requests as a kind of tracked records: the rows that lists and searches find one by. They are computed from its
 * record alone, and checked against it by readers.
 */

import {
  commitsOf,
  isLong,
  MERGE_REQUEST_STATES,
  type MergeRequestRecord,
  type MergeRequestState,
  UNLISTED_FIELDS,
} from '../../records/merge-requests.ts';
import { beginningOfText } from '../../records/texts.ts';
import { removeNotesMessage } from '../notes/notes.ts';
import { MAINTENANCE, message } from '../outbox/outbox.ts';
import { approvalRulesKey } from '../row-keys/approvals.ts';
import { listPartition } from '../row-keys/lists.ts';
import {
  collaborationKey,
  type MergeRequestFacet,
  mergeRequestCommitKey,
  mergeRequestCommitPrefix,
  mergeRequestKeys,
  mergeRequestSourceKey,
} from '../row-keys/merge-requests.ts';
import { numberWord, trackedPlace } from '../row-keys/tracked.ts';
import { indexedWords } from '../search/words.ts';
import { fieldsOf } from '../table/fields.ts';
import { ABSENT, type Put } from '../table/write.ts';
import { facetRows, type Row, type Surroundings, TRACKED_FIELDS, type TrackedKind } from '../tracked/kind.ts';
import type { PlaceRange } from '../tracked/places.ts';
import { rangesOf } from '../tracked/ranges.ts';
import { closesNothingMessages } from './closing.ts';

/** Brings the rows of a merge request in line with its record: `{ projectId, iid }`. */
export const INDEX_MERGE_REQUEST_JOB = 'merge_request.index';

/** Removes what a deleted merge request has left of its versions: `{ projectId, iid }`. */
export const FORGET_VERSIONS_JOB = 'merge_request.forget-versions';

/** The ranges that lists of merge requests are read from. */
export const mergeRequestRanges = rangesOf(mergeRequestKeys);

/** Those of a project that have more commits than they are found by, whatever their state. */
export const rangesOfLong = (projectId: number): PlaceRange[] =>
  mergeRequestRanges.by(projectId, 'long', 0, MERGE_REQUEST_STATES);

/** Those of a project that have a commit among those they are found by, whatever their state. */
export const rangesOfCommit = (projectId: number, sha: string): PlaceRange[] => [
  { partition: mergeRequestKeys.partition(projectId), prefix: mergeRequestCommitPrefix(sha), listClass: '' },
];

const FIELDS = fieldsOf<MergeRequestRecord>({
  ...TRACKED_FIELDS,
  state: true,
  source: true,
  targetBranch: true,
  reviewerIds: true,
  discussionLocked: true,
  timeEstimate: true,
  timeSpent: true,
  tasks: true,
  squash: true,
  forceRemoveSource: true,
  removeSource: true,
  allowCollaboration: true,
  approvalsBeforeMerge: true,
  approvals: true,
  contextCommits: true,
  diff: true,
  autoMerge: true,
  mergeError: true,
  rebase: true,
  closedAt: true,
  closedById: true,
  mergedAt: true,
  mergedById: true,
  mergeCommitSha: true,
  squashCommitSha: true,
  closes: true,
  verdict: true,
  check: true,
  firstDeployedAt: true,
  unresolvedCount: true,
});

const UNLISTED: ReadonlySet<string> = new Set([...UNLISTED_FIELDS, 'diff']);

/** What is read of those in lists. */
export const LISTED_FIELDS: readonly string[] = [
  ...FIELDS.filter((name) => !UNLISTED.has(name)),
  'diff.headSha',
];

/** The words that a search finds a merge request by. */
export const wordsOfMergeRequest = ({
  title,
  description,
}: Pick<MergeRequestRecord, 'title' | 'description'>): string[] =>
  indexedWords(title, beginningOfText(description));

export const MERGE_REQUEST_KIND: TrackedKind<MergeRequestRecord, MergeRequestFacet, MergeRequestState> = {
  name: 'merge-request',
  sign: '!',
  keys: mergeRequestKeys,
  classes: MERGE_REQUEST_STATES,
  classOf: ({ state }) => state,
  fields: FIELDS,
  recordIndex: ({ projectId, state, createdAt, updatedAt, iid, id }) => ({
    list: mergeRequestKeys.ofProject(projectId, state),
    byId: trackedPlace(createdAt, iid, id),
    byUpdated: trackedPlace(updatedAt, iid, id),
  }),
  listRow: (record, rootId) => facetRows(MERGE_REQUEST_KIND, record, rootId).plain(record.updatedAt),
  rows: rowsOf,
  claims: (record) =>
    record.state === 'opened'
      ? [sourceRow(record), ...(record.allowCollaboration ? [collaborationRow(record)] : [])]
      : [],
  indexJob: INDEX_MERGE_REQUEST_JOB,
  removed: (record) => ({
    keys: [approvalRulesKey(record.projectId, record.iid)],
    messages: [
      removeNotesMessage(record.projectId, { kind: 'merge-request', id: record.id }),
      ...closesNothingMessages(record),
      message(MAINTENANCE, FORGET_VERSIONS_JOB, { projectId: record.projectId, iid: record.iid }),
    ],
  }),
};

/** By which a source branch leads to its open merge requests, of which there is one to each target branch. */
const sourceRow = ({ source, projectId, targetBranch, iid, id }: MergeRequestRecord): Put => ({
  put: {
    ...mergeRequestSourceKey(source, { projectId, branch: targetBranch }),
    projectId,
    iid,
    id,
    sourceBranch: source.branch,
    targetBranch,
  },
  if: ABSENT,
  reason: 'claim',
});

/** By which a fork leads to the branches that others may push to. */
const collaborationRow = ({ source, projectId, targetBranch, iid }: MergeRequestRecord): Put => ({
  put: {
    ...collaborationKey(source, { projectId, branch: targetBranch }),
    projectId,
    iid,
    sourceBranch: source.branch,
    targetBranch,
  },
});

function rowsOf(record: MergeRequestRecord, { rootId, labelTitles, milestoneTitle }: Surroundings): Row[] {
  const { id, iid, projectId, state, source, targetBranch } = record;
  const { place, by, own, titled, word, plain } = facetRows(MERGE_REQUEST_KIND, record, rootId);
  return [
    { ...mergeRequestKeys.id(id), projectId, iid },
    plain(record.updatedAt),
    {
      ...own('author', record.author.id),
      list: listPartition(mergeRequestKeys.ofAll(state), id),
      byId: place,
    },
    // Before those that a worker may have to write: who asks for a number gets it at once.
    word(numberWord(MERGE_REQUEST_KIND.sign, iid)),
    ...record.assigneeIds.map((userId) => own('assignee', userId)),
    ...record.reviewerIds.map((userId) => own('reviewer', userId)),
    ...record.approvals.map(({ userId }) => own('approver', userId)),
    ...record.labelIds.map((label) => titled('label', label, labelTitles.get(label))),
    ...(record.milestoneId === null ? [] : [titled('milestone', record.milestoneId, milestoneTitle)]),
    by('source', source.branch),
    by('target', targetBranch),
    ...(isLong(record) ? [by('long', 0)] : []),
    ...commitsOf(record).map((sha) => ({ ...mergeRequestCommitKey(projectId, sha, place) })),
    ...wordsOfMergeRequest(record).map(word),
  ];
}
