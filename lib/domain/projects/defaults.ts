import type { ProjectRecord } from '../../records/projects.ts';
import type { Deps } from '../deps.ts';

/** Returns the settings of a new project: the given ones, else the defaults of the instance. */
export async function newProjectSettings(
  { settings }: Pick<Deps, 'settings'>,
  given: ProjectRecord['settings'],
): Promise<ProjectRecord['settings']> {
  const { shared_runners_enabled: runners, default_ci_config_path: path } = await settings.current();
  return {
    ...(runners ? {} : { shared_runners_enabled: false }),
    ...(path ? { ci_config_path: path } : {}),
    ...given,
  };
}
