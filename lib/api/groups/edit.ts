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
import { settingFields, settingsOf, updateOnlyFields } from './settings.ts';
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
      name: p.string({ required: true, description: 'Name of the group' }),
      path: p.string({ required: true, description: 'Path of the group: the last segment of its URL' }),
      parent_id: p.integer({
        description: 'ID of the parent group. Default: none, which creates a top-level group',
      }),
      visibility: p.oneOf(VISIBILITIES, {
        description: 'Visibility of the group. Default: the default group visibility of the instance',
      }),
      description: p.string({ nullable: true, description: 'Description of the group' }),
      avatar: avatarField(),
      ...settingFields(),
    }),
  returns: { body: shapes.groupDetail },
  errors: [
    { status: 400, description: '`Failed to save group {...}`' },
    { status: 404, description: 'Parent group not found' },
    { status: 409, description: 'The parent group was changed by a concurrent request' },
  ],
  handle: async ({ actor, body, request }, deps) => {
    const group = await createGroup(deps, actor, {
      name: body.name,
      path: body.path,
      parentId: body.parent_id,
      visibility: body.visibility,
      description: body.description ?? '',
      avatar: body.avatar,
      settings: settingsOf(body),
    });
    return groupDetail(deps, actor, group, request.baseUrl);
  },
});

const update = endpoint({
  method: 'PUT',
  path: '/groups/:id',
  area,
  summary: 'Update a group',
  description:
    'A new path also changes the paths of all subgroups and projects; previous paths redirect to the new ones.',
  access: group('admin_group'),
  body: () =>
    p.params({
      name: p.changedText({ description: 'Name of the group' }),
      path: p.changedText({ description: 'Path of the group: the last segment of its URL' }),
      visibility: p.oneOf(VISIBILITIES, { description: 'Visibility of the group' }),
      description: p.string({ nullable: true, description: 'Description of the group' }),
      avatar: avatarField(),
      ...settingFields(),
      ...updateOnlyFields(),
    }),
  returns: { body: shapes.groupDetail },
  errors: [
    { status: 400, description: 'Invalid values, listed by field' },
    { status: 409, description: 'Too many requests change the group at once, or it is being transferred' },
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
  summary: 'Delete a group',
  description:
    'Deletes the group with all its subgroups and projects. If the instance delays deletions, the group is marked for deletion: it accepts nothing new and can be restored until the delay ends.',
  access: group('remove_group'),
  query: () =>
    p.params({
      permanently_remove: p.boolean({
        description: 'Delete the group immediately. Only for subgroups that are marked for deletion',
      }),
      full_path: p.string({
        description: 'Full path of the subgroup, as a confirmation; required with `permanently_remove`',
      }),
    }),
  returns: {
    body: acceptedShape,
    status: 202,
    description: 'The group is deleted or marked for deletion; its content is deleted in the background',
  },
  errors: [
    { status: 400, description: 'The group is not marked for deletion yet, or `full_path` does not match' },
    { status: 409, description: 'The group was changed by a concurrent request' },
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
  summary: 'Restore a group that is marked for deletion',
  access: group('remove_group'),
  returns: { body: shapes.groupDetail },
  errors: [
    { status: 400, description: 'The group is not marked for deletion' },
    { status: 409, description: 'The group was changed by a concurrent request' },
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
  summary: 'Transfer a group to another parent group',
  description: 'Without `group_id`, the group becomes a top-level group.',
  access: group('admin_group'),
  body: () =>
    p.params({
      group_id: p.integer({
        description: 'ID of the new parent group. Default: none, which makes it a top-level group',
      }),
    }),
  returns: { body: shapes.groupDetail },
  errors: [
    { status: 400, description: '`Transfer failed: ...`' },
    { status: 404, description: 'Parent group not found' },
    {
      status: 409,
      description: 'One of the groups was changed by a concurrent request, or is being transferred',
    },
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
  summary: 'Share a group with another group',
  description:
    'Gives the direct members of the other group at most the given access level in this group, its subgroups and projects.',
  access: group('admin_group'),
  body: () =>
    p.params({
      group_id: p.integer({ required: true, description: 'ID of the group to share with' }),
      group_access: p.integer({
        required: true,
        values: [10, 20, 30, 40, 50],
        description:
          'Maximum access level: 10 (Guest), 20 (Reporter), 30 (Developer), 40 (Maintainer) or 50 (Owner)',
      }),
      expires_at: p.date({ nullable: true, description: 'Day on which the share expires (`YYYY-MM-DD`)' }),
    }),
  returns: { body: shapes.groupDetail },
  errors: [
    { status: 404, description: 'The group to share with was not found' },
    { status: 409, description: 'The group is already shared with this group' },
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
  summary: 'Stop sharing a group with another group',
  access: group('admin_group'),
  params: () =>
    p.params({ group_id: p.integer({ required: true, description: 'ID of the group it is shared with' }) }),
  returns: { status: 204 },
  errors: [
    { status: 404, description: 'The group is not shared with this group' },
    { status: 409, description: 'The group was changed by a concurrent request' },
  ],
  handle: async ({ actor, group: access, params }, deps) => {
    await unshareGroup(deps, actor, access, params.group_id);
    return noContent();
  },
});

export const groupEditEndpoints = [create, update, remove, restore, transfer, share, unshare];
