import type { Message } from '@aws-sdk/client-sqs';
import type { Operation, Work } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { runNow } from './jobs.ts';

/** Projects created with the content of another repository: forks, and imports from another server. */
export const brought: readonly Operation[] = [
  {
    name: 'job: a fork is filled',
    costly: true,
    async prepare(fixtures) {
      const { order, path, token } = await forked(fixtures);
      return {
        run: () => runNow(fixtures, 'forks', 'fork.fill', order),
        async state() {
          const state = await importState(fixtures, order.projectId, token);
          if (state !== 'after') return state;
          const tree = await fixtures.done('GET', `${path}/repository/tree?ref=side`, { token });
          const { forks_count } = await fixtures.done('GET', `/projects/${order.sourceId}`, { token });
          return tree.length === 3 && forks_count > 0
            ? 'after'
            : `${tree.length} files, ${forks_count} forks`;
        },
      };
    },
  },
  {
    name: 'job: a fork ends that nobody filled',
    async prepare(fixtures) {
      const { order, token } = await forked(fixtures);
      return {
        run: () => runNow(fixtures, 'forks', 'fork.ends', order),
        state: () => importState(fixtures, order.projectId, token, 'failed'),
      };
    },
  },
  {
    name: 'POST /projects with an import_url',
    costly: true,
    async prepare(fixtures) {
      const { username, token } = await fixtures.owner();
      const name = fixtures.fresh('import');
      const json = { name, import_url: await fixtures.foreign() };
      return {
        async run() {
          const { status, body } = await fixtures.service.call('POST', '/projects', { token, json });
          if (status === 201) return { kind: 'done' };
          return { kind: status === 503 ? 'unavailable' : 'refused', words: JSON.stringify(body) };
        },
        async state() {
          await fixtures.settle();
          const path = `/projects/${encodeURIComponent(`${username}/${name}`)}`;
          const { status } = await fixtures.service.call('GET', path, { token });
          return status === 404 ? 'before' : importState(fixtures, path, token);
        },
      };
    },
  },
  {
    name: 'job: an import is ordered',
    costly: true,
    async prepare(fixtures) {
      const { id, token, wish } = await wished(fixtures);
      return {
        run: () => fixtures.attempt('ingest', wish),
        async state() {
          await fixtures.settle();
          return taken(fixtures, id, token);
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
    async prepare(fixtures) {
      const { id, token, order } = await ordered(fixtures);
      await fixtures.work('outbound', [order]);
      const [started, staged] = await fixtures.received('ingest', 2);
      await fixtures.work('ingest', [started!]);
      return { run: () => fixtures.attempt('ingest', staged!), state: () => taken(fixtures, id, token) };
    },
  },
  {
    name: 'job: an import failed elsewhere',
    async prepare(fixtures) {
      const { id, token, about } = await ordered(fixtures);
      return {
        run: () =>
          runNow(fixtures, 'ingest', 'import.staged', { ...about, outcome: 'failed', failure: 'tls' }),
        state: () => importState(fixtures, id, token, 'failed'),
      };
    },
  },
  {
    name: 'job: an import ends that nobody finished',
    async prepare(fixtures) {
      const { id, token, about } = await ordered(fixtures);
      return {
        run: () => runNow(fixtures, 'ingest', 'import.ends', about),
        state: () => importState(fixtures, id, token, 'failed'),
      };
    },
  },
];

/** The worker that calls a stranger's server; what follows is done without faults. */
function staging(name: string, kind?: 'error' | 'lostAnswer'): Operation {
  return {
    name,
    costly: true,
    async prepare(fixtures): Promise<Work> {
      const { id, token, order } = await ordered(fixtures);
      const { faults } = fixtures.service.host.s3;
      return {
        async run() {
          const fault = kind === 'error' ? ({ kind, code: 'SlowDown' } as const) : { kind };
          if (kind !== undefined) faults.inject({ fault: fault as never, operation: 'PutObject' });
          return fixtures.attempt('outbound', order);
        },
        async state() {
          faults.clear();
          await fixtures.settle();
          return taken(fixtures, id, token);
        },
      };
    },
  };
}

/** A fork that nobody has filled yet. */
async function forked(fixtures: Fixtures) {
  const { id: sourceId, owner } = await fixtures.ground();
  const { token } = owner;
  const path = fixtures.fresh('fork');
  const json = { path, name: path };
  const { id: projectId } = await fixtures.done('POST', `/projects/${sourceId}/fork`, { token, json });
  await fixtures.received('forks', 1);
  return { token, order: { projectId: projectId as number, sourceId }, path: `/projects/${projectId}` };
}

/** An import that nobody has begun, and the message that lets its URLs be signed. */
async function wished(fixtures: Fixtures) {
  await fixtures.settle();
  const { token } = await fixtures.owner();
  const json = { name: fixtures.fresh('import'), import_url: await fixtures.foreign() };
  const { id } = await fixtures.done('POST', '/projects', { token, json });
  const [wish] = (await fixtures.received('ingest', 1)) as [Message];
  return { id: id as number, token, wish };
}

/** The same, and the message with the URLs. */
async function ordered(fixtures: Fixtures) {
  const { id, token, wish } = await wished(fixtures);
  await fixtures.work('ingest', [wish]);
  const [order] = (await fixtures.received('outbound', 1)) as [Message];
  const { importId } = JSON.parse(order.Body!).body;
  return { id, token, order, about: { projectId: id, importId } };
}

async function taken(fixtures: Fixtures, id: number, token: string): Promise<string> {
  const state = await importState(fixtures, id, token);
  if (state !== 'after') return state;
  const branches = await fixtures.done('GET', `/projects/${id}/repository/branches`, { token });
  return branches.length === 2 ? 'after' : `${branches.length} branches`;
}

async function importState(
  fixtures: Fixtures,
  project: number | string,
  token: string,
  end: 'finished' | 'failed' = 'finished',
): Promise<string> {
  const path = typeof project === 'number' ? `/projects/${project}` : project;
  const { import_status, import_error } = await fixtures.done('GET', path, { token });
  if (import_status === 'scheduled' || import_status === 'started') return 'before';
  return import_status === end ? 'after' : `${import_status}: ${import_error}`;
}
