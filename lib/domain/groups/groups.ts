/** Groups: creation and change. */

import { type GroupRecord, MAX_DEPTH } from '../../records/groups.ts';
import type { Visibility } from '../../records/visibility.ts';
import { LimitReached, Missing, NameTaken, Stale, TransactionRefused } from '../../store/errors.ts';
import { type GroupChange, MoreVisibleInside } from '../../store/groups/groups.ts';
import { type OutboxMessage, outboxWrites } from '../../store/outbox/outbox.ts';
import { placementUnder } from '../../store/placement/group.ts';
import { defaultVisibility, restrictionProblems } from '../access/instance-visibility.ts';
import { requireGroupAbility } from '../access/permissions.ts';
import type { GroupAccess } from '../access/types.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import { auditedResource, prepareAudited } from '../audit-events/event.ts';
import { groupChanged } from '../audit-events/setting-changes.ts';
import { type AvatarFile, newAvatar } from '../avatars/avatars.ts';
import type { Deps } from '../deps.ts';
import {
  conflict,
  type FieldProblems,
  forbidden,
  invalid,
  notFound,
  refused,
  takenProblems,
  unauthorized,
} from '../errors.ts';
import { groupEvents } from '../hook-events/records.ts';
import { prepareHooks, tellHooks } from '../hook-events/tell.ts';
import { groupNameProblems, groupPathProblems, problemsOf } from '../name-rules.ts';
import { type Mover, movedProjectMails, moverOf } from '../notifications/enqueue.ts';
import { newStorage } from '../repository/choose-storage.ts';
import { inRuby } from '../ruby-notation.ts';
import { isBelow } from '../visibility.ts';
import { groupAccesses } from './details.ts';

export interface NewGroupInput {
  readonly name: string;
  readonly path: string;
  readonly parentId?: number | undefined;
  /** The instance's default when absent. */
  readonly visibility?: Visibility | undefined;
  readonly description: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly avatar?: AvatarFile | null | undefined;
}

const PROJECT_CREATION = ['noone', 'maintainer', 'developer'] as const;

/** Settings of a new group unless given. */
const creationDefaults = async ({ settings }: Deps) => ({
  project_creation_level: PROJECT_CREATION[(await settings.current()).default_project_creation],
  subgroup_creation_level: 'maintainer',
});

const MAX_DESCRIPTION = 500;

/**
 * Creates a group, owned by its creator.
 * @throws 400 `Failed to save group {...}`, 403 when the actor must not create one there, 404 for an absent or hidden
 *   parent
 */
