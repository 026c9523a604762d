import { createHash, randomBytes } from 'node:crypto';
import { request } from '../../harness/service.ts';
import type { Operation, Told, Work } from './driver.ts';
import type { Fixtures, Ground } from './fixtures.ts';
import { runNow } from './jobs.ts';
import { countOf, toldBy } from './sent.ts';

/** What a client of Git LFS asks. */
export const lfsOperations: readonly Operation[] = [
  lfs('git lfs: an upload begins', async (fixtures) => {
    const pointer = pointerTo(randomBytes(20));
    const json = { operation: 'upload', objects: [pointer] };
    // Nothing of it is seen but the promise to sweep, whose message names the object.
    const swept = async () => (await promised(fixtures, pointer.oid)) > 0;
    return { rest: 'objects/batch', json, state: async () => ((await swept()) ? 'after' : 'before') };
  }),
  lfs('git lfs: an upload is verified', async (fixtures, ground) => {
    const { pointer, verify } = await uploaded(fixtures, ground);
    return {
      rest: `objects/verify${verify.search}`,
      json: pointer,
      state: async () => {
        const found = await fixtures.store.lfsObjects.find(ground.id, [pointer.oid]);
        return countOf([...found]);
      },
    };
  }),
  lfs('git lfs: a file is locked', async (fixtures, ground) => {
    const path = fixtures.fresh('locked');
    return {
      rest: 'locks',
      json: { path },
      state: async () => countOf(await locksOf(fixtures, ground, path)),
    };
  }),
  lfs('git lfs: a file is unlocked', async (fixtures, ground) => {
    const path = fixtures.fresh('locked');
    const { lock } = (await ask(fixtures, ground, 'locks', { path })).body;
    return {
      rest: `locks/${lock.id}/unlock`,
      json: {},
      state: async () => ((await locksOf(fixtures, ground, path)).length === 0 ? 'after' : 'before'),
    };
  }),
  {
    name: 'job: bytes of Git LFS that no project lists are deleted',
    async prepare(fixtures): Promise<Work> {
      const ground = await fixtures.ground();
      const { key } = await uploaded(fixtures, ground);
      return {
        run: () => runNow(fixtures, 'maintenance', 'lfs.sweep', { objects: [key.replace(/^lfs\//, '')] }),
        state: async () => ((await fixtures.store.blobs.head(key)) === undefined ? 'after' : 'before'),
      };
    },
  },
];

interface Asked {
  readonly rest: string;
  readonly json: unknown;
  readonly state: () => Promise<string>;
}

function lfs(name: string, subject: (fixtures: Fixtures, ground: Ground) => Promise<Asked>): Operation {
  return {
    name,
    async prepare(fixtures): Promise<Work> {
      const ground = await fixtures.ground();
      const { rest, json, state } = await subject(fixtures, ground);
      const run = async (): Promise<Told> => toldBy(await ask(fixtures, ground, rest, json));
      return { run, state };
    },
  };
}

async function ask(fixtures: Fixtures, { fullPath, owner }: Ground, rest: string, json: unknown) {
  const answer = await request(`${fixtures.service.url}/${fullPath}.git/info/lfs/${rest}`, 'POST', {
    headers: { Authorization: `Basic ${Buffer.from(`any:${owner.token}`).toString('base64')}` },
    body: JSON.stringify(json),
  });
  const { body } = answer;
  return { ...answer, body: typeof body === 'string' ? JSON.parse(body) : body };
}

const pointerTo = (bytes: Uint8Array) => ({
  oid: createHash('sha256').update(bytes).digest('hex'),
  size: bytes.length,
});

/** An object whose bytes are in the bucket. */
async function uploaded(fixtures: Fixtures, ground: Ground) {
  const bytes = randomBytes(20);
  const pointer = pointerTo(bytes);
  const { body } = await ask(fixtures, ground, 'objects/batch', { operation: 'upload', objects: [pointer] });
  const { upload, verify } = body.objects[0].actions;
  await fetch(upload.href, { method: 'PUT', headers: upload.header, body: new Uint8Array(bytes) });
  const url = new URL(verify.href);
  return { pointer, verify: url, key: `lfs/${ground.id}/${url.searchParams.get('upload')}/${pointer.oid}` };
}

const locksOf = async ({ store }: Fixtures, { id }: Ground, path: string) => {
  const lock = await store.lfsLocks.ofPath(id, path);
  return lock === undefined ? [] : [lock];
};

/** How many promises to sweep an object wait. */
async function promised({ store }: Fixtures, oid: string): Promise<number> {
  let count = 0;
  for (let shard = 0; shard < 8; shard++) {
    for await (const row of store.table.queryAll({ partition: `OUTBOX#${shard}` })) {
      const { objects } = row['body'] as { objects?: readonly string[] };
      if (objects?.some((location) => location.endsWith(oid))) count++;
    }
  }
  return count;
}
