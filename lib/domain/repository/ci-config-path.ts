import type { ProjectRecord } from '../../records/projects.ts';

const CONFIG_FILE = '.gitlab-ci.yml';

/**
 * Where the configuration of a project's pipelines is; `path@group/project` and `path@group/project:ref` are of another
 * project.
 */
export const ciConfigPath = ({ settings }: Pick<ProjectRecord, 'settings'>): string =>
  typeof settings['ci_config_path'] === 'string' && settings['ci_config_path'] !== ''
    ? settings['ci_config_path']
    : CONFIG_FILE;
