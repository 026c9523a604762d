import type { ProjectAccess } from '../../domain/access/types.ts';
import { type PickInput, pickCommit } from '../../domain/commits/pick.ts';
import { project, type SignedInActor } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { json } from '../../http/reply.ts';
import { type ApiDeps, endpoint } from '../endpoint.ts';
import { projectUrl } from '../projects/present.ts';
import { commitSha } from './params.ts';
import { commitDetail } from './present.ts';
import * as shapes from './shapes.ts';

const sharedDeclaration = {
  method: 'POST',
  area: 'commits',
  access: project('read_history'),
  params: commitSha,
  returns: {
    body: shapes.commitDetail,
    or: {
      status: 200,
      body: shapes.dryRun,
      description: 'Dry run: the change can be applied; nothing was committed',
    },
  },
  errors: [
    { status: 400, description: 'The change cannot be applied: `error_code` is `empty` or `conflict`' },
    { status: 403, description: 'Not allowed to push to the branch' },
    { status: 404, description: 'Commit or branch not found' },
  ],
} as const;

const targetFields = () => ({
  branch: p.string({ required: true, blank: false, description: 'Branch to commit to' }),
  dry_run: p.boolean({
    default: false,
    description: 'Check whether the change can be applied, without committing it',
  }),
});

const cherryPick = endpoint({
  ...sharedDeclaration,
  path: '/projects/:id/repository/commits/:sha/cherry_pick',
  summary: 'Cherry-pick a commit',
  body: () =>
    p.params({
      ...targetFields(),
      message: p.string({ description: 'Commit message. Default: that of the cherry-picked commit' }),
    }),
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
  ...sharedDeclaration,
  path: '/projects/:id/repository/commits/:sha/revert',
  summary: 'Revert a commit',
  body: () => p.params(targetFields()),
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
  const picked = await pickCommit(deps, actor, access, kind, input, async (merge) => {
    // Few commits that are picked are merges.
    const { mergeRequestOfMerge } = await import('../../domain/merge-requests/of-merges.ts');
    return mergeRequestOfMerge(deps, actor, access, merge);
  });
  if (picked === undefined) return json({ dry_run: 'success' });
  const counted = await picked.git.stats(picked.commit.oid);
  return commitDetail(picked.commit, projectUrl(access.project, baseUrl), access.project.id, counted);
}
