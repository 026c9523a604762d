import { diffLimits } from '../../domain/repository/diff-limits.ts';
import { bounded, codeOf, resolved } from '../../domain/repository/read.ts';
import { project } from '../../http/access.ts';
import { endpoint } from '../endpoint.ts';
import { fileDiff } from './present.ts';
import * as shapes from './shapes.ts';

/** Pages are cut from one diff within the limits of a whole, so that they agree with each other. */
export const commitDiff = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/diff',
  area: 'commits',
  summary: 'List what a commit changed, file by file',
  description:
    'Against its first parent. As much as `diff_max_files`, `diff_max_patch_bytes` of each file and `diff_max_lines` of ' +
    'the settings allow (1,000, 200 KB and 50,000), with 4 MB of text in all.',
  access: project('read_history', { anonymous: true }),
  returns: { body: shapes.fileDiffs },
  paginate: 'offset',
  errors: [{ status: 404, description: 'No such commit' }],
  prefetch: ({ params }) => ({ revisions: [params.sha] }),
  handle: async ({ project, params, page }, deps) => {
    const git = codeOf(deps, project);
    const { commit } = await resolved(git, params.sha);
    const limits = await diffLimits(deps);
    const { files } = await bounded(() => git.commitDiff(commit, limits));
    return {
      items: files.slice(page.offset, page.offset + page.perPage).map(fileDiff),
      total: files.length,
    };
  },
});
