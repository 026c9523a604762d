import { ZERO_OID } from '../../git/oid.ts';
import { RefConflict } from '../../git/ports.ts';
import { shortName } from '../../git/refname.ts';
import { can, signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { forbidden, notFound } from '../errors.ts';
import { identityOf } from './identity.ts';
import { openRepository } from './open.ts';

/**
 * Creates the first commit of an empty repository: a README on the branch that HEAD points to. No rule protects it yet.
 * @returns the project with its new default branch
 * @throws 403 if the repository is disabled, 404 if the project was deleted meanwhile
 */
export async function createInitialReadme(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
): Promise<ProjectAccess> {
  if (!can(actor, access, 'push_code')) throw forbidden();
  const { project } = access;
  const ports = openRepository(deps, project, { pusher: actor });
  const branch = await ports.refs.head();
  const description = project.description ? `\n${project.description}\n` : '';
  const content = Buffer.from(`# ${project.name}\n${description}`);
  const author = identityOf(signedIn(actor).user, deps.now());
  // Loaded when it is called for: nothing else of what creates projects writes commits.
  const { commitChanges } = await import('../../git/commit-changes.ts');
  try {
    await commitChanges(ports, {
      branch,
      expected: ZERO_OID,
      actions: [{ action: 'create', path: 'README.md', content }],
      author,
      committer: author,
      message: 'Initial commit',
    });
  } catch (error) {
    throw error instanceof RefConflict ? notFound('Project') : error;
  }
  return { ...access, project: { ...project, defaultBranch: shortName(branch) } };
}
