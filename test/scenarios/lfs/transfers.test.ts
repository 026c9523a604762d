import { beforeAll, describe, expect, test } from 'vitest';
import { makeDeps } from '../../../functions/deps.ts';
import { runJob } from '../../../lib/domain/worker/dispatch.ts';
import { awsClients } from '../../../lib/store/clients.ts';
import { readEnvironment } from '../../../lib/store/environment.ts';
import { checkData } from '../../../local/check-data.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';
import { report, smallRunner } from '../../harness/small-runner.ts';
import type { Who } from '../../harness/world.ts';
import { content, lfsClient, pointerTo, TYPE } from './client.ts';

const { service, world, as, root } = ownWorld();
const lfs = lfsClient(world);
const PRIVATE = 'owner/private-thing';
const PUBLIC = 'owner/public-thing';
const known = content();

beforeAll(async () => {
  expect(await lfs.upload('developer', PRIVATE, known)).toEqual([200, 200, 200]);
  expect(await lfs.upload('developer', PUBLIC, known)).toEqual([200, 200, 200]);
});

describe('transfers', () => {
  test('an object that was uploaded and verified is downloaded by readers', async () => {
    expect(await lfs.download('reporter', PRIVATE, pointerTo(known))).toEqual(known);
    expect(await lfs.download('anonymous', PUBLIC, pointerTo(known))).toEqual(known);
  });

  test('answers are of the type of the specification, name basic transfers, and are not cached', async () => {
    const answer = await lfs.batch('developer', PRIVATE, 'download', pointerTo(known));
    expect(answer.headers.get('content-type')).toBe(TYPE);
    expect(answer.headers.get('cache-control')).toBe('private, no-store');
    expect(answer.body).toMatchObject({
      transfer: 'basic',
      hash_algo: 'sha256',
      objects: [{ ...pointerTo(known), authenticated: true, actions: { download: { expires_in: 3600 } } }],
    });
  });

  test('what the project has is not uploaded again', async () => {
    const { body } = await lfs.batch('developer', PRIVATE, 'upload', pointerTo(known));
    expect(body.objects).toEqual([pointerTo(known)]);
  });

  test('an object that was uploaded but not verified is not there', async () => {
    const bytes = content();
    const { body } = await lfs.batch('developer', PRIVATE, 'upload', pointerTo(bytes));
    const { upload } = body.objects[0].actions;
    expect((await lfs.act(upload, 'PUT', new Uint8Array(bytes))).status).toBe(200);
    expect(await lfs.download('developer', PRIVATE, pointerTo(bytes))).toBe(404);
  });

  test('other bytes, fewer or more are refused by the bucket, also without the header of the checksum', async () => {
    const bytes = content();
    const { body } = await lfs.batch('developer', PRIVATE, 'upload', pointerTo(bytes));
    const { upload, verify } = body.objects[0].actions;
    const other = content();
    expect((await lfs.act(upload, 'PUT', new Uint8Array(other))).status).toBe(400);
    expect((await lfs.act(upload, 'PUT', new Uint8Array(content(65)))).status).toBe(403);
    expect((await lfs.act({ href: upload.href }, 'PUT', new Uint8Array(other))).status).toBe(403);
    const sha = Buffer.from(pointerTo(other).oid, 'hex').toString('base64');
    const header = { 'x-amz-checksum-sha256': sha };
    expect((await lfs.act({ href: upload.href, header }, 'PUT', new Uint8Array(other))).status).toBe(403);
    const verified = await lfs.act(verify, 'POST', JSON.stringify(pointerTo(bytes)));
    expect([verified.status, await verified.json()]).toMatchObject([
      404,
      { message: '404 LFS object Not Found' },
    ]);
  });

  test('who names an object of another project is asked for its bytes, and is not given them', async () => {
    const mine = content();
    await lfs.upload('owner', PRIVATE, mine);
    const pointer = pointerTo(mine);
    expect(await lfs.download('developer', PUBLIC, pointer)).toBe(404);
    const { body } = await lfs.batch('developer', PUBLIC, 'upload', pointer);
    const { upload, verify } = body.objects[0].actions;
    expect((await lfs.act(verify, 'POST', JSON.stringify(pointer))).status).toBe(404);
    // Nor with the upload of the other project.
    const other = await lfs.batch('owner', PRIVATE, 'upload', pointerTo(content()));
    const stolen = new URL(other.body.objects[0].actions.verify.href).searchParams.get('upload');
    const href = verify.href.replace(/upload=.*/, `upload=${stolen}`);
    expect((await lfs.act({ ...verify, href }, 'POST', JSON.stringify(pointer))).status).toBe(404);
    expect(upload.href).not.toContain(other.body.objects[0].actions.upload.href.split('?')[0]);
    expect(await lfs.download('developer', PUBLIC, pointer)).toBe(404);
  });

  test('a verification is repeated without harm, and refused for another size', async () => {
    const bytes = content();
    const { body } = await lfs.batch('developer', PRIVATE, 'upload', pointerTo(bytes));
    const { upload, verify } = body.objects[0].actions;
    await lfs.act(upload, 'PUT', new Uint8Array(bytes));
    const wrong = JSON.stringify({ ...pointerTo(bytes), size: 63 });
    expect((await lfs.act(verify, 'POST', wrong)).status).toBe(422);
    const right = JSON.stringify(pointerTo(bytes));
    const statuses = await Promise.all(
      [1, 2, 3].map(async () => (await lfs.act(verify, 'POST', right)).status),
    );
    expect(statuses).toEqual([200, 200, 200]);
    expect((await world.store.lfsObjects.total(world.ids['private']!)).objects).toBeGreaterThan(0);
  });
});

