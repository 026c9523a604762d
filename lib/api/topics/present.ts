import type { Actor } from '../../domain/actor.ts';
import { projectsCountFor } from '../../domain/topics/topics.ts';
import type { TopicRecord } from '../../records/topics.ts';
import { avatarUrl } from '../avatars/avatar-url.ts';

export const topic = (record: TopicRecord, actor: Actor, baseUrl: string) => ({
  id: record.id,
  name: record.name,
  title: record.title,
  description: record.description,
  total_projects_count: projectsCountFor(actor, record),
  avatar_url: avatarUrl('projects/topic', record, baseUrl),
});
