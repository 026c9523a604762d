import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { ingestUpload } from '../../../lib/domain/git/receive-staged-push.ts';
import { parseOid, ZERO_OID } from '../../../lib/git/oid.ts';
import { pushRequest } from '../../../lib/git/wire/push-request.ts';
import { UPLOADS_PER_USER } from '../../../lib/store/git/push-uploads.ts';
import { pushUploadKey, uploadSlotKey } from '../../../lib/store/row-keys/git.ts';
import { OUTBOX_SHARDS, outboxPartition } from '../../../lib/store/row-keys/outbox.ts';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { type Answer, request } from '../../harness/service.ts';
import { ask, type Who } from '../../harness/world.ts';
import { seedCode } from '../repository/code-audience.ts';

/** The calls of a large push one by one, as no client should make them. */
const git = new GitCli();
const { service, world } = ownWorld({ limits: true });
let clone: string;
beforeAll(async () => {
  await seedCode(world);
  clone = await git.clone(withToken(service.url, 'owner/public-thing', world.tokens.owner), 'clone');
});
afterAll(() => {
  git[Symbol.dispose]();
});

interface Change {
  readonly ref: string;
  readonly from?: string;
  readonly to?: string;
}

const call = (
  who: Who,
  method: string,
  rest = '',
  body?: Uint8Array,
  project = 'public',
): Promise<Answer> => {
  const token = world.tokens[who];
  return request(`${service.url}/owner/${project}-thing.git/lemnos/uploads${rest}`, method, {
    headers: token === undefined ? {} : { Authorization: `Basic ${btoa(`any:${token}`)}` },
    body: body as BodyInit | undefined,
  });
};
const head = (changes: readonly Change[], more: { atomic?: boolean; pushOptions?: string[] } = {}) =>
  pushRequest({
    commands: changes.map(({ ref, from, to }) => ({
      name: ref,
      from: from === undefined ? ZERO_OID : parseOid(from)!,
      to: to === undefined ? ZERO_OID : parseOid(to)!,
    })),
    ...more,
  });
const put = (url: string, body: Uint8Array) => fetch(url, { method: 'PUT', body: body as BodyInit });

/** A new commit on what the service has as main. */
async function commit(name: string, size = 100): Promise<{ before: string; oid: string }> {
  await git.ok(clone, 'fetch', '--quiet', 'origin', 'main');
  await git.ok(clone, 'checkout', '--quiet', '--detach', 'FETCH_HEAD');
  const before = await git.ok(clone, 'rev-parse', 'HEAD');
  writeFileSync(join(clone, name), randomBytes(size));
  await git.ok(clone, 'add', name);
  await git.ok(clone, 'commit', '--quiet', '-m', name);
  return { before, oid: await git.ok(clone, 'rev-parse', 'HEAD') };
}

