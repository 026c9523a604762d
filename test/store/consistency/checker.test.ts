import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tokenHash } from '../../../lib/domain/access/token-check.ts';
import { type Oid, ZERO_OID } from '../../../lib/git/oid.ts';
import type { RefName } from '../../../lib/git/refname.ts';
import type { GroupRecord } from '../../../lib/records/groups.ts';
import type { ProjectRecord } from '../../../lib/records/projects.ts';
import type { UserRecord } from '../../../lib/records/users.ts';
import { type AuditEventRecord, auditEventPut } from '../../../lib/store/audit-events/audit-events.ts';
import { avatarWrite } from '../../../lib/store/avatars/avatars.ts';
import { type EventRecord, eventWrite } from '../../../lib/store/events/events.ts';
import { MAINTENANCE, message, outboxWrite } from '../../../lib/store/outbox/outbox.ts';
import { GitObjects } from '../../../lib/store/repository/pack-objects.ts';
import { newRepository } from '../../../lib/store/repository/state.ts';
import { counterKey } from '../../../lib/store/row-keys/counters.ts';
import { attributeKey } from '../../../lib/store/row-keys/custom-attributes.ts';
import { authorEventsPartition } from '../../../lib/store/row-keys/events.ts';
import { networkMemberKey } from '../../../lib/store/row-keys/forks.ts';
import { pushUploadKey } from '../../../lib/store/row-keys/git.ts';
import { groupKey } from '../../../lib/store/row-keys/groups.ts';
import type { Key } from '../../../lib/store/row-keys/key.ts';
import { ownCountKey, sshFingerprintKey } from '../../../lib/store/row-keys/keys.ts';
import { leaseKey } from '../../../lib/store/row-keys/maintenance.ts';
import { memberKey } from '../../../lib/store/row-keys/members.ts';
import { nameKey } from '../../../lib/store/row-keys/names.ts';
import { noteKey, threadKey } from '../../../lib/store/row-keys/notes.ts';
import { linkSecretKey, notifyKey, watcherKey } from '../../../lib/store/row-keys/notifications.ts';
import { OUTBOX_SHARDS, outboxPartition, processedKey } from '../../../lib/store/row-keys/outbox.ts';
import { commitRowKey, pipelineIdKey } from '../../../lib/store/row-keys/pipelines.ts';
import { projectKey } from '../../../lib/store/row-keys/projects.ts';
import {
  derivedKey,
  guardKey,
  headKey,
  packKey,
  pinnedCommitKey,
  refChunkKey,
  refKey,
  refRankKey,
} from '../../../lib/store/row-keys/repository.ts';
import { runnersTokenKey } from '../../../lib/store/row-keys/runners.ts';
import {
  scimCountKey,
  scimIdentityKey,
  scimNameKey,
  scimTokenKey,
  scimUserKey,
} from '../../../lib/store/row-keys/scim.ts';
import { gramKey, indexedKey } from '../../../lib/store/row-keys/search.ts';
import { masterKeyLease, secretKey } from '../../../lib/store/row-keys/secrets.ts';
import { settingsKey } from '../../../lib/store/row-keys/settings.ts';
import { projectSizeKey } from '../../../lib/store/row-keys/statistics.ts';
import { tokenIdKey, tokenKey } from '../../../lib/store/row-keys/tokens.ts';
import {
  followKey,
  internalUserKey,
  userKey,
  userPartition,
  userRow,
} from '../../../lib/store/row-keys/users.ts';
import type { Item } from '../../../lib/store/table/write.ts';
import { Storage } from '../../../local/aws/dynamodb/storage.ts';
import { check } from '../../crash/checker.ts';
import { type Data, openData } from '../../crash/data.ts';
import { ExpectedState, Fact } from '../../crash/expected-state.ts';
import { git } from '../../git/repository-files.ts';
import { createProject, newUser } from '../table/store-fixture.ts';

/** A small healthy data set, copied for each case and broken in one way, which the checker must name. */
const root = mkdtempSync(join(tmpdir(), 'lemnos-checker-'));
const healthy = join(root, 'healthy');
const expectedState = new ExpectedState();
const TOKEN = 'token-of-the-checker-test';
let ada: UserRecord;
let bob: UserRecord;
let project: ProjectRecord;
let tip: Oid;
let packId: string;

