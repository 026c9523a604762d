import { group, project } from '../../http/access.ts';

/** Projects and groups have the same endpoints for invitations, access requests and notification settings. */
export const MEMBERSHIP_RESOURCES = {
  project: {
    base: '/projects/:id',
    readers: project('read_project'),
    managers: project('admin_members'),
    levels: '10 (Guest), 20 (Reporter), 30 (Developer) or 40 (Maintainer)',
  },
  group: {
    base: '/groups/:id',
    readers: group('read_group'),
    managers: group('admin_group_members'),
    levels: '10 (Guest), 20 (Reporter), 30 (Developer), 40 (Maintainer) or 50 (Owner)',
  },
} as const;

export type MembershipResourceKind = keyof typeof MEMBERSHIP_RESOURCES;