async function packOf(oid: string, without?: string): Promise<Uint8Array> {
  const input = `${oid}\n${without === undefined ? '' : `^${without}\n`}`;
  const args = ['pack-objects', '--revs', '--thin', '--stdout', '-q'];
  const { code, stdout, stderr } = await git.run(args, { cwd: clone, input });
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

async function begin(who: Who, changes: readonly Change[], pack: Uint8Array, more = {}): Promise<Answer> {
  return call(who, 'POST', `?size=${pack.length}`, head(changes, more));
}

async function uploaded(who: Who, changes: readonly Change[], pack: Uint8Array, more = {}): Promise<string> {
  const begun = await begin(who, changes, pack, more);
  expect(begun.status).toBe(201);
  const { id, part_size } = begun.body;
  for (let after: number | null = 0; after !== null; ) {
    const page: Answer = await call(who, 'GET', `/${id}/parts?after=${after}`);
    expect(page.status).toBe(200);
    for (const { number, url } of page.body.parts) {
      expect((await put(url, pack.subarray((number - 1) * part_size, number * part_size))).status).toBe(200);
    }
    after = page.body.next_after;
  }
  return id;
}

/** Follows an upload to its end. */
async function ended(who: Who, id: string): Promise<Answer['body']> {
  return vi.waitUntil(
    async () => {
      const { status, body } = await call(who, 'GET', `/${id}`);
      expect(status).toBe(200);
      return ['done', 'failed', 'aborted'].includes(body.state) && body;
    },
    { timeout: 60_000, interval: 25 },
  );
}

async function pushed(who: Who, changes: readonly Change[], pack: Uint8Array, more = {}) {
  const id = await uploaded(who, changes, pack, more);
  expect((await call(who, 'POST', `/${id}/finish`)).status).toBe(202);
  return ended(who, id);
}

const remoteValue = async (ref: string): Promise<string | undefined> =>
  (await git.ok(clone, 'ls-remote', 'origin', ref)).split('\t')[0] || undefined;

/** Ends what a test left open, so that the next has room. */
async function clear(who: Who): Promise<void> {
  const user = world.ids[who]!;
  for (let slot = 0; slot < UPLOADS_PER_USER; slot++) {
    await world.store.table.delete({ delete: uploadSlotKey(user, slot) });
  }
}

test('upload parts may arrive in any order, and the worker updates the refs', async () => {
  const { before, oid } = await commit('large', 9_000_000);
  const pack = await packOf(oid, before);
  const changes = [{ ref: 'refs/heads/main', from: before, to: oid }];
  const begun = await begin('maintainer', changes, pack);
  expect(begun.body).toMatchObject({ state: 'uploading', size: pack.length, part_size: 8 << 20, parts: 2 });
  const { id, part_size } = begun.body;

  const [first, second] = (await call('maintainer', 'GET', `/${id}/parts`)).body.parts;
  expect([first.size, second.size]).toEqual([part_size, pack.length - part_size]);
  expect((await put(second.url, pack.subarray(part_size))).status).toBe(200);
  const early = await call('maintainer', 'POST', `/${id}/finish`);
  expect([early.status, early.body]).toEqual([
    409,
    { message: '409 Conflict: parts are missing', parts: [1] },
  ]);
  // Of another length it is not taken: neither too much nor too little.
  expect((await put(first.url, pack.subarray(0, part_size - 1))).status).toBe(403);
  expect((await put(first.url, pack.subarray(0, part_size + 1))).status).toBe(403);

  const resumed = (await call('maintainer', 'GET', `/${id}/parts`)).body.parts;
  expect(resumed.map((part: { url?: string }) => part.url !== undefined)).toEqual([true, false]);
  expect((await put(resumed[0].url, pack.subarray(0, part_size))).status).toBe(200);
  expect((await call('maintainer', 'POST', `/${id}/finish`)).status).toBe(202);
  // Finished twice, as by a client whose answer was lost.
  expect((await call('maintainer', 'POST', `/${id}/finish`)).status).toBe(202);
  const done = await ended('maintainer', id);
  expect(done).toMatchObject({
    state: 'done',
    report: { unpack: 'ok', refs: [{ name: 'refs/heads/main' }], messages: [] },
  });
  expect(await remoteValue('refs/heads/main')).toBe(oid);
  await git.clone(withToken(service.url, 'owner/public-thing', world.tokens.owner), 'proof');
  // What was staged is gone; a message that comes again changes nothing.
  const { staged } = (await world.store.pushUploads.get(id))!;
  expect(await world.store.stagingArea.parts(staged)).toEqual([]);
  await ingestUpload(deps(), id);
  const told = await ask(world, 'maintainer', 'GET', '/events?action=pushed');
  const push_data = {
    commit_count: 1,
    commit_from: before,
    commit_to: oid,
    commit_title: 'large',
    ref: 'main',
  };
  expect(told.body).toMatchObject([{ push_data }]);
  expect((await call('maintainer', 'GET', `/${id}/parts`)).status).toBe(409);
  expect((await call('maintainer', 'DELETE', `/${id}`)).status).toBe(409);
});

test.each([
  ['anonymous', 'public', 401],
  ['anonymous', 'private', 401],
  ['unknown', 'public', 401],
  ['revoked', 'public', 401],
  ['stranger', 'private', 404],
  ['stranger', 'public', 403],
  ['reporter', 'public', 403],
  ['read_repository', 'public', 403],
  ['blocked', 'public', 403],
] as const)(
  '%s cannot begin an upload to the %s project: %i, as for git-receive-pack',
  async (who, project, status) => {
    const begun = await call(
      who,
      'POST',
      '?size=100',
      head([{ ref: 'refs/heads/x', to: '1'.repeat(40) }]),
      project,
    );
    expect(begun.status).toBe(status);
    const token = world.tokens[who];
    const discovery = await request(
      `${service.url}/owner/${project}-thing.git/info/refs?service=git-receive-pack`,
      'GET',
      { headers: token === undefined ? {} : { Authorization: `Basic ${btoa(`any:${token}`)}` } },
    );
    expect(discovery.status).toBe(status);
    expect(begun.headers.get('www-authenticate')).toBe(discovery.headers.get('www-authenticate'));
  },
);

test('absent projects look like hidden ones to uploads', async () => {
  const told = await call('stranger', 'POST', '?size=100', head([{ ref: 'r', to: '1'.repeat(40) }]), 'no');
  expect([told.status, told.body]).toEqual([404, { message: '404 Project Not Found' }]);
});

test('an upload is visible to its creator only, and in its project only', async () => {
  const { body } = await begin(
    'developer',
    [{ ref: 'refs/heads/mine', to: '1'.repeat(40) }],
    randomBytes(50),
  );
  for (const [who, project] of [
    ['maintainer', 'public'],
    ['developer', 'internal'],
  ] as const) {
    for (const [method, rest] of [
      ['GET', ''],
      ['GET', '/parts'],
      ['POST', '/finish'],
      ['DELETE', ''],
    ]) {
      expect((await call(who, method!, `/${body.id}${rest}`, undefined, project)).status).toBe(404);
    }
  }
  expect((await call('developer', 'DELETE', `/${body.id}`)).status).toBe(204);
  expect((await call('developer', 'DELETE', `/${body.id}`)).status).toBe(204);
  expect((await call('developer', 'GET', `/${body.id}`)).body.state).toBe('aborted');
  expect((await call('developer', 'POST', `/${body.id}/finish`)).status).toBe(409);
});

const one = head([{ ref: 'refs/heads/x', to: '1'.repeat(40) }]);
test.each([
  ['', one, 400],
  ['?size=x', one, 400],
  ['?size=-5', one, 400],
  ['?size=31', one, 400],
  [`?size=${2 ** 31 + 1}`, one, 413],
  ['?size=999999999999999', one, 413],
  ['?size=100', new Uint8Array(0), 400],
  ['?size=100', Buffer.from('0000'), 400],
  ['?size=100', Buffer.from('zzzz'), 400],
  ['?size=100', Buffer.from('{"commands":[]}'), 400],
  ['?size=100', one.subarray(0, 30), 400],
  ['?size=100', Buffer.concat([one, Buffer.from('PACK')]), 400],
] as const)('an invalid upload request is refused: %s', async (query, body, status) => {
  expect((await call('developer', 'POST', query, body)).status).toBe(status);
});

test('unsupported methods, parts and ids of uploads are refused', async () => {
  const { body } = await begin('developer', [{ ref: 'refs/heads/m', to: '1'.repeat(40) }], randomBytes(50));
  expect((await call('developer', 'PUT')).status).toBe(405);
  expect((await call('developer', 'POST', `/${body.id}`)).status).toBe(405);
  expect((await call('developer', 'GET', `/${body.id}/finish`)).status).toBe(405);
  expect((await call('developer', 'GET', `/${body.id}/parts?after=-1`)).status).toBe(400);
  expect((await call('developer', 'GET', `/${body.id}/parts?after=7`)).body).toEqual({
    parts: [],
    next_after: null,
  });
  expect((await call('developer', 'GET', `/${body.id}/else`)).status).toBe(404);
  expect((await call('developer', 'GET', '/01ARZ3NDEKTSV4RRFFQ69G5FAV')).status).toBe(404);
  await call('developer', 'DELETE', `/${body.id}`);
});

test('a user has a bounded number of uploads, also with simultaneous requests', async () => {
  await clear('maintainer');
  const tries = Array.from({ length: UPLOADS_PER_USER + 4 }, () =>
    call('maintainer', 'POST', '?size=100', one),
  );
  const answers = await Promise.all(tries);
  const begun = answers.filter(({ status }) => status === 201);
  expect(begun).toHaveLength(UPLOADS_PER_USER);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(4);
  expect((await call('maintainer', 'DELETE', `/${begun[0]!.body.id}`)).status).toBe(204);
  expect((await call('maintainer', 'POST', '?size=100', one)).status).toBe(201);
  await clear('maintainer');
});

test('an upload gets the errors that a push would get', async () => {
  const main = (await remoteValue('refs/heads/main'))!;
  const { before, oid } = await commit('told');
  const pack = await packOf(oid, before);
  const refused = (name: string, reason: string) => ({ name, reason });

  // The default branch is protected; its neighbour is not, and moves.
  const mixed = await pushed(
    'developer',
    [
      { ref: 'refs/heads/main', from: main, to: oid },
      { ref: 'refs/heads/beside', to: oid },
    ],
    pack,
  );
  expect(mixed.report.refs).toEqual([
    refused('refs/heads/main', 'You are not allowed to push code to protected branches on this project.'),
    { name: 'refs/heads/beside' },
  ]);
  // All or nothing.
  const atomic = await pushed(
    'developer',
    [
      { ref: 'refs/heads/main', from: main, to: oid },
      { ref: 'refs/heads/atomic', to: oid },
    ],
    pack,
    { atomic: true },
  );
  expect(atomic.report.refs[1]).toEqual(refused('refs/heads/atomic', 'atomic push failure'));
  expect(await remoteValue('refs/heads/atomic')).toBeUndefined();
  // What it saw is not so any more.
  const stale = await pushed('maintainer', [{ ref: 'refs/heads/main', from: oid, to: oid }], pack);
  expect(stale.report.refs).toEqual([refused('refs/heads/main', 'fetch first')]);
  // A forced update of a protected branch, beside a deletion of an unprotected one.
  const root = await git.ok(clone, 'commit-tree', '-m', 'other', `${oid}^{tree}`);
  const forced = await pushed(
    'maintainer',
    [
      { ref: 'refs/heads/main', from: main, to: root },
      { ref: 'refs/heads/beside', from: oid },
    ],
    await packOf(root, before),
  );
  expect(forced.report.refs).toEqual([
    refused(
      'refs/heads/main',
      'You are not allowed to force push code to a protected branch on this project.',
    ),
    { name: 'refs/heads/beside' },
  ]);
  expect(await remoteValue('refs/heads/beside')).toBeUndefined();
  expect(await remoteValue('refs/heads/main')).toBe(main);
});

test('an upload of an invalid, incomplete or malformed pack changes nothing', async () => {
  const { before, oid } = await commit('bad');
  const good = Buffer.from(await packOf(oid, before));
  const flipped = Buffer.from(good);
  flipped[good.length - 40]! ^= 0xff;
  for (const [pack, told] of [
    [randomBytes(5000), /pack/i],
    [flipped, /./],
    [good.subarray(0, good.length - 30), /./],
  ] as const) {
    const { state, report } = await pushed('developer', [{ ref: 'refs/heads/bad', to: oid }], pack);
    expect([state, report.unpack === 'ok']).toEqual(['done', false]);
    expect(report.unpack).toMatch(told);
    expect(report.refs).toEqual([{ name: 'refs/heads/bad', reason: 'unpacker error' }]);
  }
  // Sound in itself, but of a commit whose tree nobody has.
  const hash = await git.run(['hash-object', '-t', 'commit', '-w', '--stdin', '--literally'], {
    cwd: clone,
    input: `tree ${'1'.repeat(40)}\nauthor a <a@b> 0 +0000\ncommitter a <a@b> 0 +0000\n\nm\n`,
  });
  const orphan = hash.stdout.toString().trim();
  const { stdout } = await git.run(['pack-objects', '--stdout', '-q'], { cwd: clone, input: `${orphan}\n` });
  const { report } = await pushed('developer', [{ ref: 'refs/heads/bad', to: orphan }], stdout);
  expect(report.refs).toEqual([{ name: 'refs/heads/bad', reason: 'missing necessary objects' }]);
  expect(report.messages[0]).toMatch(/^error: object 1{40} is missing/);
  expect(await remoteValue('refs/heads/bad')).toBeUndefined();
});

/** Uploads without enqueuing anything: the test invokes the worker. */
async function ready(who: Who, ref: string): Promise<{ id: string; oid: string }> {
  const { before, oid } = await commit(ref.replaceAll('/', '-'));
  const id = await uploaded(who, [{ ref, to: oid }], await packOf(oid, before));
  const upload = (await world.store.pushUploads.get(id))!;
  await world.store.stagingArea.complete(upload.staged);
  await world.store.table.update({ update: pushUploadKey(id), set: { state: 'queued' } });
  return { id, oid };
}

test('an upload is refused when its creator lost the right to push before it was applied', async () => {
  const made = await service.call('POST', `/users/${world.ids['developer']}/personal_access_tokens`, {
    token: service.rootToken,
    json: { name: 'short', scopes: ['api'] },
  });
  const { developer } = world.tokens;
  (world.tokens as Record<string, string>)['developer'] = made.body.token;
  const { id, oid } = await ready('developer', 'refs/heads/late');
  (world.tokens as Record<string, string | undefined>)['developer'] = developer;
  const revoked = await service.call('DELETE', `/personal_access_tokens/${made.body.id}`, {
    token: service.rootToken,
  });
  expect(revoked.status).toBe(204);
  await ingestUpload(deps(), id);
  expect(await ended('developer', id)).toMatchObject({
    state: 'failed',
    failure: '401 Unauthorized',
    report: null,
  });
  expect(await remoteValue('refs/heads/late')).toBeUndefined();

  // And the other way: a member that is one no more.
  const member = `/projects/${world.ids['public']}/members/${world.ids['maintainer']}`;
  const again = await ready('maintainer', 'refs/heads/later');
  expect((await service.call('DELETE', member, { token: world.tokens.owner! })).status).toBe(204);
  await ingestUpload(deps(), again.id);
  const { failure } = (await world.store.pushUploads.get(again.id))!;
  expect(failure).toMatch(/You are not allowed to push code/);
  await ask(world, 'owner', 'POST', `/projects/${world.ids['public']}/members`, {
    user_id: world.ids['maintainer'],
    access_level: 40,
  });
  expect(oid).toMatch(/^[0-9a-f]{40}$/);
});

/** Messages about an upload that are in the outbox and not yet sent. */
async function waiting(id: string): Promise<number> {
  let count = 0;
  for (let shard = 0; shard < OUTBOX_SHARDS; shard++) {
    const { items } = await world.store.table.query({ partition: outboxPartition(shard) });
    count += items.filter((item) => (item['body'] as { id?: string }).id === id).length;
  }
  return count;
}

test('of two deliveries of an upload one works and the other is retried', async () => {
  const { id, oid } = await ready('developer', 'refs/heads/twice');
  await Promise.all([ingestUpload(deps(), id), ingestUpload(deps(), id)]);
  expect((await world.store.pushUploads.get(id))!.fence).toBe(1);
  // The other left a message for later, which finds nothing to do.
  expect(await waiting(id)).toBe(1);
  await ingestUpload(deps(), id);
  expect((await ended('developer', id)).report.refs).toEqual([{ name: 'refs/heads/twice' }]);
  expect(await remoteValue('refs/heads/twice')).toBe(oid);
});

test('an upload is completed by another worker if the first died before its transaction', async () => {
  const { id, oid } = await ready('developer', 'refs/heads/again');
  const dead = await world.store.pushUploads.claim(id, 60);
  expect(dead).toMatchObject({ state: 'ingesting', fence: 1 });
  await world.store.pushUploads.addPack(dead as never, ['01ARZ3NDEKTSV4RRFFQ69G5FAV']);
  await ingestUpload(deps(), id);
  expect([(await world.store.pushUploads.get(id))!.fence, await waiting(id)]).toEqual([1, 1]);
  const later = { ...deps(), now: () => new Date(Date.now() + 61_000) };
  await ingestUpload(later, id);
  expect((await ended('developer', id)).report.refs).toEqual([{ name: 'refs/heads/again' }]);
  expect(await remoteValue('refs/heads/again')).toBe(oid);
  // The dead one wakes: it writes nothing any more.
  await expect(world.store.pushUploads.end(dead as never, 'I was first')).rejects.toThrow(
    /changed meanwhile/,
  );
});

test('an upload counts as done if its worker died after the transaction, whatever became of the ref since', async () => {
  const { id, oid } = await ready('developer', 'refs/heads/crash');
  const crashing = deps();
  const end = crashing.store.pushUploads.end;
  crashing.store.pushUploads.end = () => Promise.reject(new Error('died'));
  await expect(ingestUpload(crashing, id)).rejects.toThrow('died');
  crashing.store.pushUploads.end = end;
  expect(await remoteValue('refs/heads/crash')).toBe(oid);
  // Another user pushes before the message comes again; and what the first worker would have told is lost.
  const next = await commit('crash-next');
  await git.ok(clone, 'push', '--quiet', 'origin', `+${next.oid}:refs/heads/crash`);
  await world.store.stagingArea.note(id, 'report', Buffer.from('null'));
  await ingestUpload({ ...deps(), now: () => new Date(Date.now() + 61_000) }, id);
  expect((await ended('developer', id)).report).toEqual({
    unpack: 'ok',
    refs: [{ name: 'refs/heads/crash' }],
    messages: [],
  });
  expect(await remoteValue('refs/heads/crash')).toBe(next.oid);
});

test('an upload is retried after errors of the service, and finally reported as failed', async () => {
  const { id } = await ready('developer', 'refs/heads/broken');
  const broken = deps();
  const read = broken.store.stagingArea.read;
  broken.store.stagingArea.read = () => {
    throw new Error('the bucket burns');
  };
  for (let n = 1; n < 4; n++) await expect(ingestUpload(broken, id)).rejects.toThrow('the bucket burns');
  await ingestUpload(broken, id);
  broken.store.stagingArea.read = read;
  expect(await ended('developer', id)).toMatchObject({ state: 'failed', failure: 'internal error' });
  await ingestUpload(deps(), id);
  expect(await remoteValue('refs/heads/broken')).toBeUndefined();
});

test('an upload that keeps killing its workers is given up and reported as failed', async () => {
  const { id } = await ready('developer', 'refs/heads/endless');
  for (let n = 1; n <= 4; n++) {
    const killed = await world.store.pushUploads.claim(id, 60, new Date(Date.now() + n * 61_000));
    expect(killed).toMatchObject({ fence: n });
  }
  await ingestUpload({ ...deps(), now: () => new Date(Date.now() + 5 * 61_000) }, id);
  expect((await ended('developer', id)).failure).toMatch(/within the time there is/);
});

test('an upload that is not finished in time is deleted and no longer counts', async () => {
  const { body } = await begin('developer', [{ ref: 'refs/heads/o', to: '1'.repeat(40) }], randomBytes(50));
  const tomorrow = new Date(Date.now() + 25 * 3600_000);
  expect(await world.store.pushUploads.get(body.id, tomorrow)).toBeUndefined();
  const { staged, slot } = (await world.store.pushUploads.get(body.id))!;
  const next = await world.store.pushUploads.open(
    {
      projectId: 1,
      userId: world.ids['developer']!,
      tokenId: 1,
      staged: { ...staged, id: '01ARZ3NDEKTSV4RRFFQ69G5FAW' },
    },
    tomorrow,
  );
  expect(next.slot).toBeLessThanOrEqual(slot);
  expect(await world.store.stagingArea.sweep(tomorrow)).toBeGreaterThan(0);
});