export async function createGroup(
  deps: Deps,
  actor: Extract<Actor, { kind: 'user' }>,
  input: NewGroupInput,
): Promise<GroupAccess> {
  const [parent, record] = await Promise.all([
    input.parentId === undefined ? undefined : groupOfId(deps, actor, input.parentId),
    prepareAudited(deps, actor),
  ]);
  if (parent !== undefined) requireGroupAbility(actor, parent, 'create_subgroup');
  else if (!mayCreateTopLevel(actor)) throw forbidden();
  const { name, path, description } = input;
  const visibility =
    input.visibility ?? (await defaultVisibility(deps, actor, 'group', parent?.group.visibility));
  const restricted =
    input.visibility === undefined ? [] : await restrictionProblems(deps, actor, input.visibility);
  const problems = problemsOf({
    ...fieldProblems({ name, path, description }, parent === undefined),
    visibility_level: [...restricted, ...visibilityProblems(visibility, parent?.group)],
    parent_id:
      parent !== undefined && parent.parents.length + 1 >= MAX_DEPTH
        ? [`has too many parents (the limit is ${MAX_DEPTH} groups in each other)`]
        : [],
  });
  if (problems !== undefined) throw failedToSave(problems);
  const avatar = newAvatar(input.avatar);
  const tell = await prepareHooks(deps, actor);
  let told: readonly OutboxMessage[] = [];
  try {
    const group = await deps.store.groups.create(
      {
        name,
        path,
        visibility,
        description,
        creatorId: actor.user.id,
        settings: { ...(await creationDefaults(deps)), ...input.settings },
        avatar: avatar?.avatar ?? null,
        ...(await newStorage(deps)),
      },
      {
        about: (made) => {
          const place = { kind: 'group', groupIds: made.ancestorIds } as const;
          told = tell(place, groupEvents('create', made, parent?.group));
          return [
            ...(avatar?.writes({ kind: 'group', id: made.id }) ?? []),
            record({ entity: auditedResource('Group', made), details: { add: 'group' } }),
            ...outboxWrites(told),
          ];
        },
        // A user who is being deleted cannot become the owner.
        alongside: [deps.store.users.isThere(actor.user.id)],
        now: deps.now(),
        ownerId: actor.user.id,
        ...(parent === undefined ? {} : { parent: parent.group }),
      },
    );
    await deps.store.outbox.deliver(told);
    return { group, level: 50, parents: parent === undefined ? [] : [parent.group, ...parent.parents] };
  } catch (error) {
    if (error instanceof NameTaken) throw failedToSave(takenProblems(error));
    if (error instanceof LimitReached) throw failedToSave({ parent_id: ['has too many parents'] });
    if (error instanceof TransactionRefused && error.has('user')) throw unauthorized();
    throw error instanceof Missing ? notFound('Group') : locked(error);
  }
}

/** Whether the actor may create top-level groups. */
export const mayCreateTopLevel = (actor: Extract<Actor, { kind: 'user' }>): boolean =>
  isAdministrator(actor) || actor.user.canCreateGroup;

export type GroupInput = Pick<GroupChange, 'name' | 'path' | 'visibility' | 'description' | 'settings'> &
  Pick<NewGroupInput, 'avatar'>;

/** Attempts when other requests change the group. */
const ATTEMPTS = 5;

/**
 * Changes a group. Settings are merged with the existing ones, and concurrent changes of other attributes are kept.
 * Descendants move to a new path, those of a small group before the response.
 * @throws 400 by field, 409 while the group or one of its ancestors is still moving, or when the group itself has moved
 */
export async function updateGroup(
  deps: Deps,
  actor: Actor,
  access: GroupAccess,
  input: GroupInput,
): Promise<GroupRecord> {
  let { group } = access;
  for (let tries = 1; ; tries++) {
    try {
      return await change(deps, actor, { ...access, group }, input);
    } catch (error) {
      const now =
        error instanceof Stale && tries < ATTEMPTS ? await deps.store.groups.get(group.id) : undefined;
      // Below another parent the actor may have another level.
      if (now === undefined || now.version === group.version || now.parentId !== group.parentId)
        throw changeError(error, input.visibility);
      group = now;
    }
  }
}

async function change(
  deps: Deps,
  actor: Actor,
  { group, parents }: GroupAccess,
  { avatar: file, ...input }: GroupInput,
): Promise<GroupRecord> {
  const settings = input.settings ?? {};
  const visibility = input.visibility === group.visibility ? undefined : input.visibility;
  const restricted = visibility === undefined ? [] : await restrictionProblems(deps, actor, visibility);
  const problems = problemsOf({
    ...fieldProblems(input, group.parentId === null),
    visibility_level:
      visibility === undefined ? [] : [...restricted, ...visibilityProblems(visibility, parents[0])],
    prevent_sharing_groups_outside_hierarchy:
      settings['prevent_sharing_groups_outside_hierarchy'] === true && group.parentId !== null
        ? ['only available on top-level groups.']
        : [],
    ...sharedRunnersProblems(settings['shared_runners_setting'], parents),
  });
  if (problems !== undefined) throw invalid(problems);
  const avatar = newAvatar(file);
  const changes = {
    ...input,
    settings: { ...group.settings, ...settings },
    ...(avatar && { avatar: avatar.avatar }),
  };
  const mover = moverOf(deps, actor);
  const placed = { ...group, ...changes, ...placementUnder(parents[0], { ...group, ...changes }) };
  const events = await groupChanged(deps, actor, group, placed);
  const messages =
    placed.path === group.path
      ? []
      : await tellHooks(deps, actor, { kind: 'system' }, groupEvents('rename', placed, parents[0], group));
  const updated = await deps.store.groups.update(group, changes, {
    now: deps.now(),
    parents,
    mover,
    messages,
    alongside: [...(avatar?.writes({ kind: 'group', id: group.id }) ?? []), ...events],
  });
  return followed(deps, updated, mover);
}

