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
  description: "The group's members, inherited ones too, get at most the level given.",
  access: project('admin_project'),
  body: () =>
    p.params({
      group_id: p.integer({ required: true, description: 'The group to invite' }),
      group_access: p.integer({ required: true, values: [10, 20, 30, 40] }),
      expires_at: p.date({ nullable: true, description: 'The day it ends, `YYYY-MM-DD`' }),
    }),
  returns: { body: shapes.projectShare },
  errors: [
    { status: 400, description: "The project's groups do not allow it, or the day is past" },
    { status: 404, description: 'The group to invite is absent, or not yours to see' },
    { status: 409, description: 'It is invited already, or the project stands in it' },
  ],
  handle: async ({ actor, project, body }, deps) => {
    const made = await shareProject(deps, actor, project, {
      groupId: body.group_id,
      accessLevel: body.group_access as AccessLevel,
      expiresAt: body.expires_at ?? null,
    });
    return {
      id: made.id,
      project_id: project.project.id,
      group_id: made.groupId,
      group_access: made.accessLevel,
      expires_at: made.expiresAt,
    };
  },
});

const unshare = endpoint({
  method: 'DELETE',
  path: '/projects/:id/share/:group_id',
  area,
  summary: 'End the sharing of a project with a group',
  access: project('admin_project'),
  params: () => p.params({ group_id: p.integer({ required: true, description: 'The invited group' }) }),
  returns: { status: 204 },
  errors: [
    { status: 404, description: 'It is not invited' },
    { status: 409, description: 'The project changed meanwhile' },
  ],
  handle: async ({ actor, project, params, unmodifiedSince }, deps) => {
    unmodifiedSince(shareWith(project.project, params.group_id, deps.now()).createdAt);
    await unshareProject(deps, actor, project, params.group_id);
    return noContent();
  },
});

export const shareEndpoints = [share, unshare];
