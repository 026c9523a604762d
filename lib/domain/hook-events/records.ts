/** What hooks are told of projects, groups, users and keys. */
import type { GroupRecord } from '../../records/groups.ts';
import type { SshKeyRecord } from '../../records/keys.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { UserRecord } from '../../records/users.ts';
import type { HookEvent } from './events.ts';

type RecordEvent = Extract<HookEvent, { kind: 'record' }>;

/** @param former its full path before a rename or transfer */
export const projectEvent = (
  what: 'create' | 'destroy' | 'rename' | 'transfer' | 'update',
  project: ProjectRecord,
  former?: string,
): RecordEvent => ({
  kind: 'record',
  name: `project_${what}`,
  createdAt: project.createdAt,
  ...(project.namespaceKind === 'user' ? { ownerId: project.ownerId } : {}),
  attributes: {
    name: project.name,
    path: project.path,
    path_with_namespace: project.fullPath,
    project_id: project.id,
    owner_name: project.namespaceName,
    owner_email: '',
    project_visibility: project.visibility,
    ...(former === undefined ? {} : { old_path_with_namespace: former }),
  },
});

/** The events of a group: of a subgroup hooks of the groups above hear too. @param former its path before a rename */
export function groupEvents(
  what: 'create' | 'destroy' | 'rename',
  group: GroupRecord,
  parent: GroupRecord | undefined,
  former?: Pick<GroupRecord, 'path' | 'fullPath'>,
): readonly RecordEvent[] {
  const { id, name, path, fullPath } = group;
  const common = { name, path, full_path: fullPath, group_id: id };
  const old = former === undefined ? {} : { old_path: former.path, old_full_path: former.fullPath };
  const made = { kind: 'record', createdAt: group.createdAt } as const;
  const event = { ...made, name: `group_${what}`, attributes: { ...common, ...old } };
  if (group.parentId === null || what === 'rename') return [event];
  const parentPath = fullPath.slice(0, fullPath.lastIndexOf('/'));
  const above = {
    parent_group_id: group.parentId,
    // Unknown: the worker looks for it.
    parent_name: parent?.name ?? null,
    parent_path: parentPath.slice(parentPath.lastIndexOf('/') + 1),
    parent_full_path: parentPath,
  };
  return [event, { ...made, name: `subgroup_${what}`, attributes: { ...common, ...above } }];
}

/** @param former the username before a rename */
export const userEvent = (
  what: 'create' | 'destroy' | 'rename',
  {
    id,
    name,
    email,
    username,
    createdAt,
  }: Pick<UserRecord, 'id' | 'name' | 'email' | 'username'> & Partial<Pick<UserRecord, 'createdAt'>>,
  former?: string,
): RecordEvent => ({
  kind: 'record',
  name: `user_${what}`,
  ...(createdAt === undefined ? {} : { createdAt }),
  attributes: {
    ...{ name, email, user_id: id, username },
    ...(former === undefined ? {} : { old_username: former }),
  },
});

export const keyEvent = (
  what: 'create' | 'destroy',
  { username }: Pick<UserRecord, 'username'>,
  { id, key, createdAt }: Pick<SshKeyRecord, 'id' | 'key' | 'createdAt'>,
): RecordEvent => ({ kind: 'record', name: `key_${what}`, createdAt, attributes: { username, key, id } });
