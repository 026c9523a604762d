import type { AuditedSettings } from './types.ts';

export const repository: AuditedSettings = {
  groups: { lfs_enabled: true },
  projects: { repository_access_level: 'enabled' },
};
