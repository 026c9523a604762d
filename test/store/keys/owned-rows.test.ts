import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EmailRecord } from '../../../lib/records/emails.ts';
import type { GpgKeyRecord, SshKeyRecord } from '../../../lib/records/keys.ts';
import { LimitReached, Missing, NameTaken } from '../../../lib/store/errors.ts';
import { MAX_SSH_KEYS } from '../../../lib/store/keys/ssh-keys.ts';
import {
  gpgKeyIdKey,
  ownCountKey,
  sshFingerprintKey,
  sshKeyIdKey,
} from '../../../lib/store/row-keys/keys.ts';
import { nameKey } from '../../../lib/store/row-keys/names.ts';
import { measured, newUser, openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
let ada: number;
let bob: number;
beforeAll(async () => {
  opened = await openTestStore();
  [ada, bob] = (await Promise.all(
    ['ada', 'bob'].map(async (name) => (await opened.store.users.create(newUser(name))).id),
  )) as [number, number];
});
afterAll(() => opened.close());

const NOW = '2026-01-01T00:00:00.000Z';

async function sshKey(userId: number, change: Partial<SshKeyRecord> = {}): Promise<SshKeyRecord> {
  const id = await opened.store.sshKeys.nextId();
  const [md5, sha256] = [randomBytes(16).toString('hex'), randomBytes(32).toString('base64')];
  const facts = { title: 'x', key: 'ssh-ed25519 x', usage: 'auth_and_signing', expiresAt: null } as const;
  return { id, userId, ...facts, md5, sha256, createdAt: NOW, ...change };
}

async function gpgKey(userId: number, subkeys: number): Promise<GpgKeyRecord> {
  const id = await opened.store.gpgKeys.nextId();
  const hex = (bytes: number) => randomBytes(bytes).toString('hex').toUpperCase();
  const ids = Array.from({ length: subkeys }, (_, at) => ({ id: at, keyId: hex(8) }));
  return { id, userId, key: 'x'.repeat(500), fingerprint: hex(20), subkeys: ids, createdAt: NOW };
}

async function email(userId: number, address: string): Promise<EmailRecord> {
  const id = await opened.store.emails.nextId();
  return { id, userId, email: address, createdAt: NOW, confirmedAt: NOW };
}

describe('a key', () => {
  test('is found by its id and by each fingerprint in two reads', async () => {
    const { sshKeys } = opened.store;
    const key = await sshKey(ada);
    await sshKeys.add(key);
    for (const find of [
      () => sshKeys.byId(key.id),
      () => sshKeys.byFingerprint(key.md5),
      () => sshKeys.byFingerprint(key.sha256),
    ]) {
      const { value, requests } = await measured(opened, find);
      expect([value, requests]).toEqual([key, 2]);
    }
  });

  test('with a fingerprint in use is refused, and leaves nothing', async () => {
    const { sshKeys, table } = opened.store;
    const first = await sshKey(ada);
    await sshKeys.add(first);
    const second = await sshKey(bob, { md5: first.md5 });
    await expect(sshKeys.add(second)).rejects.toEqual(new NameTaken(['fingerprint']));
    expect(await sshKeys.get(bob, second.id)).toBeUndefined();
    expect(await table.get(sshKeyIdKey(second.id))).toBeUndefined();
    expect(await table.get(sshFingerprintKey(second.sha256))).toBeUndefined();
  });

  test('above the limit of its user is refused, also for concurrent additions', async () => {
    const { sshKeys, table } = opened.store;
    const { id } = await opened.store.users.create(newUser('collector'));
    await table.put({ put: { ...ownCountKey(id), SSHKEY: MAX_SSH_KEYS - 1 } });
    const keys = await Promise.all([1, 2, 3].map(() => sshKey(id)));
    const outcomes = await Promise.allSettled(keys.map((key) => sshKeys.add(key)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const refusals = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(refusals.every((reason) => reason instanceof LimitReached)).toBe(true);
    await sshKeys.remove(keys[outcomes.findIndex(({ status }) => status === 'fulfilled')]!);
    await sshKeys.add(await sshKey(id));
  });

  test('of a user who does not exist is refused', async () => {
    await expect(opened.store.sshKeys.add(await sshKey(999_999))).rejects.toBeInstanceOf(Missing);
  });
});

test('a GPG key is found by its id and those of its subkeys', async () => {
  const { gpgKeys } = opened.store;
  const key = await gpgKey(ada, 2);
  await gpgKeys.add(key);
  for (const id of [key.fingerprint.slice(-16), ...key.subkeys.map(({ keyId }) => keyId)]) {
    expect(await gpgKeys.bySigner(id)).toEqual(key);
  }
  expect(await gpgKeys.bySigner('0'.repeat(16))).toBeUndefined();
});

test('the rows of a removed user are deleted in batches, with all names they claimed', async () => {
  const { users, sshKeys, gpgKeys, emails, table, names } = opened.store;
  const user = await users.create(newUser('leaver'));
  const keys = await Promise.all([1, 2, 3].map(() => sshKey(user.id)));
  for (const key of keys) await sshKeys.add(key);
  const gpg = await gpgKey(user.id, 1);
  await gpgKeys.add(gpg);
  await emails.add(await email(user.id, 'Away@home.example'));
  await users.remove(user);
  // A writer that was still in progress is refused.
  await expect(sshKeys.remove(keys[0]!)).rejects.toBeInstanceOf(Missing);
  expect(await sshKeys.removeOfUser(user.id, 2)).toBe(true);
  expect(await sshKeys.removeOfUser(user.id, 2)).toBe(false);
  for (const owned of [gpgKeys, emails, sshKeys]) expect(await owned.removeOfUser(user.id)).toBe(false);
  const left = [
    ...keys.flatMap((key) => [
      sshKeyIdKey(key.id),
      sshFingerprintKey(key.md5),
      sshFingerprintKey(key.sha256),
    ]),
    gpgKeyIdKey(gpg.fingerprint.slice(-16)),
    gpgKeyIdKey(gpg.subkeys[0]!.keyId),
    nameKey('email', 'away@HOME.example'),
    ownCountKey(user.id),
  ];
  expect(await table.batchGet(left)).toEqual(left.map(() => undefined));
  expect(await names.holder('email', 'away@home.example')).toBeUndefined();
});

test('adding and removing keys and emails costs a fixed number of write units', async () => {
  const { sshKeys, gpgKeys, emails } = opened.store;
  const key = await sshKey(ada);
  const gpg = await gpgKey(ada, 1);
  const address = await email(ada, 'ada@home.example');
  const costs = [];
  for (const run of [
    () => sshKeys.add(key),
    () => gpgKeys.add(gpg),
    () => emails.add(address),
    () => sshKeys.remove(key),
  ]) {
    opened.reset();
    await run();
    costs.push(opened.operations.reduce((units, { writeUnits }) => units + writeUnits, 0));
  }
  expect(costs).toEqual([12, 10, 8, 12]);
});
