import type { ProjectRecord } from '../../records/projects.ts';
import type { Deps } from '../deps.ts';

/** What a new project is set to: what was given, and else as the instance has it for new projects. */
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
