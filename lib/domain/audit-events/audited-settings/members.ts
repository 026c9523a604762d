import type { AuditedSettings } from './types.ts';

export const members: AuditedSettings = {
  groups: { membership_lock: false, require_two_factor_authentication: false, two_factor_grace_period: 48 },
  projects: {},
};
