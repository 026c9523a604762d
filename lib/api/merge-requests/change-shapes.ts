import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { commits, fileDiff, fileDiffs } from '../commits/shapes.ts';
import { time } from '../users/shapes.ts';
import { mergeRequest } from './shapes.ts';

export const changedMergeRequest = shape(() =>
  mergeRequest()
    .extend({
      changes: fileDiffs(),
      overflow: z.boolean().describe('Whether files or texts are left out, because a limit was reached'),
    })
    .meta({ id: 'MergeRequestWithChanges' }),
);

const listedDiff = () =>
  fileDiff()
    .extend({
      collapsed: z
        .boolean()
        .describe('Whether the text is left out, because earlier files used up the limits'),
      too_large: z
        .boolean()
        .describe('Whether the text is left out, because it exceeds the limit of one file'),
    })
    .meta({ id: 'MergeRequestDiff' });
export const listedDiffs = shape(() => z.array(listedDiff()));

const versionFields = () => ({
  id: z.int(),
  head_commit_sha: z.string(),
  base_commit_sha: z.string().nullable().describe('Merge base; null: the branches have no common commit'),
  start_commit_sha: z.string().describe('Head of the target branch when the version was made'),
  created_at: time(),
  merge_request_id: z.int(),
  state: z.enum(['collected', 'empty']),
  real_size: z.string().nullable().describe('Number of changed files; `1000+` above that'),
});
export const versions = shape(() => z.array(z.object(versionFields()).meta({ id: 'MergeRequestVersion' })));
export const versionWithDiffs = shape(() =>
  z
    .object({ ...versionFields(), commits: commits(), diffs: fileDiffs() })
    .meta({ id: 'MergeRequestVersionWithDiffs' }),
);
