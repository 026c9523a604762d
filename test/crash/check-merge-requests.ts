import { type IssueRecord, MAX_CLOSERS } from '../../lib/records/issues.ts';
import type { DiffVersion, MergeRequestRecord } from '../../lib/records/merge-requests.ts';
import type { TrackedAddress } from '../../lib/records/tracked.ts';
import { MERGE_REQUEST_KIND } from '../../lib/store/merge-requests/kind.ts';
import { issueKey, issueKeys } from '../../lib/store/row-keys/issues.ts';
import {
  collaborationPrefix,
  diffVersionKey,
  mergeRequestKeys,
} from '../../lib/store/row-keys/merge-requests.ts';
import { fromItem } from '../../lib/store/tracked/records.ts';
import { checkTracked } from './check-tracked.ts';
import { livingOf } from './records.ts';
import { keyText, type Rows, rowCheck } from './rows.ts';

/**
 * Merge requests stand in the lists of what their records say, are counted, have all versions up to the latest, and are
 * among the closers of the issues that they close.
 */
export const mergeRequests = rowCheck(
  [
    'merge-request',
    'merge-request-in-list',
    'merge-request-by',
    'merge-request-word',
    'merge-request-count',
    'merge-request-iid',
    'merge-request-id',
    'merge-request-source',
    'merge-request-collaboration',
    'merge-request-commit',
    'diff-version',
  ],
  function* (rows) {
    yield* checkTracked(rows, MERGE_REQUEST_KIND);
    yield* closingProblems(rows);
    for (const row of rows.of('MRS#').filter(({ sk }) => sk.startsWith(mergeRequestKeys.recordPrefix))) {
      const { projectId, iid, diff } = fromItem<MergeRequestRecord>(row)!;
      for (let number = 1; number <= diff.number; number++) {
        const version = rows.get(diffVersionKey(projectId, iid, number)) as unknown as
          | DiffVersion
          | undefined;
        if (version === undefined)
          yield `merge request ${iid} of project ${projectId} has no version ${number}`;
        else if (number === diff.number && version.headSha !== diff.headSha)
          yield `merge request ${iid} of project ${projectId} and its version have different heads`;
      }
    }
    for (const row of rows.of('MRSOURCES#')) {
      const record = rows.get(
        mergeRequestKeys.record({ projectId: row['projectId'] as number, iid: row['iid'] as number }),
      );
      if (record?.['state'] !== 'opened') yield `${keyText(row)} leads to no open merge request`;
      else if (row.sk.startsWith(collaborationPrefix()) && record['allowCollaboration'] !== true)
        yield `${keyText(row)} shares a branch that is not shared`;
    }
  },
);

function* closingProblems(rows: Rows): Iterable<string> {
  const isSame = (a: TrackedAddress) => (b: TrackedAddress) => a.projectId === b.projectId && a.iid === b.iid;
  for (const row of rows.of('MRS#').filter(({ sk }) => sk.startsWith(mergeRequestKeys.recordPrefix))) {
    const mergeRequest = fromItem<MergeRequestRecord>(row)!;
    for (const address of mergeRequest.closes ?? []) {
      const issue = fromItem<IssueRecord>(rows.get(issueKey(address)));
      const closers = issue?.closers ?? [];
      if (issue !== undefined && closers.length < MAX_CLOSERS && !closers.some(isSame(mergeRequest)))
        yield `${keyText(row)} closes an issue that does not say so`;
    }
  }
  const living = new Set(livingOf(rows).map(({ id }) => id));
  for (const row of rows.of('ISSUES#').filter(({ sk }) => sk.startsWith(issueKeys.recordPrefix))) {
    const issue = fromItem<IssueRecord>(row)!;
    for (const closer of (issue.closers ?? []).filter(({ projectId }) => living.has(projectId))) {
      const mergeRequest = fromItem<MergeRequestRecord>(rows.get(mergeRequestKeys.record(closer)));
      if (!mergeRequest?.closes?.some(isSame(issue)))
        yield `${keyText(row)} has a closer that does not close it`;
    }
  }
}
