import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { GroupRecord } from '../../../lib/records/groups.ts';
import type { MemberSource } from '../../../lib/records/members.ts';
import type { DeployTokenRecord } from '../../../lib/records/tokens.ts';
import type { UserRecord } from '../../../lib/records/users.ts';
import { LimitReached, Missing } from '../../../lib/store/errors.ts';
import { tokenCountKey } from '../../../lib/store/row-keys/tokens.ts';
import { MAX_DEPLOY_TOKENS } from '../../../lib/store/tokens/deploy-tokens.ts';
import { measured, newUser, openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
let ada: UserRecord;
beforeAll(async () => {
  opened = await openTestStore();
  ada = await opened.store.users.create(newUser('ada'));
});
afterAll(() => opened.close());

const newGroup = (path: string): Promise<GroupRecord> =>
  opened.store.groups.create(
    { name: path, path, visibility: 'private', description: '', creatorId: ada.id, settings: {} },
    { ownerId: ada.id },
  );

const make = (resource: MemberSource): Promise<DeployTokenRecord> =>
  opened.store.deployTokens.create(
    {
      resource,
      name: 'ci',
      scopes: ['read_repository'],
      expiresAt: null,
      hash: createHash('sha256').update(randomUUID()).digest('hex'),
      createdById: ada.id,
    },
    { usernameOf: (id) => `user-${id}`, now: new Date() },
  );

test('a deploy token is found by its hash in one read, and by its id, until it is removed', async () => {
  const { deployTokens } = opened.store;
  const resource = { kind: 'group', id: (await newGroup('found')).id } as const;
  const made = await make(resource);
  expect(made.username).toBe(`user-${made.id}`);
  const { value, requests } = await measured(opened, () => deployTokens.byHash(made.hash));
  expect([value, requests]).toEqual([made, 1]);
  expect(await deployTokens.get(made.id)).toEqual(made);
  await deployTokens.remove(made);
  expect(await deployTokens.byHash(made.hash)).toBeUndefined();
  await expect(deployTokens.remove(made)).rejects.toBeInstanceOf(Missing);
  expect(await opened.store.table.get(tokenCountKey(resource))).toMatchObject({ deploy: 0 });
});

test('a deploy token needs an existing project or group with fewer tokens than the limit', async () => {
  await expect(make({ kind: 'project', id: 999_999 })).rejects.toBeInstanceOf(Missing);
  const resource = { kind: 'group', id: (await newGroup('full')).id } as const;
  await opened.store.table.update({ update: tokenCountKey(resource), set: { deploy: MAX_DEPLOY_TOKENS } });
  await expect(make(resource)).rejects.toBeInstanceOf(LimitReached);
});

test('lists of one project or group cost the same with ten times the tokens, and are deleted with it', async () => {
  const { deployTokens } = opened.store;
  const resource = { kind: 'group', id: (await newGroup('many')).id } as const;
  const made: DeployTokenRecord[] = [];
  const add = async (n: number) => {
    for (let i = 0; i < n; i++) made.push(await make(resource));
  };
  const cost = async () => {
    const read = () => deployTokens.list({ resource, page: 1, perPage: 5 });
    const { value, requests, items } = await measured(opened, read);
    expect(value.items).toEqual(made.slice(0, 5));
    return { requests, items };
  };
  await add(6);
  const few = await cost();
  await add(54);
  expect(await cost()).toEqual(few);
  expect(await deployTokens.list({ resource, page: 2, perPage: 50, count: true })).toMatchObject({
    items: made.slice(50),
    total: 60,
    more: false,
  });
  while (await deployTokens.removeOfResource(resource, 25));
  expect((await deployTokens.list({ resource, page: 1, perPage: 5 })).items).toEqual([]);
  for (const token of made) expect(await deployTokens.byHash(token.hash)).toBeUndefined();
});
