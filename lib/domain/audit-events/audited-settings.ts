/** Collects the settings whose changes are audit events, from a file per subject in `audited-settings/`. */

import { accessRequests } from './audited-settings/access-requests.ts';
import { approvals } from './audited-settings/approvals.ts';
import { forks } from './audited-settings/forks.ts';
import { groups } from './audited-settings/groups.ts';
import { members } from './audited-settings/members.ts';
import { repository } from './audited-settings/repository.ts';
import type { AuditedSettings, SettingDefaults } from './audited-settings/types.ts';
import { waiting } from './audited-settings/waiting.ts';

export type { SettingDefaults, SettingValue } from './audited-settings/types.ts';

const ALL: readonly AuditedSettings[] = [
  accessRequests,
  approvals,
  forks,
  groups,
  members,
  repository,
  waiting,
];

/** Sorted by name: the events of one change are recorded in this order. */
const of = (kind: keyof AuditedSettings): SettingDefaults =>
  Object.fromEntries(ALL.flatMap((one) => Object.entries(one[kind])).sort(([a], [b]) => (a < b ? -1 : 1)));

export const AUDITED_SETTINGS: AuditedSettings = { groups: of('groups'), projects: of('projects') };