describe('refusals', () => {
  const READ: Readonly<Partial<Record<Who, number>>> = {
    anonymous: 401,
    stranger: 404,
    external: 404,
    former: 404,
    guest: 403,
    reporter: 200,
    developer: 200,
    administrator: 200,
    read_repository: 200,
    read_api: 403,
    blocked: 403,
    expired: 401,
    revoked: 401,
    unknown: 401,
  };
  test.each(Object.entries(READ))('%s reads objects of a private project: %d', async (who, status) => {
    const answer = await lfs.batch(who as Who, PRIVATE, 'download', pointerTo(known));
    expect(answer.status).toBe(status);
    if (status === 200) return;
    expect(answer.headers.get('content-type')).toBe(TYPE);
    expect(answer.body).toEqual({
      message: expect.any(String),
      documentation_url: `${service.url}/api/docs`,
      request_id: expect.any(String),
    });
    expect(answer.headers.get('lfs-authenticate')).toBe(status === 401 ? 'Basic realm="Lemnos"' : null);
  });

  const WRITE: Readonly<Partial<Record<Who, number>>> = {
    anonymous: 401,
    stranger: 403,
    guest: 403,
    reporter: 403,
    developer: 200,
    read_repository: 403,
    write_repository: 200,
  };
  test.each(Object.entries(WRITE))('%s uploads to a public project: %d', async (who, status) => {
    expect((await lfs.batch(who as Who, PUBLIC, 'upload', pointerTo(content()))).status).toBe(status);
  });

  test('deploy tokens download, and do not upload', async () => {
    const { body } = await as('owner', 'POST', `/projects/${world.ids['private']}/deploy_tokens`, {
      name: 'lfs',
      scopes: ['read_repository'],
    });
    const ask = (operation: string) =>
      lfs.ask(
        body.token,
        PRIVATE,
        'POST',
        'objects/batch',
        { operation, objects: [pointerTo(known)] },
        body.username,
      );
    expect((await ask('download')).body.objects[0].actions.download).toBeDefined();
    expect((await ask('upload')).status).toBe(403);
  });

  test('the token of a job downloads while it runs, and does not upload', async () => {
    const project = (await as('owner', 'POST', '/projects', { name: 'jobs', shared_runners_enabled: false }))
      .body;
    const actions = [{ action: 'create', file_path: '.gitlab-ci.yml', content: 'work: { script: [x] }' }];
    const json = { branch: 'main', commit_message: 'c', actions };
    const { runners_token } = (await as('owner', 'GET', `/projects/${project.id}`)).body;
    await as('owner', 'POST', `/projects/${project.id}/repository/commits`, json);
    await settled();
    const bytes = content();
    expect(await lfs.upload('owner', 'owner/jobs', bytes)).toEqual([200, 200, 200]);
    const { body: taken } = await (await smallRunner(service, runners_token)).take();
    const ask = (operation: string) => {
      const asked = { operation, objects: [pointerTo(bytes)] };
      return lfs.ask(taken.token, 'owner/jobs', 'POST', 'objects/batch', asked, 'gitlab-ci-token');
    };
    expect((await ask('download')).body.objects[0].actions.download).toBeDefined();
    expect((await ask('upload')).status).toBe(403);
    await report(service, taken, 'success');
    expect((await ask('download')).status).toBe(401);
  });

  const GOOD = { oid: 'a'.repeat(64), size: 1 };
  test.each([
    ['no JSON', undefined, 422],
    ['another operation', { operation: 'delete', objects: [GOOD] }, 422],
    ['no objects', { operation: 'upload', objects: [] }, 422],
    ['objects that are none', { operation: 'upload', objects: 'x' }, 422],
    ['only objects of wrong facts', { operation: 'upload', objects: [null, { oid: '../x', size: 1 }] }, 422],
    ['another transfer', { operation: 'upload', transfers: ['tus'], objects: [GOOD] }, 422],
    ['another digest', { operation: 'upload', hash_algo: 'sha512', objects: [GOOD] }, 409],
    ['too many objects', { operation: 'upload', objects: Array(1001).fill(GOOD) }, 413],
    ['too large a request', { operation: 'upload', objects: [GOOD], pad: 'x'.repeat(600_000) }, 413],
  ])('%s is refused', async (_, json, status) => {
    const answer = await lfs.as('developer', PRIVATE, 'POST', 'objects/batch', json);
    expect([answer.status, answer.body.message]).toEqual([status, expect.any(String)]);
  });

  test.each([
    [{ oid: 'A'.repeat(64), size: 1 }],
    [{ oid: 'a'.repeat(63), size: 1 }],
    [{ oid: 'a'.repeat(64), size: -1 }],
    [{ oid: 'a'.repeat(64), size: 1.5 }],
    [{ oid: 'a'.repeat(64), size: 1e300 }],
    [{ oid: 'a'.repeat(64), size: '1' }],
    [{ oid: 'a'.repeat(64), size: 5 * 1024 ** 3 + 1 }],
  ])('an object of wrong facts has an error of its own: %j', async (wrong) => {
    const { status, body } = await lfs.batch('developer', PRIVATE, 'upload', wrong, pointerTo(known));
    expect(status).toBe(200);
    expect(body.objects[0].error.code).toBe(422);
    expect(body.objects[0].actions).toBeUndefined();
    expect(body.objects[1]).toEqual(pointerTo(known));
  });

  test('the API before batches is answered with what to do', async () => {
    expect((await lfs.as('developer', PRIVATE, 'POST', 'objects', GOOD)).status).toBe(501);
    expect((await lfs.as('developer', PRIVATE, 'GET', `objects/${GOOD.oid}`)).status).toBe(501);
    expect((await lfs.as('developer', PRIVATE, 'GET', 'objects/batch')).status).toBe(405);
  });

  test('neither transfers nor locks are there where Git LFS is off, as the project or its group says', async () => {
    const group = await as('owner', 'POST', '/groups', {
      name: 'no lfs',
      path: 'no-lfs',
      lfs_enabled: false,
    });
    const json = { name: 'large', namespace_id: group.body.id };
    const { body: project } = await as('owner', 'POST', '/projects', json);
    const off = async () => (await lfs.batch('owner', 'no-lfs/large', 'upload', pointerTo(content()))).status;
    const told = async () => (await as('owner', 'GET', `/projects/${project.id}`)).body.lfs_enabled;
    expect([await told(), await off()]).toEqual([false, 404]);
    await as('owner', 'PUT', `/projects/${project.id}`, { lfs_enabled: true });
    expect([await told(), await off()]).toEqual([true, 200]);
    await as('owner', 'PUT', `/groups/${group.body.id}`, { lfs_enabled: true });
    await as('owner', 'PUT', `/projects/${project.id}`, { lfs_enabled: false });
    expect([await told(), await off()]).toEqual([false, 404]);
    expect((await lfs.as('owner', 'no-lfs/large', 'GET', 'locks')).status).toBe(404);
  });

  test('uploads above the size limit of repositories are refused', async () => {
    await root('PUT', '/application/settings', { repository_size_limit: 1 });
    try {
      const large = { oid: 'b'.repeat(64), size: 1024 ** 2 + 1 };
      const answer = await lfs.batch('developer', PRIVATE, 'upload', large);
      expect([answer.status, answer.body.message]).toEqual([
        406,
        expect.stringContaining('size limit of 1 MB'),
      ]);
      expect((await lfs.batch('developer', PRIVATE, 'upload', pointerTo(content()))).status).toBe(200);
    } finally {
      await root('PUT', '/application/settings', { repository_size_limit: 0 });
    }
  });
});

