/**
 * Takes away what belonged to a user who is gone, and gives what they wrote to the ghost: personal projects, memberships,
 * tokens, stars and follows go; comments, statuses and what they created elsewhere stay, unless the removal is `hard`:
 * then comments go too, and groups that nobody else owns.
 */

import type { GroupRecord } from '../../records/groups.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { Emails } from '../emails/emails.ts';
import { Missing, Stale } from '../errors.ts';
import type { Events } from '../events/events.ts';
import type { Groups } from '../groups/groups.ts';
import type { GroupOwners } from '../groups/owners.ts';
import type { GpgKeys } from '../keys/gpg-keys.ts';
import type { SshKeys } from '../keys/ssh-keys.ts';
import type { AuthorSnapshot } from '../notes/notes.ts';
import type { CommitStatusRecord } from '../pipelines/pipelines.ts';
import type { Projects } from '../projects/projects.ts';
import { groupKey } from '../row-keys/groups.ts';
import { idOf, type Key } from '../row-keys/key.ts';
import { commitRowKey } from '../row-keys/pipelines.ts';
import { projectKey } from '../row-keys/projects.ts';
import { userAddressesKey } from '../row-keys/rate-limits.ts';
import { indexedKey } from '../row-keys/search.ts';
import { userKey, userPartition } from '../row-keys/users.ts';
import type { ScimIdentities } from '../scim/identities.ts';
import type { Stars } from '../stars/stars.ts';
import type { Table } from '../table/table.ts';
import { PRESENT } from '../table/write.ts';
import type { Tokens } from '../tokens/tokens.ts';
import type { Follows } from './follows.ts';
import { ignoreRefusal, type Users } from './users.ts';

interface Store {
  readonly table: Table;
  readonly users: Users;
  readonly projects: Projects;
  readonly groups: Groups;
  readonly groupOwners: GroupOwners;
  readonly follows: Follows;
  readonly events: Events;
  readonly scimIdentities: ScimIdentities;
  readonly stars: Stars;
  readonly sshKeys: SshKeys;
  readonly gpgKeys: GpgKeys;
  readonly emails: Emails;
  readonly tokens: Tokens;
}

interface Removal {
  readonly userId: number;
  readonly hard?: boolean;
}

/** How what the user owned alone goes. @throws Stale, Missing */
export interface Removing {
  project(project: ProjectRecord): Promise<void>;
  group(group: GroupRecord): Promise<void>;
}

/**
 * May be called any number of times. Rows are found through an index, which may be late: call it again later.
 *
 * @param deadline milliseconds since 1970; no new step begins after it
 * @param removing in place of the store's own
 * @returns whether nothing that the index knows is left
 * @throws Error when the user is there; then nothing was touched
 */
export async function removeBelongings(
  store: Store,
  removal: Removal,
  deadline: number,
  removing: Removing = {
    project: (project) => store.projects.remove(project),
    group: (group) => store.groups.remove(group),
  },
): Promise<boolean> {
  const { userId } = removal;
  if ((await store.users.get(userId)) !== undefined) throw new Error(`user ${userId} is not removed`);
  const { id, username, name } = await store.users.ghost();
  const ghost: AuthorSnapshot = { id, username, name };
  for await (const row of store.table.queryAll({ index: 'byUser', partition: userPartition(userId) })) {
    if (Date.now() > deadline) return false;
    const what = row['what'] as string;
    const kind = what.slice(0, what.indexOf('#'));
    await REMOVE[kind]?.({ ...store, removing }, row as unknown as Row, removal, ghost);
  }
  while (await store.follows.removeOfUser(userId)) if (Date.now() > deadline) return false;
  if (!(await store.events.removeOfAuthor(userId, deadline))) return false;
  for (const owned of [store.sshKeys, store.gpgKeys, store.emails]) {
    while (await owned.removeOfUser(userId)) if (Date.now() > deadline) return false;
  }
  await store.table.delete({ delete: userAddressesKey(userId) });
  const search = indexedKey('user', userId).sk;
  // What the rows of the user's own partition stood for has gone by now; the search's go with what they tell of.
  for await (const { pk, sk } of store.table.queryAll({
    partition: userKey(userId).pk,
    only: ['pk', 'sk'],
  })) {
    if (Date.now() > deadline) return false;
    if (sk !== search) await store.table.delete({ delete: { pk, sk } as Key });
  }
  return true;
}

