import type { MemberPlace } from '../../domain/members/list.ts';
import { group, project } from '../../http/access.ts';

/** The same endpoints for both: who is let into a project, or into a group. */
export const PLACES = {
  project: {
    base: '/projects/:id',
    readers: project('read_project'),
    managers: project('admin_members'),
    levels: '10, 20, 30 or 40',
  },
  group: {
    base: '/groups/:id',
    readers: group('read_group'),
    managers: group('admin_group_members'),
    levels: '10, 20, 30, 40 or 50',
  },
} as const;

export type PlaceKind = keyof typeof PLACES;

/** What the access rule found. */
export const placeOf = (found: {
  project?: MemberPlace | undefined;
  group?: MemberPlace | undefined;
}): MemberPlace => (found.project ?? found.group)!;
