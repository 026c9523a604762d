import { diffLimits } from '../../domain/repository/diff-limits.ts';
import { bounded, codeOf, resolved } from '../../domain/repository/read.ts';
import { project } from '../../http/access.ts';
import { endpoint } from '../endpoint.ts';
import { commitSha } from './params.ts';
import { fileDiff } from './present.ts';
import * as shapes from './shapes.ts';

/** The whole diff is computed within its limits and then paginated, so that pages are consistent with each other. */
export const commitDiff = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/diff',
  area: 'commits',
  summary: 'Get the diff of a commit',
  description:
    'Lists the changed files, compared with the first parent. The diff is limited by the settings `diff_max_files` ' +
    '(default 1,000), `diff_max_patch_bytes` for each file (200 KB) and `diff_max_lines` (50,000), and to 4 MB in total.',
  access: project('read_history', { anonymous: true }),
  params: commitSha,
  returns: { body: shapes.fileDiffs },
  paginate: 'offset',
  errors: [{ status: 404, description: 'Commit not found' }],
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
