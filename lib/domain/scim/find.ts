import type { ScimIdentity } from '../../store/scim/identities.ts';
import { sameName } from '../../store/table/unique-names.ts';
import type { Deps } from '../deps.ts';
import type { ScimCaller } from './caller.ts';
import { noResource } from './errors.ts';
import type { ScimFilter } from './filter.ts';
import type { ScimUser } from './user.ts';

/** @throws 404 */
export async function getUser(deps: Deps, { group }: ScimCaller, externUid: string): Promise<ScimUser> {
  const identity = await deps.store.scimIdentities.get(group.id, externUid);
  const user = identity && (await deps.store.users.get(identity.userId));
  if (identity === undefined || user === undefined) throw noResource(externUid);
  return { identity, user };
}

/** One page of a list (RFC 7644, 3.4.2.4). */
export interface ScimPage {
  /** Counted from 1. */
  readonly startIndex: number;
  readonly count: number;
}

/** Lists provisioned users by account ID, including inactive ones. */
export async function listUsers(
  deps: Deps,
  { group }: Pick<ScimCaller, 'group'>,
  filter: ScimFilter | undefined,
  { startIndex, count }: ScimPage,
): Promise<{ readonly total: number; readonly items: readonly ScimUser[] }> {
  const { scimIdentities } = deps.store;
  if (filter !== undefined) {
    const named = await withAccounts(deps, await filtered(deps, group.id, filter));
    const found = named.filter((user) => filter.holds(user));
    return { total: found.length, items: startIndex === 1 && count > 0 ? found : [] };
  }
  const counted = scimIdentities.count(group.id);
  // Nobody reads all to find that there is no more.
  const none = count === 0 || (startIndex > 1 && startIndex > (await counted));
  const [total, identities] = await Promise.all([
    counted,
    none ? [] : scimIdentities.list(group.id, startIndex - 1, count),
  ]);
  return { total, items: await withAccounts(deps, identities) };
}

/** Finds at most one user: each of these attributes is unique. */
async function filtered(
  { store }: Deps,
  groupId: number,
  { by, value }: ScimFilter,
): Promise<ScimIdentity[]> {
  const identities = store.scimIdentities;
  const find = async () => {
    if (by === 'externUid') return identities.get(groupId, value);
    if (by === 'userName') return identities.ofName(groupId, value);
    const user = await store.users.byEmail(value);
    const found = user && (await identities.ofUser(groupId, user.id));
    return found !== undefined && sameName(found.email, value) ? found : undefined;
  };
  const found = await find();
  return found === undefined ? [] : [found];
}

/** Leaves out accounts that are being deleted. */
async function withAccounts({ store }: Deps, identities: readonly ScimIdentity[]): Promise<ScimUser[]> {
  const users = await store.users.getMany(identities.map(({ userId }) => userId));
  return identities.flatMap((identity, i) => {
    const user = users[i];
    return user === undefined ? [] : [{ identity, user }];
  });
}
