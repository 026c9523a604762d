import type { Actor, ProjectAccess } from './access.ts';
import type { Deps } from './deps.ts';
export async function createInitialReadme(_deps: Deps, _actor: Actor, access: ProjectAccess): Promise<ProjectAccess> {
  return access;
}
