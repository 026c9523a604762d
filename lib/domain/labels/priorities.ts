/** Priorities of labels in projects, which give those of groups above them one of their own. */

import type { LabelRecord } from '../../records/labels.ts';
import type { Deps } from '../deps.ts';
import type { ContainerAccess } from './containers.ts';

/** The labels as a project has them, with their priorities there; a group has them as they are. */
export async function rankedIn(
  { store }: Deps,
  access: ContainerAccess,
  labels: readonly LabelRecord[],
): Promise<LabelRecord[]> {
  if (!('project' in access)) return [...labels];
  const { id: projectId } = access.project;
  const priorities = await store.labels.priorities(labels.map((label) => ({ label, projectId })));
  return labels.map((label, i) => ({ ...label, priority: priorities[i]! }));
}