describe('storage', () => {
  const keys = async (projectId: number) =>
    (await world.store.blobs.list(`lfs/${projectId}/`)).keys.map((key) => key.split('/').at(-1));
  const made = async (who: Who, name: string, more = {}) =>
    (await as(who, 'POST', '/projects', { name, path: name, visibility: 'public', ...more })).body
      .id as number;
  const sweep = async (projectId: number) => {
    const objects = (await world.store.blobs.list(`lfs/${projectId}/`)).keys.map((key) => key.slice(4));
    await runJob(makeDeps(), {
      id: `sweep ${projectId} ${Math.random()}`,
      type: 'lfs.sweep',
      body: { objects },
    });
  };

  test('statistics count the bytes of objects', async () => {
    const id = await made('owner', 'counted');
    await lfs.upload('owner', 'owner/counted', content(1000));
    await lfs.upload('owner', 'owner/counted', content(234));
    await runJob(makeDeps(), { id: 'measure', type: 'project.measure', body: { projectId: id } });
    const { body } = await as('owner', 'GET', `/projects/${id}?statistics=true`);
    expect(body.statistics).toMatchObject({ lfs_objects_size: 1234, storage_size: 1234 });
  });

  test('the sweep deletes what was uploaded and not verified, and nothing else', async () => {
    const id = await made('owner', 'swept');
    const bytes = content();
    await lfs.upload('owner', 'owner/swept', bytes);
    const left = content();
    const { body } = await lfs.batch('owner', 'owner/swept', 'upload', pointerTo(left));
    await lfs.act(body.objects[0].actions.upload, 'PUT', new Uint8Array(left));
    expect(await keys(id)).toHaveLength(2);
    await sweep(id);
    expect(await keys(id)).toEqual([pointerTo(bytes).oid]);
    expect(await lfs.download('owner', 'owner/swept', pointerTo(bytes))).toEqual(bytes);
  });

  test('a fork has the objects that its source had, and keeps them when the source is gone', async () => {
    const id = await made('owner', 'source');
    const bytes = content();
    await lfs.upload('owner', 'owner/source', bytes);
    const fork = (await as('stranger', 'POST', `/projects/${id}/fork`)).body.id as number;
    await settled();
    expect(await lfs.download('stranger', 'stranger/source', pointerTo(bytes))).toEqual(bytes);
    expect(await world.store.lfsObjects.total(fork)).toEqual({ objects: 1, bytes: 64 });
    // What comes later does not.
    const later = content();
    await lfs.upload('owner', 'owner/source', later);
    expect(await lfs.download('stranger', 'stranger/source', pointerTo(later))).toBe(404);
    await as('owner', 'DELETE', `/projects/${id}`);
    await settled();
    await sweep(id);
    expect(await keys(id)).toEqual([pointerTo(bytes).oid]);
    expect(await lfs.download('stranger', 'stranger/source', pointerTo(bytes))).toEqual(bytes);
    await as('stranger', 'DELETE', `/projects/${fork}`);
    await settled();
    await sweep(id);
    expect(await keys(id)).toEqual([]);
    for (const partition of [`LFS#${String(id).padStart(12, '0')}`, `LFS#${String(fork).padStart(12, '0')}`])
      expect((await world.store.table.query({ partition })).items).toEqual([]);
  });
});

test('the check of stored data finds an object that is listed and not in the bucket, or of another size', async () => {
  const { id } = (await as('owner', 'POST', '/projects', { name: 'checked' })).body;
  const objects = [content(), content()];
  for (const bytes of objects) await lfs.upload('owner', 'owner/checked', bytes);
  const { keys } = await world.store.blobs.list(`lfs/${id}/`);
  const checked = async () => {
    const { missing, wrong } = await checkData(awsClients(), readEnvironment());
    return { missing, wrong: wrong.map((line) => line.split(':')[0]) };
  };
  expect(await checked()).toEqual({ missing: [], wrong: [] });
  await world.store.blobs.delete([keys[0]!]);
  await world.store.blobs.put(keys[1]!, content(3));
  expect(await checked()).toEqual({ missing: [keys[0]], wrong: [keys[1]] });
});
