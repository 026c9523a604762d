import { licenseNamed } from '../../domain/statistics/licenses.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { ProjectStatistics } from '../../store/statistics/statistics.ts';

/** URL of a project's licence file and the licence detected in it, as a worker last measured them. */
export function license(project: ProjectRecord, measured: ProjectStatistics | undefined, projectUrl: string) {
  const found = measured?.license ?? null;
  if (found === null || project.defaultBranch === null) return { license_url: null, license: null };
  const { key, name, nickname } = licenseNamed(found.key);
  const known = key !== 'other';
  return {
    license_url: `${projectUrl}/-/blob/${project.defaultBranch}/${found.path}`,
    license: {
      key,
      name,
      nickname,
      html_url: known ? `https://choosealicense.com/licenses/${key}/` : null,
      source_url: null,
    },
  };
}
