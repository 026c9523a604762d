import { askForGroupDeletion, restoreGroup } from '../../domain/groups/deletion.ts';
import { createGroup, updateGroup } from '../../domain/groups/groups.ts';
import { shareGroup, unshareGroup } from '../../domain/groups/shares.ts';
import { transferGroup } from '../../domain/groups/transfer.ts';
import { group, signedIn } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { accepted, noContent } from '../../http/reply.ts';
import type { AccessLevel } from '../../records/members.ts';
import { VISIBILITIES } from '../../records/visibility.ts';
import { avatarField } from '../avatars/avatar-field.ts';
import { endpoint } from '../endpoint.ts';
import { accepted as acceptedShape } from '../meta/shapes.ts';
import { groupDetail } from './presented.ts';
import { laterFields, settingFields, settingsOf } from './settings.ts';
import * as shapes from './shapes.ts';

const area = 'groups';

const create = endpoint({
  method: 'POST',
  path: '/groups',
  area,
  summary: 'Create a group',
  access: signedIn(),
  body: () =>
    p.params({
      name: p.string({ required: true }),
      path: p.string({ required: true, description: 'Last part of the URL' }),
      parent_id: p.integer({ description: 'Of the group it is to stand in' }),
      visibility: p.oneOf(VISIBILITIES, { description: "The instance's default when absent" }),
      description: p.string({ nullable: true }),
      avatar: avatarField(),
      ...settingFields(),
    }),
  returns: { body: shapes.groupDetail },
  errors: [
    { status: 400, description: '`Failed to save group {...}`' },
    { status: 404, description: 'The parent is absent, or not yours to see' },
    { status: 409, description: 'The parent changed meanwhile' },
  ],
  handle: async ({ actor, body, request }, deps) => {
    const made = await createGroup(deps, actor, {
      name: body.name,
      path: body.path,
      parentId: body.parent_id,
      visibility: body.visibility,
      description: body.description ?? '',
      avatar: body.avatar,
      settings: settingsOf(body),
    });
    return groupDetail(deps, actor, made, request.baseUrl);
  },
});

const update = endpoint({
  method: 'PUT',
  path: '/groups/:id',
  area,
  summary: 'Change a group',
  description: 'A new path takes everything inside along; the former paths lead on.',
  access: group('admin_group'),
  body: () =>
    p.params({
      name: p.string(),
      path: p.string(),
      visibility: p.oneOf(VISIBILITIES),
      description: p.string({ nullable: true }),
      avatar: avatarField(),
      ...settingFields(),
      ...laterFields(),
    }),
  returns: { body: shapes.groupDetail },
  errors: [
    { status: 400, description: 'Invalid, by field' },
    { status: 409, description: 'It changed meanwhile, or moves' },
  ],
  handle: async ({ actor, group: access, body, request }, deps) => {
    const changed = await updateGroup(deps, actor, access, {
      ...(body.name === undefined ? {} : { name: body.name }),
      ...(body.path === undefined ? {} : { path: body.path }),
      ...(body.visibility === undefined ? {} : { visibility: body.visibility }),
      ...(body.description === undefined ? {} : { description: body.description ?? '' }),
      avatar: body.avatar,
      settings: settingsOf(body),
    });
    return groupDetail(deps, actor, { group: changed }, request.baseUrl, { withProjects: true });
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/groups/:id',
  area,
  summary: 'Delete a group with all inside',
  description: 'It waits for as many days as the instance has it, takes nothing new, and can be restored.',
  access: group('remove_group'),
  query: () =>
    p.params({
      permanently_remove: p.boolean({ description: 'At once, when it waits already; of groups in others' }),
      full_path: p.string({ description: 'Of the group, to be sure; needed with `permanently_remove`' }),
    }),
  returns: {
    body: acceptedShape,
    status: 202,
    description: 'Gone at once, unless it waits; what it held is taken away afterwards',
  },
  errors: [
    { status: 400, description: 'It does not wait yet, or the path is another' },
    { status: 409, description: 'It changed meanwhile' },
  ],
  handle: async ({ actor, group: access, query, unmodifiedSince }, deps) => {
    unmodifiedSince(access.group.updatedAt);
    await askForGroupDeletion(deps, actor, access, {
      permanently: query.permanently_remove,
      fullPath: query.full_path,
    });
    return accepted();
  },
});

const restore = endpoint({
  method: 'POST',
  path: '/groups/:id/restore',
  area,
  summary: 'Restore a group that waits for its deletion',
  access: group('remove_group'),
  returns: { body: shapes.groupDetail },
  errors: [
    { status: 400, description: 'It does not wait for its deletion' },
    { status: 409, description: 'It changed meanwhile' },
  ],
  handle: async ({ actor, group: access, request }, deps) => {
    const restored = await restoreGroup(deps, actor, access);
    return groupDetail(deps, actor, { group: restored }, request.baseUrl, { withProjects: true });
  },
});

const transfer = endpoint({
  method: 'POST',
  path: '/groups/:id/transfer',
  area,
  summary: 'Put a group into another, or outside of all',
  access: group('admin_group'),
  body: () => p.params({ group_id: p.integer({ description: 'Outside of all when absent' }) }),
  returns: { body: shapes.groupDetail },
  errors: [
    { status: 400, description: '`Transfer failed: ...`' },
    { status: 404, description: 'The other group is absent, or not yours to see' },
    { status: 409, description: 'One of them changed meanwhile, or moves' },
  ],
  handle: async ({ actor, group: access, body, request }, deps) => {
    const moved = await transferGroup(deps, actor, access, body.group_id);
    return groupDetail(deps, actor, { group: moved }, request.baseUrl, { withProjects: true });
  },
});

const share = endpoint({
  method: 'POST',
  path: '/groups/:id/share',
  area,
  summary: 'Invite a group',
  description: 'Its direct members get at most the level given, here and in all that is inside.',
  access: group('admin_group'),
  body: () =>
    p.params({
      group_id: p.integer({ required: true, description: 'The group to invite' }),
      group_access: p.integer({ required: true, values: [10, 20, 30, 40, 50] }),
      expires_at: p.date({ nullable: true, description: 'The day it ends, `YYYY-MM-DD`' }),
    }),
  returns: { body: shapes.groupDetail },
  errors: [
    { status: 404, description: 'The group to invite is absent, or not yours to see' },
    { status: 409, description: 'It is invited already' },
  ],
  handle: async ({ actor, group: access, body, request }, deps) => {
    const shared = await shareGroup(deps, actor, access, {
      groupId: body.group_id,
      accessLevel: body.group_access as AccessLevel,
      expiresAt: body.expires_at ?? null,
    });
    return groupDetail(deps, actor, { group: shared }, request.baseUrl, { withProjects: true });
  },
});

const unshare = endpoint({
  method: 'DELETE',
  path: '/groups/:id/share/:group_id',
  area,
  summary: 'End the invitation of a group',
  access: group('admin_group'),
  params: () => p.params({ group_id: p.integer({ required: true, description: 'The invited group' }) }),
  returns: { status: 204 },
  errors: [
    { status: 404, description: 'It is not invited' },
    { status: 409, description: 'The group changed meanwhile' },
  ],
  handle: async ({ actor, group: access, params }, deps) => {
    await unshareGroup(deps, actor, access, params.group_id);
    return noContent();
  },
});

export const groupEditEndpoints = [create, update, remove, restore, transfer, share, unshare];
