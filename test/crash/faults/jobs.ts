import { deps } from '../../../functions/deps.ts';
import { StoreUnavailable } from '../../../lib/store/errors.ts';
import type { Operation, Told, Work } from './driver.ts';
import type { Ground, Scene } from './scene.ts';

const HOUR = 3600_000;

/** What the workers do behind a request's back. Whatever happens, the job comes again and then succeeds. */
export const jobs: readonly Operation[] = [
  {
    name: 'job: packs become one',
    costly: true,
    async prepare(scene) {
      const ground = await scene.ownGround();
      for (let i = 0; i < 7; i++) await addFile(scene, ground, `many/${i}.txt`);
      const before = (await packsOf(scene, ground)).length;
      return job(scene, ground, 'repository.maintain', { repositoryId: ground.repositoryId }, async () => {
        const { length } = await packsOf(scene, ground);
        return length === before ? 'before' : length < before ? 'after' : `${length} packs of ${before}`;
      });
    },
  },
  {
    name: 'job: garbage is collected and what was replaced is removed',
    costly: true,
    async prepare(scene) {
      const ground = await scene.ownGround();
      const { repositoryId } = ground;
      const { token } = ground.owner;
      await scene.done('DELETE', `/projects/${ground.id}/repository/branches/side`, { token });
      await runNow(scene, repositoryId, 'repository.maintain', { repositoryId, collect: true });
      const work = job(scene, ground, 'repository.maintain', { repositoryId }, async () => {
        const sources = (await packsOf(scene, ground)).map(({ source }) => source);
        return sources.includes('garbage') ? 'after' : sources.includes('collection') ? 'half' : 'before';
      });
      return later(work, 50 * HOUR);
    },
  },
  {
    name: 'job: refs become a table',
    costly: true,
    async prepare(scene) {
      const ground = await scene.ownGround();
      const { repositoryId } = ground;
      const { repositories } = scene.store;
      return {
        // As the job does with many; a few are as good here.
        run: () => told(deps().store.repositories.open(repositoryId).foldRefs()),
        async state() {
          const { refs } = await repositories.open(repositoryId).all();
          if (refs.length !== 3) return `${refs.length} refs`;
          return (await repositories.guard(repositoryId))!.refTable === '' ? 'before' : 'after';
        },
      };
    },
  },
  {
    name: 'job: a deleted project is removed',
    costly: true,
    async prepare(scene) {
      const ground = await scene.ownGround();
      const project = (await scene.store.projects.get(ground.id))!;
      await scene.store.projects.remove(project);
      const { repositoryId } = ground;
      const body = { projectId: ground.id, repositoryId };
      return job(scene, ground, 'project.delete', body, async () => {
        const gone = (await scene.store.projects.getEvenDeleted(ground.id)) === undefined;
        const { keys } = await scene.store.blobs.list(`networks/${repositoryId}/`);
        return gone ? (keys.length === 0 ? 'after' : `${keys.length} objects left`) : 'before';
      });
    },
  },
  {
    name: 'job: a project can be found',
    costly: true,
    async prepare(scene) {
      const { id, owner, fullPath, repositoryId } = await scene.ownGround();
      const kind = 'project';
      await scene.store.search.index(kind, id, async () => undefined);
      const search = fullPath.split('/')[1]!;
      return job(scene, { repositoryId }, 'search.index', { kind, id }, async () => {
        const found = await scene.done('GET', `/projects?search=${search}&per_page=100`, {
          token: owner.token,
        });
        return found.some((project: { id: number }) => project.id === id) ? 'after' : 'before';
      });
    },
  },
];

/** A message of the queue, until the worker has no more to complain of. */
function job(
  scene: Scene,
  ground: Pick<Ground, 'repositoryId'>,
  type: string,
  body: Readonly<Record<string, unknown>>,
  state: () => Promise<string>,
): Work {
  return { run: () => runNow(scene, ground.repositoryId, type, body), state };
}

async function runNow(
  scene: Scene,
  id: string,
  type: string,
  body: Readonly<Record<string, unknown>>,
): Promise<Told> {
  const failed = await scene.work('maintenance', [
    { MessageId: id, Body: JSON.stringify({ id, type, body }) },
  ]);
  return failed.length === 0 ? { kind: 'done' } : { kind: 'unavailable', words: 'the message comes again' };
}

async function told(work: Promise<void>): Promise<Told> {
  try {
    await work;
    return { kind: 'done' };
  } catch (error) {
    const words = String(error);
    return { kind: error instanceof StoreUnavailable ? 'unavailable' : 'wrong', words };
  }
}

/** The same on another day. */
function later(work: Work, milliseconds: number): Work {
  return {
    async run() {
      Object.assign(deps(), { now: () => new Date(Date.now() + milliseconds) });
      try {
        return await work.run();
      } finally {
        Object.assign(deps(), { now: () => new Date() });
      }
    },
    state: work.state,
  };
}

const packsOf = ({ store }: Scene, { repositoryId }: Ground) =>
  store.repositories.open(repositoryId).listPacks();

async function addFile(scene: Scene, ground: Ground, file_path: string): Promise<void> {
  const json = {
    branch: 'main',
    commit_message: file_path,
    actions: [{ action: 'create', file_path, content: file_path }],
  };
  await scene.done('POST', `/projects/${ground.id}/repository/commits`, { token: ground.owner.token, json });
}
