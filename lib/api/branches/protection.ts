/** The older endpoints that protect one existing branch; they change the same rules as `protected_branches`. */
import type { ProjectAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import { getBranch } from '../../domain/branches/branches.ts';
import { protectOneBranch, unprotectOneBranch } from '../../domain/branches/protected-branches.ts';
import { branchProtection } from '../../domain/refs/protection.ts';
import { codeOf } from '../../domain/repository/read.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { type ApiDeps, endpoint } from '../endpoint.ts';
import { projectUrl } from '../projects/present.ts';
import { branch } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'branches';
const access = project('admin_project');
const errors = [
  { status: 400, description: 'The branch name is invalid' },
  { status: 404, description: 'Branch not found' },
];
const concurrent = { status: 409, description: 'Changed by a concurrent request' };
const branchName = () =>
  p.params({ branch: p.string({ required: true, description: 'Name of the branch' }) });

const protect = endpoint({
  method: 'PUT',
  path: '/projects/:id/repository/branches/:branch/protect',
  area,
  summary: 'Protect a branch',
  description: 'Updates the permissions if the branch is already protected.',
  access,
  params: branchName,
  body: () =>
    p.params({
      developers_can_push: p.boolean({
        description: 'Allow Developers to push; if false, only Maintainers can',
      }),
      developers_can_merge: p.boolean({
        description: 'Allow Developers to merge; if false, only Maintainers can',
      }),
    }),
  returns: { body: shapes.branch },
  errors: [
    ...errors,
    concurrent,
    { status: 422, description: 'The project has the maximum number of rules' },
  ],
  handle: async ({ actor, project, params, body, request }, deps) => {
    const record = await getBranch(codeOf(deps, project), params.branch);
    const developers = { push: body.developers_can_push, merge: body.developers_can_merge };
    await protectOneBranch(deps, actor, project, record.name, developers);
    return presentBranch(deps, actor, project, record, request.baseUrl);
  },
});

const unprotect = endpoint({
  method: 'PUT',
  path: '/projects/:id/repository/branches/:branch/unprotect',
  area,
  summary: 'Unprotect a branch',
  access,
  params: branchName,
  returns: { body: shapes.branch },
  errors: [...errors, concurrent],
  handle: async ({ actor, project, params, request }, deps) => {
    const record = await getBranch(codeOf(deps, project), params.branch);
    await unprotectOneBranch(deps, actor, project, record.name);
    return presentBranch(deps, actor, project, record, request.baseUrl);
  },
});

export const branchProtectionEndpoints = [protect, unprotect];

async function presentBranch(
  deps: ApiDeps,
  actor: Actor,
  access: ProjectAccess,
  record: Awaited<ReturnType<typeof getBranch>>,
  baseUrl: string,
) {
  return branch(
    record,
    projectUrl(access.project, baseUrl),
    await branchProtection(deps, access, actor),
    actor,
  );
}
