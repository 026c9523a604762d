import type { AuditedSettings } from './types.ts';

export const accessRequests: AuditedSettings = {
  groups: { request_access_enabled: true },
  projects: { request_access_enabled: true },
};
