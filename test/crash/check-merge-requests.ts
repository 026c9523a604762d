import type { DiffVersion, MergeRequestRecord } from '../../lib/records/merge-requests.ts';
import { MERGE_REQUEST_KIND } from '../../lib/store/merge-requests/kind.ts';
import {
  collaborationPrefix,
  diffVersionKey,
  mergeRequestKeys,
} from '../../lib/store/row-keys/merge-requests.ts';
import { fromItem } from '../../lib/store/tracked/records.ts';
import { checkTracked } from './check-tracked.ts';
import { keyText, rowCheck } from './rows.ts';

/** Merge requests stand in the lists of what their records say, are counted, and have all versions up to the latest. */
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
