/** Where the configuration of a project is. */

import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { ciConfigPath } from '../repository/ci-config-path.ts';
import { type ConfigSource, elsewhere, filesOf } from './includes.ts';

/**
 * Returns the configuration of a commit; undefined where there is none.
 * @throws ConfigError for one of a project that the actor may not read, or of a server that does not answer with it
 */
export async function configText(
  deps: Deps,
  actor: Actor,
  { project }: ProjectAccess,
  { git, commit }: Pick<ConfigSource, 'git' | 'commit'>,
): Promise<string | undefined> {
  const path = ciConfigPath(project);
  if (/^https?:\/\//i.test(path)) return elsewhere(deps, actor).remote(path);
  const [, file, other, ref] = /^([^@]+)@([^:@]+)(?::(.+))?$/.exec(path) ?? [];
  if (file === undefined || other === undefined) return filesOf(git, commit).read(path);
  return (await elsewhere(deps, actor).project(other, ref)).read(file);
}
