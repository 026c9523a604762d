import { shareProject, shareWith, unshareProject } from '../../domain/project-relations/shares.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import type { AccessLevel } from '../../records/members.ts';
import { endpoint } from '../endpoint.ts';
import * as shapes from './shapes.ts';

const area = 'project-relations';

const share = endpoint({
  method: 'POST',
  path: '/projects/:id/share',
  area,
  summary: 'Share a project with a group',
  description:
    "The group's direct and inherited members get their own access level, limited to `group_access`.",
  access: project('admin_project'),
  body: () =>
    p.params({
      group_id: p.integer({ required: true, description: 'Id of the group to share with' }),
      group_access: p.integer({
        required: true,
        values: [10, 20, 30, 40],
        description: 'Highest access level that members of the group get',
      }),
      expires_at: p.date({ nullable: true, description: 'Date on which the share ends (`YYYY-MM-DD`)' }),
    }),
  returns: { body: shapes.projectShare },
  errors: [
    { status: 400, description: 'Sharing is disabled for the parent group, or the date is in the past' },
    { status: 404, description: 'The group does not exist, or the caller may not see it' },
    { status: 409, description: 'The project is already shared with the group, or belongs to it' },
  ],
  handle: async ({ actor, project, body }, deps) => {
    const created = await shareProject(deps, actor, project, {
      groupId: body.group_id,
      accessLevel: body.group_access as AccessLevel,
      expiresAt: body.expires_at ?? null,
    });
    return {
      id: created.id,
      project_id: project.project.id,
      group_id: created.groupId,
      group_access: created.accessLevel,
      expires_at: created.expiresAt,
    };
  },
});

const unshare = endpoint({
  method: 'DELETE',
  path: '/projects/:id/share/:group_id',
  area,
  summary: 'Stop sharing a project with a group',
  access: project('admin_project'),
  params: () => p.params({ group_id: p.integer({ required: true, description: 'Id of the group' }) }),
  returns: { status: 204 },
  errors: [
    { status: 404, description: 'The project is not shared with the group' },
    { status: 409, description: 'The project was changed by another request' },
  ],
  handle: async ({ actor, project, params, unmodifiedSince }, deps) => {
    unmodifiedSince(shareWith(project.project, params.group_id, deps.now()).createdAt);
    await unshareProject(deps, actor, project, params.group_id);
    return noContent();
  },
});

export const shareEndpoints = [share, unshare];
