import { type Key, padded } from './key.ts';
import { projectKey } from './projects.ts';
import type { RowKind } from './row-kind.ts';

export const topicKey = (id: number): Key => ({ pk: `TOPIC#${padded(id)}`, sk: 'TOPIC' });

/** A topic of this project, with the name by which the project's record has it. */
export const PROJECT_TOPIC = 'TOPIC#';

export const projectTopicKey = (projectId: number, topicId: number): Key => ({
  pk: projectKey(projectId).pk,
  sk: `${PROJECT_TOPIC}${padded(topicId)}`,
});

export const rowKinds = [
  { name: 'topic', partitions: ['TOPIC#'], keys: { topicKey }, of: ['instance'] },
  { name: 'project-topic', partitions: ['PROJECT#'], keys: { projectTopicKey }, of: ['project'] },
] as const satisfies readonly RowKind[];
