import type { ProjectAccess } from '../../domain/access/types.ts';
import { type PickInput, pickCommit } from '../../domain/commits/pick.ts';
import type { SignedInActor } from '../../http/access.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { json } from '../../http/reply.ts';
import { type ApiDeps, endpoint } from '../endpoint.ts';
import { projectUrl } from '../projects/present.ts';
import { commitDetail } from './present.ts';
import * as shapes from './shapes.ts';

const declared = {
  method: 'POST',
  area: 'commits',
  access: project('read_history'),
  returns: {
    body: shapes.commitDetail,
    or: { status: 200, body: shapes.dryRun, description: 'It would go; nothing was written' },
  },
  errors: [
    { status: 400, description: 'It does not go by itself: `error_code` is `empty` or `conflict`' },
    { status: 403, description: 'No right to push to the branch' },
    { status: 404, description: 'No such commit or branch' },
  ],
} as const;

const target = () => ({
  branch: p.string({ required: true, blank: false, description: 'Branch to commit to' }),
  dry_run: p.boolean({ default: false, description: 'Write nothing' }),
});

const cherryPick = endpoint({
  ...declared,
  path: '/projects/:id/repository/commits/:sha/cherry_pick',
  summary: 'Put what a commit changed upon a branch',
  body: () => p.params({ ...target(), message: p.string({ description: 'In place of that of the commit' }) }),
  prefetch: ({ params }) => ({ revisions: [params.sha], rules: 'branch' }),
  handle: ({ actor, project, params, body, request }, deps) =>
    pick(deps, actor, project, 'cherry-pick', request.baseUrl, {
      sha: params.sha,
      branch: body.branch,
      message: body.message,
      dryRun: body.dry_run,
    }),
});

const revert = endpoint({
  ...declared,
  path: '/projects/:id/repository/commits/:sha/revert',
  summary: 'Take back on a branch what a commit changed',
  body: () => p.params(target()),
  prefetch: ({ params }) => ({ revisions: [params.sha], rules: 'branch' }),
  handle: ({ actor, project, params, body, request }, deps) =>
    pick(deps, actor, project, 'revert', request.baseUrl, {
      sha: params.sha,
      branch: body.branch,
      dryRun: body.dry_run,
    }),
});

export const pickEndpoints = [cherryPick, revert];

async function pick(
  deps: ApiDeps,
  actor: SignedInActor,
  access: ProjectAccess,
  kind: 'cherry-pick' | 'revert',
  baseUrl: string,
  input: PickInput,
) {
  const made = await pickCommit(deps, actor, access, kind, input);
  if (made === undefined) return json({ dry_run: 'success' });
  const counted = await made.git.stats(made.commit.oid);
  return commitDetail(made.commit, projectUrl(access.project, baseUrl), access.project.id, counted);
}
