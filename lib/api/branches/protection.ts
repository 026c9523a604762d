/** The older way to protect one branch that exists; it changes the same rules as `protected_branches`. */
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
  { status: 400, description: 'No name of a branch' },
  { status: 404, description: 'No such branch' },
];

const protect = endpoint({
  method: 'PUT',
  path: '/projects/:id/repository/branches/:branch/protect',
  area,
  summary: 'Protect a branch, or change who may push and merge',
  access,
  body: () =>
    p.params({
      developers_can_push: p.boolean({ description: 'Developers may push; Maintainers only when false' }),
      developers_can_merge: p.boolean({ description: 'Developers may merge; Maintainers only when false' }),
    }),
  returns: { body: shapes.branch },
  errors: [
    ...errors,
    { status: 409, description: 'Others change the rule at this moment' },
    { status: 422, description: 'The project has as many rules as one may have' },
  ],
  handle: async ({ actor, project, params, body, request }, deps) => {
    const record = await getBranch(codeOf(deps, project), params.branch);
    const developers = { push: body.developers_can_push, merge: body.developers_can_merge };
    await protectOneBranch(deps, actor, project, record.name, developers);
    return shown(deps, actor, project, record, request.baseUrl);
  },
});

const unprotect = endpoint({
  method: 'PUT',
  path: '/projects/:id/repository/branches/:branch/unprotect',
  area,
  summary: 'Take the protection of a branch away',
  access,
  returns: { body: shapes.branch },
  errors: [...errors, { status: 409, description: 'Others change the rule at this moment' }],
  handle: async ({ actor, project, params, request }, deps) => {
    const record = await getBranch(codeOf(deps, project), params.branch);
    await unprotectOneBranch(deps, actor, project, record.name);
    return shown(deps, actor, project, record, request.baseUrl);
  },
});

export const branchProtectionEndpoints = [protect, unprotect];

async function shown(
  deps: ApiDeps,
  actor: Actor,
  access: ProjectAccess,
  record: Awaited<ReturnType<typeof getBranch>>,
  baseUrl: string,
) {
  return branch(record, projectUrl(access.project, baseUrl), await branchProtection(deps, access), actor);
}