type Row = Key & { readonly what: string };
type Remove = (
  store: Store & { readonly removing: Removing },
  row: Row,
  removal: Removal,
  ghost: AuthorSnapshot,
) => Promise<unknown>;

/** What becomes of each kind of row that names a user in the index. */
const REMOVE: Readonly<Record<string, Remove>> = {
  TOKEN: ({ tokens }, { pk }) => tokens.forget(pk.slice('TOKEN#'.length)),
  IMPERSONATION: ({ tokens }, { pk }) => tokens.forget(pk.slice('TOKEN#'.length)),
  STAR: ({ stars }, { pk, sk }) => stars.forget(idOf(pk), idOf(sk)),
  MEMBER: async ({ table }, { pk, sk, what }, { userId }, ghost) => {
    await createdBy(table, projectKey(idOf(what)), userId, ghost);
    await table.delete({ delete: { pk, sk } });
  },
  GROUPMEMBER: async (
    { table, groups, groupOwners, removing },
    { pk, sk, what },
    { userId, hard },
    ghost,
  ) => {
    const group = hard ? await groups.get(idOf(what)) : undefined;
    if (group !== undefined && (await groupOwners.isSole(group, userId))) await gone(removing.group(group));
    await createdBy(table, groupKey(idOf(what)), userId, ghost);
    await table.delete({ delete: { pk, sk } });
  },
  SCIM: ({ scimIdentities }, { pk, sk }) => scimIdentities.forget({ pk, sk }),
  REQUEST: ({ table }, { pk, sk }) => table.delete({ delete: { pk, sk } }),
  GROUPREQUEST: ({ table }, { pk, sk }) => table.delete({ delete: { pk, sk } }),
  NOTIFY: ({ table }, { pk, sk }) => table.delete({ delete: { pk, sk } }),
  GROUPNOTIFY: ({ table }, { pk, sk }) => table.delete({ delete: { pk, sk } }),
  WATCHER: ({ table }, { pk, sk }) => table.delete({ delete: { pk, sk } }),
  THREAD: ({ table }, { pk, sk }) => table.delete({ delete: { pk, sk } }),
  OWN: async ({ projects, removing }, { what }, { userId }) => {
    const project = await projects.get(idOf(what));
    // The index may not know yet that it was put elsewhere.
    if (project?.namespaceKind === 'user' && project.ownerId === userId)
      await gone(removing.project(project));
  },
  NOTE: ({ table }, { pk, sk }, { hard }, ghost) =>
    hard ? table.delete({ delete: { pk, sk } }) : givenTo(table, { pk, sk }, ghost),
  STATUS: async ({ table }, { pk, sk }, { userId }, ghost) => {
    const status = (await table.get({ pk, sk })) as CommitStatusRecord | undefined;
    if (status === undefined) return;
    const pipeline = commitRowKey(status.projectId, status.sha, 'PIPELINE', status.pipelineId);
    await givenTo(table, { pk, sk }, ghost);
    const set = { author: ghost };
    await table
      .update({ update: pipeline, set, if: `${PRESENT} AND #author.#id = :was`, values: { was: userId } })
      .catch(ignoreRefusal);
  },
};

/** No longer found under the user, nor under the ghost: nobody asks what that one wrote. */
const givenTo = (table: Table, key: Key, ghost: AuthorSnapshot) =>
  table
    .update({ update: key, set: { author: ghost }, remove: ['who', 'what'], if: PRESENT })
    .catch(ignoreRefusal);

const createdBy = (table: Table, key: Key, userId: number, ghost: AuthorSnapshot) =>
  table
    .update({
      update: key,
      set: { creatorId: ghost.id },
      if: `${PRESENT} AND #creatorId = :was`,
      values: { was: userId },
    })
    .catch(ignoreRefusal);

/** Somebody else may have removed it, or changed it: then it is found again by the next call. */
async function gone(removal: Promise<void>): Promise<void> {
  await removal.catch((error: unknown) => {
    if (!(error instanceof Missing || error instanceof Stale)) throw error;
  });
}
