import { isExpired } from '../../domain/milestones/milestones.ts';
import type { MilestoneRecord } from '../../records/milestones.ts';

/** @param containerUrl URL of the page of its project or group */
export const milestone = (record: MilestoneRecord, containerUrl: string, now: Date) => ({
  id: record.id,
  iid: record.iid,
  ...(record.container.kind === 'project'
    ? { project_id: record.container.id }
    : { group_id: record.container.id }),
  title: record.title,
  description: record.description,
  state: record.state,
  created_at: record.createdAt,
  updated_at: record.updatedAt,
  due_date: record.dueDate,
  start_date: record.startDate,
  expired: isExpired(record, now),
  web_url: `${containerUrl}/-/milestones/${record.iid}`,
});
