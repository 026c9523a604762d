import { deps } from '../../../functions/deps.ts';
import { parseOid, ZERO_OID } from '../../../lib/git/oid.ts';
import { pushRequest } from '../../../lib/git/wire/push-request.ts';
import { repositoryIdOf } from '../../../lib/records/repository-owner.ts';
import { Missing } from '../../../lib/store/errors.ts';
import { UPLOADS_PER_USER } from '../../../lib/store/git/push-uploads.ts';
import { SLOT, uploadSlotKey, uploadSlotsPartition } from '../../../lib/store/row-keys/git.ts';
import { type Answer, request } from '../../harness/service.ts';
import type { Operation } from './driver.ts';
import type { Fixtures, Ground } from './fixtures.ts';
import { commit, moved, treeOf } from './git.ts';
import { runNow } from './jobs.ts';
import { toldBy } from './sent.ts';

/** Above the size of a part: it goes up in two. */
const IN_PARTS = 8 * 1024 * 1024 + 100;
/** Longer than a worker that died holds an upload. */
const HELD_MS = 61_000;

/** The calls of a large push (`docs/large-pushes.md`), and the worker that takes it in. */
export const uploads: readonly Operation[] = [
  {
    name: 'large push: begin',
    async prepare(fixtures) {
      const ground = await fresh(fixtures);
      return {
        run: async () => toldBy(await begin(fixtures, ground, IN_PARTS)),
        state: async () => {
          const taken = await slots(fixtures, ground);
          return taken === 0 ? 'before' : taken === 1 ? 'after' : `${taken} places are taken`;
        },
      };
    },
  },
  {
    name: 'large push: parts',
    reads: true,
    async prepare(fixtures) {
      const { ground, id } = await begun(fixtures, IN_PARTS);
      let got: Answer | undefined;
      return {
        async run() {
          got = await call(fixtures, ground, 'GET', `/${id}/parts`);
          return toldBy(got);
        },
        async state() {
          if (got?.status !== 200) return 'before';
          return got.body.parts.length === 2 ? 'after' : JSON.stringify(got.body);
        },
      };
    },
  },
  {
    name: 'large push: finish',
    costly: true,
    async prepare(fixtures) {
      const { ground, id } = await begun(fixtures, IN_PARTS);
      await put(fixtures, ground, id, ZEROES);
      return {
        run: async () => toldBy(await call(fixtures, ground, 'POST', `/${id}/finish`)),
        async state() {
          const upload = await fixtures.store.pushUploads.get(id);
          return upload?.state === 'uploading'
            ? 'before'
            : upload?.state === 'queued'
              ? 'after'
              : `${upload}`;
        },
      };
    },
  },
  {
    name: 'large push: abort',
    async prepare(fixtures) {
      const { ground, id } = await begun(fixtures, IN_PARTS);
      return {
        run: async () => toldBy(await call(fixtures, ground, 'DELETE', `/${id}`)),
        async state() {
          const upload = await fixtures.store.pushUploads.get(id);
          const taken = await slots(fixtures, ground);
          // One that was aborted and keeps its place is aborted again.
          return upload?.state === 'aborted' && taken === 0 ? 'after' : 'before';
        },
      };
    },
  },
  takenIn('job: a large push is taken in'),
  takenIn('job: a large push to a wiki is taken in', '.wiki'),
];

const ZEROES = new Uint8Array(IN_PARTS);

/** @param beside what the path of the repository ends with, where it is not the project's code */
function takenIn(operation: string, beside: '' | '.wiki' = ''): Operation {
  return {
    name: operation,
    costly: true,
    async prepare(fixtures) {
      const ground = await fresh(fixtures);
      const tree = await treeOf(fixtures, ground);
      const tip = await commit(fixtures, tree);
      const name = fixtures.fresh('uploaded');
      const names = [`refs/heads/${name}`, `refs/tags/${name}`];
      const packed = await fixtures.git.run(['pack-objects', '--revs', '--thin', '--stdout', '-q'], {
        cwd: tree,
        input: beside === '' ? `${tip}\n^${ground.main[1]}\n` : `${tip}\n`,
      });
      const repositoryId =
        beside === '' ? ground.repositoryId : repositoryIdOf({ kind: 'project-wiki', id: ground.id });
      const at = { ...ground, repositoryId, fullPath: ground.fullPath + beside };
      const id = (await begin(fixtures, at, packed.stdout.length, names, tip)).body.id as string;
      await put(fixtures, at, id, packed.stdout);
      await call(fixtures, at, 'POST', `/${id}/finish`);
      let attempts = 0;
      return {
        async run() {
          // The process that held it and died does not hold it any more.
          const passed = HELD_MS * attempts++;
          Object.assign(deps(), { now: () => new Date(Date.now() + passed) });
          try {
            return await runNow(fixtures, 'ingest', 'push.ingest', { id });
          } finally {
            Object.assign(deps(), { now: () => new Date() });
          }
        },
        async state() {
          const refs = await moved(fixtures, at, names, undefined, tip).catch((error: unknown) => {
            // That of a wiki begins with its first push.
            if (error instanceof Missing) return 'before';
            throw error;
          });
          const { body } = await call(fixtures, at, 'GET', `/${id}`);
          if (body.state !== 'done') return refs === 'after' ? 'before' : refs;
          const refused = body.report.refs.filter(({ reason }: { reason?: string }) => reason !== undefined);
          return refs === 'after' && refused.length === 0 ? 'after' : `${refs} ${JSON.stringify(body)}`;
        },
      };
    },
  };
}

/** A project whose owner has nothing under way. */
async function fresh(fixtures: Fixtures): Promise<Ground> {
  const ground = await fixtures.ground();
  for (let slot = 0; slot < UPLOADS_PER_USER; slot++)
    await fixtures.store.table.delete({ delete: uploadSlotKey(ground.owner.id, slot) });
  return ground;
}

async function slots({ store }: Fixtures, { owner }: Ground): Promise<number> {
  const partition = uploadSlotsPartition(owner.id);
  return (await store.table.query({ partition, prefix: SLOT })).items.length;
}

async function begun(fixtures: Fixtures, size: number): Promise<{ ground: Ground; id: string }> {
  const ground = await fresh(fixtures);
  const { body } = await begin(fixtures, ground, size);
  return { ground, id: body.id };
}

function begin(
  fixtures: Fixtures,
  ground: Ground,
  size: number,
  names: readonly string[] = ['refs/heads/large'],
  tip = ground.side,
): Promise<Answer> {
  const commands = names.map((name) => ({ name, from: ZERO_OID, to: parseOid(tip)! }));
  return call(fixtures, ground, 'POST', `?size=${size}`, pushRequest({ commands, atomic: true }));
}

async function put(fixtures: Fixtures, ground: Ground, id: string, pack: Uint8Array): Promise<void> {
  const { body } = await call(fixtures, ground, 'GET', `/${id}/parts`);
  let from = 0;
  for (const { url, size } of body.parts) {
    const answer = await fetch(url, { method: 'PUT', body: pack.subarray(from, from + size) as BodyInit });
    if (!answer.ok) throw new Error(`a part: ${answer.status}`);
    from += size;
  }
}

const call = (
  { service }: Fixtures,
  { fullPath, owner }: Ground,
  method: string,
  rest: string,
  body?: Uint8Array,
): Promise<Answer> =>
  request(`${service.url}/${fullPath}.git/lemnos/uploads${rest}`, method, {
    headers: { Authorization: `Basic ${btoa(`any:${owner.token}`)}` },
    body: body as BodyInit | undefined,
  });
