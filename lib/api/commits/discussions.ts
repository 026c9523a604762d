import type { ProjectAccess } from '../../domain/access/types.ts';
import { commitWithNotes } from '../../domain/commits/comments.ts';
import { actingCommit } from '../../domain/quick-actions/commits.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { discussionEndpoints } from '../notes/discussions.ts';

export const commitDiscussionEndpoints = discussionEndpoints<ProjectAccess>({
  path: '/projects/:id/repository/commits/:sha',
  area: 'commits',
  object: 'a commit',
  missing: 'Commit',
  access: project('read_history'),
  params: () => ({
    sha: p.string({ required: true, description: 'SHA of the commit, or name of a branch or tag' }),
  }),
  prefetch: ({ sha }) => ({ revisions: [String(sha)] }),
  open: async (deps, actor, access, { sha }) =>
    actingCommit(deps, actor, access)(await commitWithNotes(deps, actor, access, String(sha))),
});
