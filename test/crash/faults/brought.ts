import type { Message } from '@aws-sdk/client-sqs';
import type { Operation, Work } from './driver.ts';
import { runNow } from './jobs.ts';
import type { Scene } from './scene.ts';

/** Projects that begin with the content of another repository: forks, and imports from somebody else's server. */
export const brought: readonly Operation[] = [
  {
    name: 'job: a fork is filled',
    costly: true,
    async prepare(scene) {
      const { order, path, token } = await forked(scene);
      return {
        run: () => runNow(scene, 'forks', 'fork.fill', order),
        async state() {
          const state = await importState(scene, order.projectId, token);
          if (state !== 'after') return state;
          const tree = await scene.done('GET', `${path}/repository/tree?ref=side`, { token });
          const { forks_count } = await scene.done('GET', `/projects/${order.sourceId}`, { token });
          return tree.length === 3 && forks_count > 0
            ? 'after'
            : `${tree.length} files, ${forks_count} forks`;
        },
      };
    },
  },
  {
    name: 'job: a fork ends that nobody filled',
    async prepare(scene) {
      const { order, token } = await forked(scene);
      return {
        run: () => runNow(scene, 'forks', 'fork.ends', order),
        state: () => importState(scene, order.projectId, token, 'failed'),
      };
    },
  },
  {
    name: 'POST /projects with an import_url',
    costly: true,
    async prepare(scene) {
      const { username, token } = await scene.owner();
      const name = scene.fresh('import');
      const json = { name, import_url: await scene.foreign() };
      return {
        async run() {
          const { status, body } = await scene.service.call('POST', '/projects', { token, json });
          if (status === 201) return { kind: 'done' };
          return { kind: status === 503 ? 'unavailable' : 'refused', words: JSON.stringify(body) };
        },
        async state() {
          await scene.settle();
          const path = `/projects/${encodeURIComponent(`${username}/${name}`)}`;
          const { status } = await scene.service.call('GET', path, { token });
          return status === 404 ? 'before' : importState(scene, path, token);
        },
      };
    },
  },
  staging('job: a repository is brought'),
  // Where it is put the worker knows by URLs alone.
  staging('job: a repository is brought to a bucket that fails', 'error'),
  staging('job: a repository is brought to a bucket whose answer is lost', 'lostAnswer'),
  {
    name: 'job: what was brought is taken in',
    costly: true,
    async prepare(scene) {
      const { id, token, order } = await ordered(scene);
      await scene.work('outbound', [order]);
      const [started, staged] = await scene.received('ingest', 2);
      await scene.work('ingest', [started!]);
      return { run: () => scene.attempt('ingest', staged!), state: () => taken(scene, id, token) };
    },
  },
  {
    name: 'job: an import failed elsewhere',
    async prepare(scene) {
      const { id, token, about } = await ordered(scene);
      return {
        run: () => runNow(scene, 'ingest', 'import.staged', { ...about, outcome: 'failed', failure: 'tls' }),
        state: () => importState(scene, id, token, 'failed'),
      };
    },
  },
  {
    name: 'job: an import ends that nobody finished',
    async prepare(scene) {
      const { id, token, about } = await ordered(scene);
      return {
        run: () => runNow(scene, 'ingest', 'import.ends', about),
        state: () => importState(scene, id, token, 'failed'),
      };
    },
  },
];

/** The worker that calls a stranger's server; what follows is done without faults. */
function staging(name: string, kind?: 'error' | 'lostAnswer'): Operation {
  return {
    name,
    costly: true,
    async prepare(scene): Promise<Work> {
      const { id, token, order } = await ordered(scene);
      const { faults } = scene.service.host.s3;
      return {
        async run() {
          const fault = kind === 'error' ? ({ kind, code: 'SlowDown' } as const) : { kind };
          if (kind !== undefined) faults.inject({ fault: fault as never, operation: 'PutObject' });
          return scene.attempt('outbound', order);
        },
        async state() {
          faults.clear();
          await scene.settle();
          return taken(scene, id, token);
        },
      };
    },
  };
}

/** A fork that nobody has filled yet. */
async function forked(scene: Scene) {
  const { id: sourceId, owner } = await scene.ground();
  const { token } = owner;
  const path = scene.fresh('fork');
  const json = { path, name: path };
  const { id: projectId } = await scene.done('POST', `/projects/${sourceId}/fork`, { token, json });
  await scene.received('forks', 1);
  return { token, order: { projectId: projectId as number, sourceId }, path: `/projects/${projectId}` };
}

/** An import that nobody has begun, and the message that asks for it. */
async function ordered(scene: Scene) {
  await scene.settle();
  const { token } = await scene.owner();
  const json = { name: scene.fresh('import'), import_url: await scene.foreign() };
  const { id } = await scene.done('POST', '/projects', { token, json });
  const [order] = (await scene.received('outbound', 1)) as [Message];
  const { importId } = JSON.parse(order.Body!).body;
  return { id: id as number, token, order, about: { projectId: id as number, importId } };
}

async function taken(scene: Scene, id: number, token: string): Promise<string> {
  const state = await importState(scene, id, token);
  if (state !== 'after') return state;
  const branches = await scene.done('GET', `/projects/${id}/repository/branches`, { token });
  return branches.length === 2 ? 'after' : `${branches.length} branches`;
}

async function importState(
  scene: Scene,
  project: number | string,
  token: string,
  end: 'finished' | 'failed' = 'finished',
): Promise<string> {
  const path = typeof project === 'number' ? `/projects/${project}` : project;
  const { import_status, import_error } = await scene.done('GET', path, { token });
  if (import_status === 'scheduled' || import_status === 'started') return 'before';
  return import_status === end ? 'after' : `${import_status}: ${import_error}`;
}