beforeAll(async () => {
  await using data = await openData(healthy);
  const { store } = data;
  ada = await store.users.create(newUser('Ada'));
  bob = await store.users.create(newUser('bob'));
  for (const user of [ada, bob]) {
    expectedState.users.set(user.id, user);
    await store.search.index('user', user.id, async () => [user.name, user.username]);
  }
  const token = {
    userId: ada.id,
    name: 't',
    scopes: ['api'],
    expiresAt: null,
    hash: tokenHash(TOKEN),
  } as const;
  expectedState.tokens.set(TOKEN, await store.tokens.create(token));
  project = await createProject(store, ada, 'engine');
  expectedState.projects.set(project.fullPath, { id: project.id, present: new Fact(true) });
  await store.search.index('project', project.id, async () => [project.name, project.path]);
  const added = {
    source: { kind: 'project', id: project.id } as const,
    userId: bob.id,
    createdAt: '',
    createdById: ada.id,
  };
  await store.members.add({ ...added, accessLevel: 30, expiresAt: null });
  expectedState.member(project.id, bob.id).acknowledge(30);

  const work = join(root, 'work');
  git(root, ['init', '--quiet', '-b', 'main', work]);
  for (const name of ['one', 'two']) git(work, ['commit', '--quiet', '--allow-empty', '-m', name]);
  tip = git(work, ['rev-parse', 'HEAD']).toString().trim() as Oid;
  const name = git(work, ['pack-objects', '--all', '--quiet', 'pack'], '').toString().trim();
  const bytes = (ext: string) => readFileSync(join(work, `pack-${name}.${ext}`));
  const refs = store.repositories.open(project.repositoryId);
  const objects = new GitObjects(store.blobs, refs, project.repositoryId);
  const content = { kind: 'bytes', pack: bytes('pack'), index: bytes('idx') } as const;
  const pack = await objects.newPack(content, {
    source: 'receive',
    objectCount: content.pack.readUInt32BE(8),
  });
  packId = pack.id;
  await refs.compareAndSwap([{ name: 'refs/heads/main' as RefName, from: ZERO_OID, to: tip }], {
    packs: [pack],
  });
  expectedState.committed(project.id, 'main', tip);
  expectedState.ref(project.id, 'refs/heads/main').acknowledge(tip);
  // The outbox has no queue here: its messages were handled directly above.
  for await (const row of promises(data)) await store.table.delete({ delete: row });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function* promises({ store }: Data): AsyncGenerator<Item & Key> {
  for (let shard = 0; shard < OUTBOX_SHARDS; shard++) {
    for await (const row of store.table.queryAll({ partition: outboxPartition(shard) }))
      yield row as Item & Key;
  }
}

/** The audit row of the project's creation. */
const made = (id: number): AuditEventRecord => ({
  id,
  authorId: ada.id,
  entityKind: 'Project',
  entityId: project.id,
  details: { add: 'project' },
  createdAt: '2026-01-02T03:04:05.678Z',
});

let copies = 0;
async function problemsAfter(
  damage: (data: Data) => Promise<unknown>,
  options: {
    storage?: (storage: Storage) => Promise<void>;
    expectedState?: ExpectedState;
    settled?: boolean;
  } = {},
): Promise<readonly string[]> {
  const folder = join(root, `copy-${copies++}`);
  cpSync(healthy, folder, { recursive: true });
  if (options.storage !== undefined) {
    const storage = await Storage.open(join(folder, 'table'));
    await options.storage(storage);
    await storage.flushed();
    await storage.close();
  }
  await using data = await openData(folder);
  await damage(data);
  return (await check(data, options.expectedState ?? expectedState, options.settled ?? true)).problems;
}

test('the checker reports no problems in a healthy data set, settled or not', async () => {
  expect(await problemsAfter(async () => {})).toEqual([]);
  expect(await problemsAfter(async () => {}, { settled: false })).toEqual([]);
});

const remove =
  (key: () => Key) =>
  ({ store }: Data) =>
    store.table.delete({ delete: key() });
const set =
  (key: () => Key, values: Item) =>
  ({ store }: Data) =>
    store.table.update({ update: key(), set: values });
const keyOfPack = () => packKey(project.repositoryId, packId);
const rule = (projectId: number) => ({
  pk: projectKey(projectId).pk,
  sk: 'RULE#branch#x',
  name: 'x',
  id: 7,
  projectId,
});
const stored = () => `networks/${project.repositoryId}/packs/${project.repositoryId}/${packId}`;
const user = (id: () => number) => () => userKey(id());
const happened = (projectId: number): EventRecord => ({
  id: 3,
  projectId,
  authorId: ada.id,
  action: 'created',
  target: null,
  push: null,
  createdAt: '2026-01-01T00:00:00.000Z',
});

const noteRow = (projectId: number): Item & Key => {
  const noteable = { kind: 'commit', id: tip } as const;
  const author = { id: ada.id, username: 'Ada', name: 'Ada' };
  const key = noteKey(projectId, noteable, 7);
  return {
    ...key,
    id: 7,
    projectId,
    noteable,
    author,
    body: 'x',
    who: userPartition(ada.id),
    what: userRow('NOTE', 7),
  };
};

/** A pipeline with one status. @returns the pipeline's key */
async function reported({ store }: Data): Promise<Key> {
  const author = { id: ada.id, username: 'Ada', name: 'Ada' };
  const at = '2026-01-01T00:00:00.000Z';
  const { id, iid } = await store.pipelines.nextPipeline(project.id);
  const common = { projectId: project.id, sha: tip, ref: 'main', author, createdAt: at };
  const times = { startedAt: null, finishedAt: null };
  const counts = { states: { success: 1 }, statuses: 1, version: 1 };
  const statusId = await store.reportedStatuses.nextId();
  await store.reportedStatuses.write({
    pipeline: {
      ...common,
      ...times,
      ...counts,
      id,
      iid,
      source: 'external',
      status: 'success',
      updatedAt: at,
    },
    previous: undefined,
    status: {
      ...common,
      ...times,
      id: statusId,
      pipelineId: id,
      stage: 'external',
      name: 'build',
      state: 'success',
      targetUrl: null,
      description: null,
      coverage: null,
    },
    current: undefined,
  });
  return commitRowKey(project.id, tip, 'PIPELINE', id);
}

/** A group whose identity provider has provisioned a user. */
async function provisioned({ store }: Data): Promise<GroupRecord> {
  const of = {
    description: '',
    creatorId: ada.id,
    settings: {},
    avatar: null,
    visibility: 'private',
  } as const;
  const group = await store.groups.create({ ...of, name: 'corp', path: 'corp' }, { ownerId: ada.id });
  const at = '2026-01-01T00:00:00.000Z';
  const names = { externUid: 'ext', userName: 'bob', email: bob.email, givenName: null, familyName: null };
  const rest = { active: true, createdAt: at, updatedAt: at, version: 1 };
  const identity = { groupId: group.id, userId: bob.id, ...names, ...rest };
  await store.table.transact(store.scimIdentities.create(identity));
  return group;
}

describe('the checker reports', () => {
  test.each<[string, RegExp, (data: Data) => Promise<unknown>]>([
    [
      'a group that is more visible than its parent',
      /^visibility: group \d+ is public in a group that is private/,
      async ({ store }) => {
        const of = { description: '', creatorId: ada.id, settings: {}, avatar: null };
        const outer = { ...of, name: 'outer', path: 'outer', visibility: 'private' } as const;
        const parent = await store.groups.create(outer, { ownerId: ada.id });
        const inner = { ...outer, name: 'inner', path: 'inner' };
        const { id } = await store.groups.create(inner, { ownerId: ada.id, parent });
        await store.table.update({ update: groupKey(id), set: { visibility: 'public' } });
      },
    ],
    [
      'a project that is sorted by a size which was not measured',
      /^sizes: project \d+ is out of order: wikiSize/,
      async ({ store }) => {
        const sizes = { repositorySize: 1, wikiSize: 2, head: null, commitCount: 0, languages: {} };
        await store.statistics.save(project.id, undefined, { ...sizes, countedIn: null });
        await store.table.delete({ delete: projectSizeKey(project.id, 'wikiSize') });
      },
    ],
    [
      'a project that is sorted by a size without statistics',
      /^sizes: project \d+ has a SIZE#wikiSize and no statistics/,
      ({ store }) => store.table.put({ put: { ...projectSizeKey(project.id, 'wikiSize') } }),
    ],
    [
      'a project that tells another size than its statistics',
      /^sizes: project \d+ says 3 for storageSize/,
      async ({ store }) => {
        const sizes = { repositorySize: 1, head: null, commitCount: 0, languages: {} };
        await store.statistics.save(project.id, undefined, { ...sizes, countedIn: null });
        await store.table.update({ update: projectKey(project.id), set: { storageSize: 3 } });
      },
    ],
    [
      'an event that its author’s feed does not find',
      /^events: event 3 stands at /,
      ({ store }) => {
        const { put } = eventWrite(happened(project.id));
        return store.table.put({ put: { ...put, list: authorEventsPartition(bob.id) } });
      },
    ],
    [
      'an event of a project that does not exist',
      /^events: event 3 is of project 99, which does not exist/,
      ({ store }) => store.table.put(eventWrite(happened(99))),
    ],
    [
      'an event of a group that does not exist',
      /^events: event 3 is of group 99, which does not exist/,
      ({ store }) => store.table.put(eventWrite({ ...happened(0), groupId: 99 })),
    ],
    [
      'an event of a comment that does not exist',
      /^events: event 3 is of note 7, which does not exist/,
      ({ store }) => {
        const target = { type: 'Note', id: 7, title: null, commit: tip } as const;
        return store.table.put(eventWrite({ ...happened(project.id), action: 'commented', target }));
      },
    ],
    [
      'a watcher who is missing from the index of watchers',
      /^watchers: user 2 is not found as a watcher at the level watch/,
      async ({ store }) => {
        await store.notificationSettings.change(bob.id, undefined, { level: 'watch' });
        await store.table.delete({ delete: watcherKey(bob.id) });
      },
    ],
    [
      'an index row of a watcher who is none',
      /^watchers: user 2 is found as a watcher at the level undefined/,
      ({ store }) => store.table.put({ put: { ...watcherKey(bob.id) } }),
    ],
    [
      'an identity of a provider that its account does not refer to',
      /^scim: GROUP#\d+ SCIM#ext is not found by GROUP#\d+ SCIMUSER#0*2$/,
      async (data) => {
        const { id } = await provisioned(data);
        await data.store.table.delete({ delete: scimUserKey(id, bob.id) });
      },
    ],
    [
      'a name of a user whom the provider does not know',
      /^scim: GROUP#\d+ SCIMNAME#else leads to nobody/,
      async (data) => {
        const { id } = await provisioned(data);
        await data.store.table.put({ put: { ...scimNameKey(id, 'else'), externUid: 'ext' } });
      },
    ],
    [
      'identities of a provider that are not counted',
      /^scim: group \d+ counts 3 of its provider; there are 1/,
      async (data) => {
        const { id } = await provisioned(data);
        await data.store.table.update({ update: scimCountKey(id), add: { identities: 2 } });
      },
    ],
    [
      'an account that signs in at a provider that let it go',
      /^scim: GROUP#\d+ SCIM#ext was let go, and its account signs in there/,
      async (data) => {
        const { id } = await provisioned(data);
        const identities = [{ provider: 'group_saml', extern_uid: 'ext', saml_provider_id: id }];
        const user = (await data.store.users.get(bob.id))!;
        await data.store.users.update(user, { profile: { ...user.profile, identities } });
        await data.store.table.update({ update: scimIdentityKey(id, 'ext'), set: { active: false } });
      },
    ],
    [
      'a token of a provider that does not exist',
      /^scim: SCIMTOKEN#abc SCIMTOKEN is of no group/,
      async (data) => {
        const { id } = await provisioned(data);
        await data.store.table.put({ put: { ...scimTokenKey('abc'), groupId: id } });
      },
    ],
    [
      'an avatar that its record does not refer to',
      /^avatars: user 1 has the avatar .*a\.png.* and says undefined/,
      ({ store }) =>
        store.table.transact([
          avatarWrite(
            { kind: 'user', id: ada.id },
            { filename: 'a.png', type: 'image/png', version: 'v', bytes: new Uint8Array(1) },
          ),
        ]),
    ],
    [
      'an attribute that is not found by its value',
      /^custom attributes: project 1 is not found by its attribute colour/,
      async ({ store }) => {
        const subject = { kind: 'project', id: project.id } as const;
        await store.customAttributes.set(subject, 'colour', 'red');
        await store.table.delete({ delete: attributeKey(subject, 'colour') });
      },
    ],
    [
      'an index row without its attribute',
      /^custom attributes: PROJECT#\d+ ABOUT#ATTRIBUTE#\w+ is of no attribute/,
      ({ store }) =>
        store.table.put({ put: { ...attributeKey({ kind: 'project', id: project.id }, 'colour') } }),
    ],
    [
      'a notification setting that is not found under its user',
      /^notification choices: PROJECT#\d+ NOTIFY#0*2 is not found under user 2/,
      ({ store }) =>
        store.table.put({
          put: { ...notifyKey({ kind: 'project', id: project.id }, bob.id), level: 'watch' },
        }),
    ],
    [
      'a runners token of a group that does not exist',
      /^runners: GROUP#0*99 RUNNERS_TOKEN is of a group that does not exist/,
      ({ store }) => store.table.put({ put: { ...runnersTokenKey({ kind: 'group', id: 99 }), token: 't' } }),
    ],
    [
      'a user who is not found by their password link',
      /^password resets: user 1 is not found by their link for a new password/,
      set(
        user(() => ada.id),
        { passwordReset: { hash: 'abc', expiresAt: '2999-01-01T00:00:00.000Z' } },
      ),
    ],
    [
      'a ghost user whose row refers to an ordinary user',
      /^internal users: INTERNAL#ghost leads to user 2, who is none/,
      ({ store }) => store.table.put({ put: { ...internalUserKey('ghost'), userId: bob.id } }),
    ],
    [
      'a note of a project that does not exist',
      /^notes: note 7 is of project 99, which does not exist/,
      ({ store }) => store.table.put({ put: noteRow(99) }),
    ],
    [
      'a note that is missing from the index of its author',
      /^notes: note 7 is not found under user 1/,
      ({ store }) => {
        const { who: _, ...row } = noteRow(project.id);
        return store.table.put({ put: row });
      },
    ],
    [
      'a participant who is not found under their name',
      /^participants: THREADS#\d+ commit#\w+#0*2 is not found under user 2/,
      ({ store }) =>
        store.table.put({ put: { ...threadKey(project.id, { kind: 'commit', id: tip }, bob.id) } }),
    ],
    [
      'a pipeline that counts a status too many',
      /^pipelines: pipeline 1 of project 1 counts 2 statuses and has 1/,
      async (data) => {
        const key = await reported(data);
        await data.store.table.update({ update: key, set: { statuses: 2 } });
      },
    ],
    [
      'a status without its pipeline',
      /^pipelines: status 1 of project 1 is of pipeline 1, which does not exist/,
      async (data) => data.store.table.delete({ delete: await reported(data) }),
    ],
    [
      'a pipeline that its id does not find',
      /^pipelines: pipeline 1 of project 1 is not found by its id/,
      async (data) => {
        await reported(data);
        await data.store.table.delete({ delete: pipelineIdKey(project.id, 1) });
      },
    ],
    [
      'a ref stored under the key of another',
      /^ref rows: the ref refs\/heads\/other stands at REPO#\w+ REF#refs\/heads\/main/,
      set(() => refKey(project.repositoryId, 'refs/heads/main'), { name: 'refs/heads/other' }),
    ],
    [
      'a pinned commit that is missing from the packs',
      /^git: project 1: a pinned commit is not there: .*1{40}/,
      ({ store }) => store.table.put({ put: { ...pinnedCommitKey(project.repositoryId, '1'.repeat(40)) } }),
    ],
    [
      'a ref table that is not registered',
      /^ref tables: REFTABLE#\w+#t is registered nowhere/,
      ({ store }) => store.table.put({ put: { ...refRankKey(project.repositoryId, 't', 'heads', 0) } }),
    ],
    [
      'a chunk of refs that refers to a missing chunk',
      /^ref tables: the ref table of project 1 ends at REF#refs\/heads\/main, which leads to REF#x/,
      async ({ store }) => {
        const { repositoryId } = project;
        await store.repositories.open(repositoryId).foldRefs();
        const guard = await store.repositories.guard(repositoryId);
        const update = refChunkKey(repositoryId, guard.refTable, 'refs/heads/main');
        await store.table.update({ update, set: { next: 'REF#x' } });
      },
    ],
    [
      'a secret that is not sealed',
      /^secrets: SECRETS#\d SETTINGS#key is not sealed/,
      ({ store }) => store.table.put({ put: { ...secretKey('SETTINGS', 'key'), text: 'open' } }),
    ],
    [
      'a lease of the master key that is none',
      /^master key: the lease of the master key is no lease/,
      ({ store }) => store.table.put({ put: { ...masterKeyLease(), until: 'soon' } }),
    ],
    [
      'settings without values',
      /^settings: SETTINGS# EFFECTIVE holds no settings/,
      ({ store }) => store.table.put({ put: { ...settingsKey('effective'), version: 1 } }),
    ],
    [
      'a secret of links that is none',
      /^link secrets: LINKSECRET#x holds no secret/,
      ({ store }) => store.table.put({ put: { ...linkSecretKey('x'), secret: 'short' } }),
    ],
    [
      'a mark of a message that never expires',
      /^expiring: DONE#mail#1 DONE never expires/,
      ({ store }) => store.table.put({ put: { ...processedKey('mail', '1') } }),
    ],
    [
      'a user without their name',
      /^names: user 1 does not hold its name Ada/,
      remove(() => nameKey('path', 'ada')),
    ],
    ['a user without their email', /^names: user 2 does not hold/, remove(() => nameKey('email', bob.email))],
    [
      'a project without its path',
      /^names: project 1 does not hold/,
      remove(() => nameKey('path', project.fullPath)),
    ],
    [
      'a name without an owner',
      /^names: PATH#ghost is held by user 99/,
      ({ store }) =>
        store.table.put({ put: { ...nameKey('path', 'ghost'), type: 'user', id: 99, name: 'ghost' } }),
    ],
    [
      'a name that another record holds',
      /^names: PATH#ada is held by user 2/,
      set(() => nameKey('path', 'ada'), { id: 2 }),
    ],
    [
      'a name with another spelling',
      /^names: PATH#ada is spelled ADA/,
      set(() => nameKey('path', 'ada'), { name: 'ADA' }),
    ],
    [
      'a claim to a key that does not exist',
      /^owned: SSHKEY#SHA256:x SSHKEY leads to nothing/,
      ({ store }) => store.table.put({ put: { ...sshFingerprintKey('SHA256:x'), userId: 1, ownId: 1 } }),
    ],
    [
      'a count of rows that do not exist',
      /^owned: user 1 counts 3 of GPGKEY; there are 0/,
      ({ store }) => store.table.put({ put: { ...ownCountKey(ada.id), GPGKEY: 3 } }),
    ],
    [
      'a counter below an id in use',
      /^counters: the counter of users is at 1, behind user 2/,
      set(() => counterKey('user'), { n: 1 }),
    ],
    ['a missing counter', /^counters: the counter of tokens is at 0/, remove(() => counterKey('token'))],
    ['a token without its id', /^tokens: token 1 is not found by its id/, remove(() => tokenIdKey(1))],
    [
      'an id without its token',
      /^tokens: TOKENID#0+1 leads to no token/,
      remove(() => tokenKey(tokenHash(TOKEN))),
    ],
    [
      'an acknowledged token that is gone',
      /^acknowledged: token 1 of user 1 is unknown/,
      remove(() => tokenKey(tokenHash(TOKEN))),
    ],
    [
      'a token of a user who does not exist',
      /^tokens: token 1 is of user 1, who does not exist/,
      remove(user(() => ada.id)),
    ],
    [
      'a member who is not a user',
      /^memberships: the membership of user 2 .*user does not exist/,
      remove(user(() => bob.id)),
    ],
    [
      'a membership in a project that does not exist',
      /^memberships: .*project does not exist/,
      remove(() => projectKey(project.id)),
    ],
    [
      'a wrong project count',
      /^project counts: user 1 counts 7 projects and owns 1/,
      set(
        user(() => ada.id),
        { projectsCount: 7 },
      ),
    ],
    [
      'a lost membership',
      /^acknowledged: user 2 has level 0 in project 1 and not 30/,
      remove(() => memberKey({ kind: 'project', id: project.id }, bob.id)),
    ],
    [
      'a changed membership',
      /^acknowledged: user 2 has level 40/,
      set(() => memberKey({ kind: 'project', id: project.id }, bob.id), { accessLevel: 40 }),
    ],
    ['a lost user', /^acknowledged: user bob is not 2/, remove(user(() => bob.id))],
    ['a lost project', /^acknowledged: project Ada\/engine is gone/, remove(() => projectKey(project.id))],
    [
      'a rule that is not counted',
      /^rules: project 1 counts 0 branch rules and has 1/,
      ({ store }) => store.table.put({ put: rule(project.id) }),
    ],
    [
      'a rule above its counter',
      /^counters: the counter of branch-rules is at 0, behind branch-rule 7/,
      ({ store }) => store.table.put({ put: rule(project.id) }),
    ],
    [
      'a rule of a project that does not exist',
      /^rules: the rule x of project 9: the project does not exist/,
      ({ store }) => store.table.put({ put: rule(9) }),
    ],
    [
      'guards that disagree',
      /^repositories: the guards of project 1 disagree/,
      set(() => guardKey(project.repositoryId, 3), { epoch: 4 }),
    ],
    ['a missing guard', /^repositories: /, remove(() => guardKey(project.repositoryId, 0))],
    [
      'a repository without HEAD',
      /^repositories: project 1 has no HEAD/,
      remove(() => headKey(project.repositoryId)),
    ],
    [
      'a repository without a project',
      /^repositories: REPO#\S+ HEAD belongs to nothing/,
      remove(() => projectKey(project.id)),
    ],
    [
      'rows of an unknown kind',
      /^kinds: WHAT#1 X/,
      ({ store }) => store.table.put({ put: { pk: 'WHAT#1', sk: 'X' } }),
    ],
    [
      'an audit event that is in no list',
      /^audit: AUDIT#Project#0+1 \S+ is not where lists look for it/,
      ({ store }) => {
        const { put } = auditEventPut(made(1));
        return store.table.put({ put: { ...put, who: 'AUDIT#Project' } });
      },
    ],
    [
      'a project that exists although its removal was recorded',
      /^audit: Project 1 is there, and was removed/,
      ({ store }) =>
        store.table.transact([
          auditEventPut(made(1)),
          auditEventPut({ ...made(2), details: { remove: 'project' } }),
        ]),
    ],
    [
      'a project whose removal was not recorded, and whose creation was recorded twice',
      /^audit: Project 9 (was made 2 times|is gone)/,
      ({ store }) =>
        store.table.transact([
          auditEventPut({ ...made(1), entityId: 9 }),
          auditEventPut({ ...made(2), entityId: 9 }),
        ]),
    ],
    [
      'an outbox message that was not sent',
      /^outbox: the promise search.index/,
      ({ store }) =>
        store.table.transact([outboxWrite(message(MAINTENANCE, 'search.index', { kind: 'user', id: 1 }))]),
    ],
    [
      'a deleted project whose rows were not removed',
      /^deletions: project 1 is deleted/,
      async ({ store }) => {
        await store.projects.remove(project);
      },
    ],
    [
      'a missing search row',
      /^search: the search row GRAM#user#3:ada 0+1 is missing/,
      remove(() => gramKey('user', '3:ada', ada.id)),
    ],
    [
      'a stale search row',
      /^search: the search row GRAM#user#3:xyz 0+1 is stale/,
      ({ store }) => store.table.put({ put: { ...gramKey('user', '3:xyz', ada.id), text: 'xyz' } }),
    ],
    [
      'a subject that is not indexed',
      /^search: project 1 is indexed as undefined/,
      remove(() => indexedKey('project', project.id)),
    ],
    [
      'an import without a message that ends it',
      /^imports: project 1 waits for its content/,
      set(() => projectKey(project.id), { importStatus: 'started' }),
    ],
    [
      'a finished upload without a message that imports it',
      /^uploads: UPLOAD#lost is queued/,
      ({ store }) => store.table.put({ put: { ...pushUploadKey('lost'), state: 'queued' } }),
    ],
    [
      'a message in a dead-letter queue',
      /^dead letters: 1 messages of maintenance/,
      async ({ clients }) => {
        const QueueUrl = 'http://sqs.local/000000000000/maintenance-dead';
        await clients.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: '{}' }));
      },
    ],
    [
      'a pack whose bytes are gone',
      /^objects: networks\/\S+ is listed and not there/,
      ({ store }) => store.blobs.delete([stored()]),
    ],
    [
      'a pack that cannot be opened',
      /^git: project 1: pack \S+: object does not exist/,
      ({ store }) => store.blobs.delete([stored()]),
    ],
    [
      'a pack cut short',
      /^git: project 1: pack \S+: (its index has )?\d+ bytes/,
      ({ store }) => damaged(store, (bytes) => bytes.subarray(0, -30)),
    ],
    [
      'a pack with a flipped bit',
      /^git: project 1: pack \S+: its checksum is wrong/,
      ({ store }) => damaged(store, (bytes) => bytes.fill(bytes[20]! ^ 1, 20, 21)),
    ],
    [
      'an index with a flipped bit',
      /^git: project 1: pack \S+: the checksum of its index/,
      ({ store }) =>
        damaged(store, (bytes) => bytes.fill(bytes.at(-50)! ^ 1, bytes.length - 50, bytes.length - 49)),
    ],
    [
      'a wrong count of objects',
      /^git: project 1: pack \S+: 3 objects and not 4/,
      set(keyOfPack, { objectCount: 4 }),
    ],
    [
      'objects that are in no listed pack',
      /^git: project 1: git fsck: .*(missing|invalid|not a valid|broken)/,
      remove(keyOfPack),
    ],
    [
      'a lost ref',
      /^git: project 1: refs\/heads\/main is at 0{40} and not at/,
      remove(() => refKey(project.repositoryId, 'refs/heads/main')),
    ],
    [
      'a commit that is not in its history',
      /^git: project 1: commit \S+ is not in the history of main/,
      remove(() => refKey(project.repositoryId, 'refs/heads/main')),
    ],
    [
      'a ref to a missing object',
      /^git: project 1: git fsck/,
      set(() => refKey(project.repositoryId, 'refs/heads/main'), { oid: '1'.repeat(40) }),
    ],
    [
      'a due visit without a message',
      /^visits: project 1 waits for a visit/,
      set(() => leaseKey(project.repositoryId), { visitAt: Date.now() + 3600_000 }),
    ],
    [
      'an invalid lease',
      /^visits: the lease of project 1 is no lease/,
      set(() => leaseKey(project.repositoryId), { until: 'tomorrow', fence: 1 }),
    ],
    [
      'a fork that is not listed by its parent',
      /^forks: project 1 is not among the forks of 9/,
      set(() => projectKey(project.id), { forkedFromId: 9 }),
    ],
    [
      'a wrong count of forks',
      /^forks: project 1 counts 3 forks and has 0/,
      set(() => projectKey(project.id), { forksCount: 3 }),
    ],
    [
      'a wrong count of stars',
      /^stars: project 1 counts 3 stars and has 0/,
      set(() => projectKey(project.id), { starsCount: 3 }),
    ],
    [
      'a wrong count of followers',
      /^follows: user 1 counts 2 followers and has 0/,
      set(() => userKey(1), { followers: 2 }),
    ],
    [
      'a follower who follows nobody',
      /^follows: user 1 has FOLLOWER 2, who has no such row of them/,
      ({ store }) => store.table.put({ put: { ...followKey(1, 'FOLLOWER', 2) } }),
    ],
    [
      'an identity of a user who does not exist',
      /^names: IDENTITY#x is held by user 99/,
      ({ store }) =>
        store.table.put({ put: { ...nameKey('identity', 'x'), type: 'user', id: 99, name: 'x' } }),
    ],
    [
      'an inherited pack that its writer may remove',
      /^networks: HEIRS#\S+ \S+ is missing/,
      set(keyOfPack, { inherited: true }),
    ],
    [
      'a network with a member that does not exist',
      /^networks: NETWORK#n has nobody/,
      ({ store }) => store.table.put({ put: { ...networkMemberKey('n', 'nobody') } }),
    ],
    [
      'a missing derived file',
      /^objects: derived\/x is listed and not there/,
      set(() => derivedKey(project.repositoryId, 'bitmap'), { kind: 'bitmap', location: 'derived/x' }),
    ],
    [
      'an archive of a project that does not exist',
      /^objects: archives\/nobody\/x is nobody's/,
      ({ store }) => store.blobs.put('archives/nobody/x', Buffer.from('x')),
    ],
    [
      'bytes of a repository that does not exist',
      /^objects: networks\/nobody\/packs\/x is nobody's/,
      ({ store }) => store.blobs.put('networks/nobody/packs/x', Buffer.from('x')),
    ],
  ])('%s', async (_, expected, damage) => {
    const problems = await problemsAfter(damage);
    expect(problems).toContainEqual(expect.stringMatching(expected));
  });

  test.each<[string, RegExp, (rows: [string, string][], storage: Storage) => void]>([
    [
      'an item without its index row',
      /^indexes: \w+ lacks the row of/,
      (rows, storage) => storage.stage(new Map([[rows[0]![0], null]])),
    ],
    [
      'an index row that differs from its item',
      /^indexes: byUser differs from/,
      (rows, storage) => {
        const [key, text] = rows.find(([, value]) => value.includes('"accessLevel":{"N":"30"}'))!;
        storage.stage(new Map([[key, text.replace('"N":"30"', '"N":"50"')]]));
      },
    ],
    [
      'an index row without its item',
      /^indexes: \w+ has a row of USER#0+77 USER, which does not exist/,
      (rows, storage) => {
        const [key, text] = rows.find(([, value]) => value.includes('"pk":{"S":"USER#000000000002"'))!;
        storage.stage(new Map([[`${key}~`, text.replaceAll('USER#000000000002"', 'USER#000000000077"')]]));
      },
    ],
    [
      'an item that is in an index twice',
      /^indexes: \w+ has USER#0+2 USER twice/,
      (rows, storage) => {
        const [key, text] = rows.find(([, value]) => value.includes('"pk":{"S":"USER#000000000002"'))!;
        storage.stage(new Map([[`${key}~`, text]]));
      },
    ],
  ])('%s', async (_, expected, damage) => {
    const storage = async (opened: Storage) => {
      const rows: [string, string][] = [];
      for await (const chunk of opened.rows({ gte: 'x/', lt: 'x0' })) rows.push(...chunk);
      damage(rows, opened);
    };
    expect(await problemsAfter(async () => {}, { storage })).toContainEqual(expect.stringMatching(expected));
  });

  test('a project that still exists though its deletion was acknowledged', async () => {
    const other = new ExpectedState();
    other.projects.set(project.fullPath, { id: project.id, present: new Fact(false) });
    expect(await problemsAfter(async () => {}, { expectedState: other })).toEqual([
      'acknowledged: project Ada/engine is still there',
    ]);
  });

  test('no problem while bytes and rows of a deleted project are being removed', async () => {
    const gone = new ExpectedState();
    const halfWay = async ({ store }: Data) => {
      await store.projects.remove(project);
      await store.blobs.delete([stored()]);
      await store.table.delete({ delete: guardKey(project.repositoryId, 0) });
      await store.table.update({ update: keyOfPack(), set: { inherited: true } });
    };
    expect(await problemsAfter(halfWay, { expectedState: gone, settled: false })).toEqual([]);
  });

  test('the repository of a deleted snippet remains until the worker has removed it', async () => {
    const deleted = ({ store }: Data) =>
      store.table.transact(newRepository({ repositoryId: 'snippet-7' }, 'main'));
    expect(await problemsAfter(deleted, { settled: false })).toEqual([]);
    expect(await problemsAfter(deleted)).toContain(
      'repositories of deleted snippets: REPO#snippet-7 HEAD belongs to nothing',
    );
  });

  test('refs that were moved together and have different values', async () => {
    const other = new ExpectedState();
    other.together.set(project.id, [['refs/heads/main', 'refs/heads/twin']]);
    expect(await problemsAfter(async () => {}, { expectedState: other })).toEqual([
      'git: project 1: refs/heads/main and 1 more were moved together and stand apart',
    ]);
  });

  test('a committed file that is missing from the tree', async () => {
    const other = new ExpectedState();
    other.files.set(project.id, new Set(['main:lost.txt']));
    expect(await problemsAfter(async () => {}, { expectedState: other })).toEqual([
      'git: project 1: main:lost.txt was committed and is not there',
    ]);
  });
});

test('a request without a response may or may not have taken effect; any other state is reported', async () => {
  const other = new ExpectedState();
  const ref = other.ref(project.id, 'refs/heads/main');
  ref.attempt(tip);
  expect(await problemsAfter(async () => {}, { expectedState: other })).toEqual([]);
  ref.refuse(tip);
  ref.attempt('2'.repeat(40));
  expect(await problemsAfter(async () => {}, { expectedState: other })).toHaveLength(1);
});

async function damaged(store: Data['store'], change: (bytes: Buffer) => Uint8Array): Promise<void> {
  const whole = Buffer.from(await store.blobs.read(stored(), 0, 1 << 20));
  await store.blobs.put(stored(), change(whole));
}