/** Milliseconds that a request spends on the descendants of a group; the worker does the rest. */
export const HELP_MS = 1_000;

/** The group, with `movedFrom` cleared when all that is inside has followed. */
export async function followed(deps: Deps, group: GroupRecord, mover: Mover): Promise<GroupRecord> {
  if (group.movedFrom === null) return group;
  try {
    const progress = await deps.store.groupMoves.moveDescendants(
      group.id,
      Date.now() + HELP_MS,
      movedProjectMails(mover),
    );
    return progress === 'done' ? { ...group, movedFrom: null } : group;
  } catch {
    // The job does it.
    return group;
  }
}

/** @throws 404 `404 Group Not Found` for what is absent or hidden */
export async function groupOfId(deps: Deps, actor: Actor, id: number): Promise<GroupAccess> {
  const [access] = await groupAccesses(deps, actor, [id]);
  if (access === undefined) throw notFound('Group');
  return access;
}

const fieldProblems = (
  { name, path, description }: Pick<GroupInput, 'name' | 'path' | 'description'>,
  outermost: boolean,
) => ({
  name: name === undefined ? [] : groupNameProblems(name),
  path: path === undefined ? [] : groupPathProblems(path, outermost),
  description:
    (description ?? '').length > MAX_DESCRIPTION
      ? [`is too long (maximum is ${MAX_DESCRIPTION} characters)`]
      : [],
});

const visibilityProblems = (visibility: Visibility, parent: GroupRecord | undefined): string[] =>
  parent !== undefined && isBelow(parent.visibility, visibility)
    ? [`${visibility} is not allowed since the parent group has a ${parent.visibility} visibility.`]
    : [];

/** Descendants cannot turn on what an ancestor turned off for all of them. */
function sharedRunnersProblems(setting: unknown, parents: readonly GroupRecord[]): FieldProblems {
  const off = 'disabled_and_unoverridable';
  if (!parents.some((parent) => parent.settings['shared_runners_setting'] === off)) return {};
  if (setting === 'enabled')
    return { shared_runners_enabled: ['cannot be enabled because parent group has shared Runners disabled'] };
  const override = 'allow_descendants_override_disabled_shared_runners';
  return setting === 'disabled_with_override'
    ? { [override]: ['cannot be enabled because parent group does not allow it'] }
    : {};
}

function changeError(error: unknown, visibility: Visibility | undefined): unknown {
  if (error instanceof NameTaken) return invalid(takenProblems(error));
  if (error instanceof MoreVisibleInside) {
    const inside =
      error.kind === 'group'
        ? 'there are sub-groups with higher visibility.'
        : 'this group contains projects with higher visibility.';
    return invalid({ visibility_level: [`${visibility} is not allowed since ${inside}`] });
  }
  return error instanceof Missing ? notFound('Group') : locked(error);
}

/** Translates a concurrent change or a pending move to 409: the client may retry. */
export const locked = (error: unknown): unknown =>
  error instanceof Stale ? conflict('409 Conflict: Resource lock') : error;

const failedToSave = (problems: FieldProblems) => refused(`Failed to save group ${inRuby(problems)}`);
