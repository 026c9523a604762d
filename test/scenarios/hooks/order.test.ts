/** Hooks are told in the order of the changes, and of each change with the state that it made. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { payloadOf } from '../../../lib/domain/hooks/deliveries.ts';
import { runJob } from '../../../lib/domain/worker/dispatch.ts';
import { type Service, startService } from '../../harness/service.ts';

let service: Service;
let token: string;
// No worker runs but those of the tests.
beforeAll(async () => {
  service = await startService({ background: false });
  ({ token } = await service.user('owner'));
});
afterAll(() => service.stop());
afterEach(() => {
  vi.restoreAllMocks();
});

let projects = 0;
/** A project with a hook that hears of issues and merge requests. */
async function hooked() {
  const name = `told-${++projects}`;
  const { id } = (await asked('POST', '/projects', { name, initialize_with_readme: true })).body;
  const path = `/projects/${id}`;
  const json = {
    url: 'https://example.com/',
    push_events: false,
    issues_events: true,
    merge_requests_events: true,
    deployment_events: true,
  };
  const hook = (await asked('POST', `${path}/hooks`, json)).body;
  const list = `hooks/project/${id}`;
  return {
    path,
    hookId: hook.id as number,
    /** The messages of the changes, in their order. */
    messages: async () =>
      (await deps().store.promisesInOrder.upTo(list, '~', 100)).map(({ id }) => ({
        id,
        type: 'hook.tell',
        body: { list },
      })),
    /** What waits for the hook, in the order in which it will be called. */
    async waiting() {
      const { items } = await deps().store.hookDeliveries.page(hook.id, { page: 1, perPage: 100 });
      // biome-ignore lint/suspicious/noExplicitAny: payloads of many shapes.
      return items.toReversed().map((delivery) => payloadOf(delivery) as any);
    },
  };
}
async function asked(method: string, path: string, json?: object) {
  const answer = await service.call(method, path, { token, ...(json === undefined ? {} : { json }) });
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer;
}

const CHANGES = 12;

test('workers that have the messages in any order, at once and twice, let no delivery wait before an earlier one', async () => {
  const { path, hookId, messages, waiting } = await hooked();
  const titles = Array.from({ length: CHANGES }, (_, n) => `Change ${n}`);
  for (const title of titles) await asked('POST', `${path}/issues`, { title });
  const jobs = await messages();
  expect(jobs).toHaveLength(CHANGES);
  const { issues, hookDeliveries } = deps().store;
  const read = issues.get.bind(issues);
  // The earlier an issue is, the slower its payload is made.
  vi.spyOn(issues, 'get').mockImplementation(async (address) => {
    await sleep(Math.random() * 10 * (CHANGES - address.iid));
    return read(address);
  });
  const seen: string[][] = [];
  const enqueue = hookDeliveries.enqueue.bind(hookDeliveries);
  vi.spyOn(hookDeliveries, 'enqueue').mockImplementation(async (...given) => {
    await enqueue(...given);
    seen.push((await waiting()).map(({ object_attributes }) => object_attributes.title));
  });
  await Promise.all([...jobs, ...jobs].toReversed().map((job) => runJob(deps(), job)));
  for (const each of seen) expect(each).toEqual(titles.slice(0, each.length));
  expect((await waiting()).map(({ object_attributes }) => object_attributes.title)).toEqual(titles);
  expect(await hookDeliveries.first(hookId)).toBe(`${jobs[0]!.id}-000000`);
  expect(await messages()).toEqual([]);
});

test('a change whose request died before its message was sent is told before a later one', async () => {
  const { path, messages, waiting } = await hooked();
  for (const title of ['first', 'second']) await asked('POST', `${path}/issues`, { title });
  const [, second] = await messages();
  await runJob(deps(), second!);
  expect((await waiting()).map(({ object_attributes }) => object_attributes.title)).toEqual([
    'first',
    'second',
  ]);
});

