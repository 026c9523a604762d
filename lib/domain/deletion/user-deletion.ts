import type { GroupRecord } from '../../records/groups.ts';
import { isInternal, type UserRecord } from '../../records/users.ts';
import { LastOwner, Missing, Stale, TransactionRefused } from '../../store/errors.ts';
import { outboxWrites } from '../../store/outbox/outbox.ts';
import type { Write } from '../../store/table/write.ts';
import { OWNER } from '../access/levels.ts';
import { signedIn } from '../access/permissions.ts';
import { actorStaysAdministrator, userChangeError } from '../accounts/accounts.ts';
import type { Actor } from '../actor.ts';
import { audited, auditedResource, auditedUser, requesterOf } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { conflict, forbidden } from '../errors.ts';
import { userEvent } from '../hook-events/records.ts';
import { tellHooks } from '../hook-events/tell.ts';
import { memberRemoved } from '../members/audit.ts';

/** Maximum number of groups that the user leaves in the transaction of the deletion; further ones are left before it. */
const MAX_IN_TRANSACTION = 30;

/**
 * Deletes an account with immediate effect: its tokens and keys stop working. A worker deletes what belonged to it and
 * assigns its contributions to the ghost user (`lib/store/deletion/user.ts`).
 *
 * @param options.hard also delete its contributions, and groups without another owner
 * @param options.alongside further writes of the transaction
 * @throws 403 for oneself and for internal users; 404; 409 for the only owner of a group, and on a concurrent change
 */
export async function deleteUser(
  deps: Deps,
  actor: Actor,
  user: UserRecord,
  { hard, alongside = [] }: { readonly hard: boolean; readonly alongside?: readonly Write[] },
): Promise<void> {
  if (signedIn(actor).user.id === user.id) throw forbidden('You cannot delete yourself');
  if (isInternal(user)) throw forbidden('An internal user cannot be deleted');
  const { store } = deps;
  try {
    const { shared, sole } = await ownedGroups(deps, user.id);
    if (sole > 0 && !hard) throw new LastOwner();
    const departures = (groups: readonly GroupRecord[]): Promise<Write[][]> =>
      Promise.all(groups.map(({ id }) => store.groupOwners.ownerRemoval(id, user.id)));
    for (const group of shared.slice(MAX_IN_TRANSACTION)) {
      const removedEvent = await memberRemoved(deps, actor, auditedResource('Group', group), user);
      await store.groupOwners.remove(group.id, user.id, { needsOwner: true, alongside: [removedEvent] });
    }
    const told = await tellHooks(deps, actor, { kind: 'system' }, [userEvent('destroy', user)]);
    await store.users.remove(user, {
      hard,
      by: { ...requesterOf(actor) },
      alongside: [
        await audited(deps, actor, { entity: auditedUser(user), details: { remove: 'user' } }),
        ...alongside,
        ...actorStaysAdministrator(deps, actor, user),
        ...(await departures(shared.slice(0, MAX_IN_TRANSACTION))).flat(),
        ...outboxWrites(told),
      ],
    });
    await store.outbox.deliver(told);
  } catch (error) {
    if (error instanceof LastOwner)
      throw conflict('User cannot be removed while is the sole-owner of a group');
    // The other owner left concurrently.
    if (error instanceof TransactionRefused && error.has('owner'))
      throw conflict('409 Conflict: Resource lock');
    throw error instanceof Missing || error instanceof Stale || error instanceof TransactionRefused
      ? userChangeError(error)
      : error;
  }
}

/** Returns the top-level groups that a user owns: those with other owners, and the number of those without. */
async function ownedGroups(
  { store }: Deps,
  userId: number,
): Promise<{ shared: GroupRecord[]; sole: number }> {
  const ids: number[] = [];
  for await (const { source, accessLevel } of store.members.ofUser(userId, ['group']))
    if (accessLevel === OWNER) ids.push(source.id);
  const shared: GroupRecord[] = [];
  let sole = 0;
  for (const group of await store.groups.getMany(ids)) {
    if (group === undefined || group.deletedAt !== null || group.parentId !== null) continue;
    if (await store.groupOwners.isSole(group, userId)) sole++;
    else shared.push(group);
  }
  return { shared, sole };
}
