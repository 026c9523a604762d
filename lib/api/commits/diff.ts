import { bounded, codeOf, resolved } from '../../domain/code.ts';
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
  description: 'Against its first parent. At most 1,000 files, with 4 MB of text in all and 200 KB for one.',
  access: project('read_history', { anonymous: true }),
  returns: { body: shapes.fileDiffs },
  paginate: 'offset',
  errors: [{ status: 404, description: 'No such commit' }],
  first: ({ params }) => ({ revisions: [params.sha] }),
  handle: async ({ project, params, page }, deps) => {
    const git = codeOf(deps, project);
    const { commit } = await resolved(git, params.sha);
    const { files } = await bounded(() => git.commitDiff(commit));
    return {
      items: files.slice(page.offset, page.offset + page.perPage).map(fileDiff),
      total: files.length,
    };
  },
});
