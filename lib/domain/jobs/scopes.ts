import type { ProjectRecord } from '../../records/projects.ts';

/** The runners of the whole instance. */
export const INSTANCE_SCOPE = 'instance';
export const groupScope = (groupId: number): string => `group#${groupId}`;
export const projectScope = (projectId: number): string => `project#${projectId}`;

/** The queues that jobs of a project wait in: those of the runners that may take them. */
export const scopesOf = ({ id, ancestorIds, settings }: ProjectRecord): readonly string[] => [
  ...(settings['shared_runners_enabled'] === false ? [] : [INSTANCE_SCOPE]),
  ...(settings['group_runners_enabled'] === false ? [] : ancestorIds.map(groupScope)),
  projectScope(id),
];
