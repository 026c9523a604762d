/** Writes passed as `alongside` are written by the request that makes the change, not by concurrent losers. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BranchRule } from '../../../lib/records/refs.ts';
import type { TokenRecord } from '../../../lib/records/tokens.ts';
import type { UserRecord } from '../../../lib/records/users.ts';
import { Stale } from '../../../lib/store/errors.ts';
import { ABSENT, type Put, type Write } from '../../../lib/store/table/write.ts';
import { createProject, newUser, openTestStore, type TestStore } from './store-fixture.ts';

let opened: TestStore;
let ada: UserRecord;
let projectId: number;
beforeAll(async () => {
  opened = await openTestStore();
  ada = await opened.store.users.create(newUser('ada'));
  projectId = (await createProject(opened.store, ada, 'thing')).id;
});
afterAll(() => opened.close());

let marks = 0;
const mark = (): Put => ({ put: { pk: `MARK#${++marks}`, sk: 'MARK' }, if: ABSENT });
const written = async ({ put: { pk, sk } }: Put) => (await opened.store.table.get({ pk, sk })) !== undefined;

const AT = '2026-01-01T00:00:00.000Z';
const hash = () => createHash('sha256').update(randomUUID()).digest('hex');
const token = (): Promise<TokenRecord> => opened.store.tokens.create(newToken());
const newToken = () => ({
  userId: ada.id,
  name: 'x',
  scopes: ['api'] as const,
  expiresAt: null,
  hash: hash(),
});
const sshKey = async () => {
  const [md5, sha256] = [randomBytes(16).toString('hex'), randomBytes(32).toString('base64')];
  const facts = { title: 'x', key: 'ssh-ed25519 x', usage: 'auth_and_signing', expiresAt: null } as const;
  return { id: await opened.store.sshKeys.nextId(), userId: ada.id, ...facts, md5, sha256, createdAt: AT };
};
const rule = (name: string): BranchRule => ({
  kind: 'branch',
  id: ++marks,
  projectId,
  name,
  push: [{ id: 1, level: 40 }],
  merge: [{ id: 2, level: 40 }],
  unprotect: [{ id: 3, level: 40 }],
  allowForcePush: false,
  codeOwnerApproval: false,
  createdAt: AT,
  updatedAt: AT,
});

/** Each prepares what the change needs, and returns a function that makes the change at each call. */
type Change = (alongside: readonly Write[]) => Promise<unknown>;
const CHANGES: Readonly<Record<string, () => Promise<Change>>> = {
  'a token is made': async () => {
    const made = newToken();
    return (alongside) => opened.store.tokens.create(made, { alongside: () => alongside });
  },
  'a token is revoked': async () => {
    const made = await token();
    return (alongside) => opened.store.tokens.revoke(made, alongside);
  },
  'a token is rotated': async () => {
    const made = await token();
    return (alongside) =>
      opened.store.tokens.rotate(made, { hash: hash(), expiresAt: null }, new Date(), () => alongside);
  },
  'a deploy token is removed': async () => {
    const resource = { kind: 'project', id: projectId } as const;
    const of = { resource, name: 'x', scopes: ['read_repository'] as const, expiresAt: null };
    const made = await opened.store.deployTokens.create(
      { ...of, hash: hash(), createdById: ada.id },
      { usernameOf: String, now: new Date() },
    );
    return (alongside) => opened.store.deployTokens.remove(made, alongside);
  },
  'a key is added': async () => {
    const key = await sshKey();
    return (alongside) => opened.store.sshKeys.add(key, { alongside });
  },
  'a key is removed': async () => {
    const key = await sshKey();
    await opened.store.sshKeys.add(key);
    return (alongside) => opened.store.sshKeys.remove(key, { alongside });
  },
  'a rule is made': async () => {
    const made = rule('made');
    return (alongside) => opened.store.refRules.create(made, alongside);
  },
  'a rule is changed': async () => {
    const made = rule('changed');
    await opened.store.refRules.create(made);
    return (alongside) =>
      opened.store.refRules.change(made, { push: [{ id: 1, level: 30 }] }, new Date(), alongside);
  },
  'a rule is removed': async () => {
    const made = rule('removed');
    await opened.store.refRules.create(made);
    return (alongside) => opened.store.refRules.remove(made, alongside);
  },
};

test.each(Object.entries(CHANGES))(
  'when %s by many concurrent requests, only one of them writes alongside',
  async (_, prepare) => {
    const change = await prepare();
    const all = [1, 2, 3, 4].map(mark);
    await Promise.allSettled(all.map((each) => change([each])));
    expect((await Promise.all(all.map(written))).filter(Boolean)).toHaveLength(1);
  },
);

test('a deploy token is created together with the writes that contain its id', async () => {
  const own = mark();
  const made = await opened.store.deployTokens.create(
    {
      resource: { kind: 'project', id: projectId },
      name: 'x',
      scopes: ['read_repository'],
      expiresAt: null,
      hash: hash(),
      createdById: ada.id,
    },
    {
      usernameOf: String,
      now: new Date(),
      alongside: ({ id }) => [{ ...own, put: { ...own.put, id } }],
    },
  );
  expect(await opened.store.table.get({ pk: own.put.pk, sk: own.put.sk })).toMatchObject({ id: made.id });
});

test('a rule cannot be changed from an older version', async () => {
  const { refRules } = opened.store;
  const made = rule('raced');
  await refRules.create(made);
  const is = await refRules.change(made, { merge: [{ id: 2, level: 30 }] }, new Date());
  expect(is).toEqual(await refRules.get(projectId, 'branch', 'raced'));
  await expect(refRules.change(made, { push: [{ id: 1, level: 30 }] }, new Date())).rejects.toBeInstanceOf(
    Stale,
  );
  expect(await refRules.change(is, { push: [{ id: 1, level: 30 }] }, new Date())).toMatchObject({
    push: [{ id: 1, level: 30 }],
    merge: [{ id: 2, level: 30 }],
  });
});
