/** The project or group of a request, and what it inherits labels and milestones from. */

import type { Container } from '../../records/labels.ts';
import type { GroupAccess, ProjectAccess } from '../access/types.ts';

export type ContainerAccess = ProjectAccess | GroupAccess;

export const containerOf = (access: ContainerAccess): Container =>
  'project' in access ? { kind: 'project', id: access.project.id } : { kind: 'group', id: access.group.id };

/** The groups above, the nearest first. */
export const above = (access: ContainerAccess): Container[] =>
  ('project' in access ? access.project : access.group).ancestorIds
    .map((id) => ({ kind: 'group', id }) as const)
    .toReversed();

/** The project or group itself, then the groups above it. */
export const withAbove = (access: ContainerAccess): Container[] => [containerOf(access), ...above(access)];

export const sameContainer = (a: Container, b: Container): boolean => a.kind === b.kind && a.id === b.id;
