import type { AuditedSettings } from './types.ts';

export const forks: AuditedSettings = {
  groups: {},
  projects: { forking_access_level: 'enabled' },
};
