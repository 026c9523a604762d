import type { AuditedSettings } from './types.ts';

/** Settings of features that do not exist yet: each moves to the file of its subject. */
export const waiting: AuditedSettings = {
  groups: { shared_runners_minutes_limit: null },
  projects: {
    analytics_access_level: 'enabled',
    builds_access_level: 'enabled',
    container_registry_access_level: 'enabled',
    issues_access_level: 'enabled',
    merge_requests_access_level: 'enabled',
    operations_access_level: 'enabled',
    packages_enabled: true,
    pages_access_level: 'private',
    public_builds: true,
    requirements_access_level: 'enabled',
    snippets_access_level: 'enabled',
    wiki_access_level: 'enabled',
  },
};
