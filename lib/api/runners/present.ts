import { isOnline, type ShownRunner, statusOf } from '../../domain/runners/runners.ts';
import type { RunnerRecord } from '../../records/runners.ts';
import { projectIdentity } from '../projects/identity.ts';

/** A runner as jobs name it, and the beginning of all others. */
export const runnerBasic = (record: RunnerRecord, now: Date) => ({
  id: record.id,
  description: record.description,
  ip_address: record.ipAddress,
  active: !record.paused,
  is_shared: record.type === 'instance_type',
  name: record.name,
  online: isOnline(record, now),
  status: statusOf(record, now),
});

export const runner = (record: RunnerRecord, now: Date) => ({
  ...runnerBasic(record, now),
  paused: record.paused,
  runner_type: record.type,
});

export const runnerDetails = (
  { runner: record, projects, groups }: ShownRunner,
  now: Date,
  baseUrl: string,
) => ({
  ...runner(record, now),
  tag_list: [...record.tags],
  run_untagged: record.runUntagged,
  locked: record.locked,
  maximum_timeout: record.maximumTimeout,
  access_level: record.accessLevel,
  version: record.version,
  revision: record.revision,
  platform: record.platform,
  architecture: record.architecture,
  contacted_at: record.contactedAt,
  projects: projects.map(projectIdentity),
  groups: groups.map(({ id, fullPath, name }) => ({ id, web_url: `${baseUrl}/groups/${fullPath}`, name })),
});