test('an event that cannot be told keeps later ones back until its message has come for the last time', async () => {
  const { path, messages, waiting } = await hooked();
  for (const title of ['broken', 'whole']) await asked('POST', `${path}/issues`, { title });
  const [broken, whole] = await messages();
  const { issues } = deps().store;
  const read = issues.get.bind(issues);
  vi.spyOn(issues, 'get').mockImplementation(async (address) => {
    if (address.iid === 1) throw new Error('cannot be read');
    return read(address);
  });
  const titles = async () => (await waiting()).map(({ object_attributes }) => object_attributes.title);
  await expect(runJob(deps(), whole!)).rejects.toThrow('cannot be read');
  expect(await titles()).toEqual([]);
  await expect(runJob(deps(), broken!, { lastDelivery: true })).rejects.toThrow('cannot be read');
  await runJob(deps(), whole!);
  expect(await titles()).toEqual(['whole']);
  // Sent once more from the dead letters, when it can be read again.
  vi.restoreAllMocks();
  await runJob(deps(), broken!);
  expect((await titles()).toSorted()).toEqual(['broken', 'whole']);
  expect(await messages()).toEqual([]);
});

test('each change is told with the state that it made, whatever came after it', async () => {
  const { path, messages, waiting } = await hooked();
  const issue = (await asked('POST', `${path}/issues`, { title: 'Broken', description: 'It is.' })).body;
  const at = `${path}/issues/${issue.iid}`;
  await asked('PUT', at, { title: 'Very broken', labels: 'bug' });
  await asked('PUT', at, { state_event: 'close' });
  await asked('PUT', at, { state_event: 'reopen', description: 'It was.' });
  await runJob(deps(), (await messages()).at(-1)!);
  expect(
    (await waiting()).map(
      ({ object_attributes: { action, state, title, description, closed_at }, labels }) => [
        action,
        state,
        title,
        description,
        closed_at === null,
        labels.length,
      ],
    ),
  ).toEqual([
    ['open', 'opened', 'Broken', 'It is.', true, 0],
    ['update', 'opened', 'Very broken', 'It is.', true, 1],
    ['close', 'closed', 'Very broken', 'It is.', false, 1],
    ['reopen', 'opened', 'Very broken', 'It was.', true, 1],
  ]);
});

test('changes of merge requests and deployments are told with the state that they made', async () => {
  const { path, messages, waiting } = await hooked();
  const commit = async (content: string) =>
    (
      await asked('POST', `${path}/repository/commits`, {
        branch: 'topic',
        ...(content === 'one' ? { start_branch: 'main' } : {}),
        commit_message: content,
        actions: [{ action: 'create', file_path: content, content }],
      })
    ).body.id as string;
  const head = await commit('one');
  const made = (
    await asked('POST', `${path}/merge_requests`, {
      source_branch: 'topic',
      target_branch: 'main',
      title: 'Topic',
    })
  ).body;
  await asked('PUT', `${path}/merge_requests/${made.iid}`, { state_event: 'close' });
  await asked('PUT', `${path}/merge_requests/${made.iid}`, { state_event: 'reopen', title: 'Draft: Topic' });
  const json = { environment: 'live', sha: head, ref: 'topic', tag: false, status: 'running' };
  const deployment = (await asked('POST', `${path}/deployments`, json)).body;
  await asked('PUT', `${path}/deployments/${deployment.id}`, { status: 'success' });
  await runJob(deps(), (await messages()).at(-1)!);
  const told = await waiting();
  expect(
    told
      .slice(0, 3)
      .map(({ object_attributes: { action, state, title, draft } }) => [action, state, title, draft]),
  ).toEqual([
    ['open', 'opened', 'Topic', false],
    ['close', 'closed', 'Topic', false],
    ['reopen', 'opened', 'Draft: Topic', true],
  ]);
  expect(told[0].object_attributes.last_commit.id).toBe(head);
  expect(told.slice(3).map(({ status }) => status)).toEqual(['running', 'success']);
});
