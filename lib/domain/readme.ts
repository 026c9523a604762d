import { shortName } from '../git/refname.ts';
import type { Actor, ProjectAccess } from './access.ts';
import { codeOf } from './code.ts';
import { commitActions } from './commit-actions.ts';
import type { Deps } from './deps.ts';

/**
 * The first commit of an empty repository: a README on the branch HEAD points to.
 * @returns the project as it is now
 */
export async function createInitialReadme(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
): Promise<ProjectAccess> {
  const { project } = access;
  const branch = shortName((await codeOf(deps, access).branches()).head);
  const description = project.description ? `\n${project.description}\n` : '';
  const content = Buffer.from(`# ${project.name}\n${description}`);
  await commitActions(
    deps,
    actor,
    access,
    {
      branch,
      message: 'Initial commit',
      actions: [{ edit: { action: 'create', path: 'README.md', content } }],
    },
    { stale: () => '' },
  );
  return { ...access, project: { ...project, defaultBranch: branch } };
}
