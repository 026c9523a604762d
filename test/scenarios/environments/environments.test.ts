import { beforeAll, describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { removeDue } from '../../../lib/domain/environments/environments.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { expectSchema } from '../../harness/schemas.ts';
import type { Answer } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';

const { as, world } = ownWorld();

const owner = (method: string, path: string, json?: unknown): Promise<Answer> =>
  as('owner', method, path, json);
const made = async (path: string, json: unknown): Promise<Answer['body']> => {
  const answer = await owner('POST', path, json);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
};
const commit = async (
  at: string,
  branch: string,
  file_path: string,
  start_branch?: string,
): Promise<string> =>
  (
    await made(`${at}/repository/commits`, {
      branch,
      ...(start_branch === undefined ? {} : { start_branch }),
      commit_message: `Add ${file_path}`,
      actions: [{ action: 'create', file_path, content: 'a' }],
    })
  ).id;
/** A new project with one commit. */
async function coded(name: string): Promise<{ at: string; sha: string }> {
  const at = `/projects/${(await made('/projects', { name })).id}`;
  return { at, sha: await commit(at, 'main', 'a.txt') };
}
const namesOf = ({ body }: Answer): string[] => body.map(({ name }: { name: string }) => name);
const idsOf = ({ body }: Answer): number[] => body.map(({ id }: { id: number }) => id);

let at: string;
let sha: string;
beforeAll(async () => {
  ({ at, sha } = await coded('deployed'));
});
const environments = (rest: string | number = '') => `${at}/environments${rest === '' ? '' : `/${rest}`}`;
const deployments = (rest: string | number = '') => `${at}/deployments${rest === '' ? '' : `/${rest}`}`;
const deploy = (environment: string, status: string, more: object = {}): Promise<Answer['body']> =>
  made(deployments(), { environment, sha, ref: 'main', tag: false, status, ...more });

describe('an environment', () => {
  test('is shown as it was created, with a slug and the tier of its name', async () => {
    const created = await made(environments(), { name: 'prod', external_url: 'https://example.com' });
    expectSchema('environment', created);
    expect(created).toMatchObject({
      name: 'prod',
      slug: 'prod',
      external_url: 'https://example.com',
      state: 'available',
      tier: 'production',
    });
    const { project, ...alone } = created;
    const simple = (await owner('GET', '/projects?simple=true&search=deployed')).body;
    expect(simple).toEqual([project]);
    const shown = await owner('GET', environments(created.id));
    expect(shown.body).toEqual({ ...alone, last_deployment: null });
    expect((await owner('GET', `${environments()}?name=prod`)).body).toEqual([created]);
    const { slug } = await made(environments(), { name: 'review/Fix_1', tier: 'other' });
    expect(slug).toMatch(/^review-fix-1-[0-9a-z]{6}$/);
    const long = await made(environments(), { name: `9-${'x'.repeat(100)}` });
    expect(long.slug).toMatch(/^env-9-x{11}-[0-9a-z]{6}$/);
  });

  test('is refused with a name or address that is taken, wrong or too long', async () => {
    await made(environments(), { name: 'taken' });
    const told = async (json: object) => (await owner('POST', environments(), json)).body;
    const taken = ['has already been taken'];
    expect(await told({ name: 'taken' })).toEqual({ message: { name: taken, slug: taken } });
    expect(await told({})).toEqual({ error: 'name is missing' });
    expect(await told({ name: '/a' })).toEqual({
      message: { name: [expect.stringMatching(/^can contain only letters/)] },
    });
    expect(await told({ name: 'x'.repeat(256) })).toMatchObject({ message: { name: [expect.any(String)] } });
    expect(await told({ name: 'x', external_url: 'javascript:1' })).toMatchObject({
      message: { external_url: [expect.any(String)] },
    });
    expect(await told({ name: 'x', slug: 'y' })).toEqual({
      error: 'slug is automatically generated and cannot be changed',
    });
  });

  test('is changed; its old name is free again', async () => {
    const { id } = await made(environments(), { name: 'old' });
    const json = { name: 'new', external_url: 'https://new.example.com', tier: 'staging' };
    const { body } = await owner('PUT', environments(id), json);
    expect(body).toMatchObject({ ...json, slug: 'old' });
    await made(environments(), { name: 'old' });
    expect((await owner('PUT', environments(id), { name: 'old' })).status).toBe(400);
  });

  test('is stopped, also twice, and only then deleted, with its deployments', async () => {
    const { id } = await made(environments(), { name: 'stopping' });
    const deployment = await deploy('stopping', 'running');
    expect((await owner('DELETE', environments(id))).status).toBe(403);
    for (const _ of [1, 2]) {
      const stopped = await owner('POST', environments(`${id}/stop`));
      expect(stopped).toMatchObject({ status: 200, body: { state: 'stopped' } });
    }
    expect((await owner('DELETE', environments(id))).status).toBe(204);
    expect((await owner('GET', environments(id))).status).toBe(404);
    expect((await owner('GET', deployments(deployment.id))).status).toBe(404);
    await settled();
    const project = Number(at.split('/')[2]);
    expect(await deps().store.deployments.get(project, deployment.id)).toBeUndefined();
  });

  test('is listed by name, part of the name and state', async () => {
    const { at } = await coded('listed environments');
    for (const name of ['one', 'two', 'Twofold']) await made(`${at}/environments`, { name });
    const all = await owner('GET', `${at}/environments`);
    expect(namesOf(all)).toEqual(['one', 'two', 'Twofold']);
    expect(all.headers.get('x-total')).toBe('3');
    const list = async (query: string) => namesOf(await owner('GET', `${at}/environments?${query}`));
    await owner('POST', `${at}/environments/${all.body[0].id}/stop`);
    expect(await list('name=two')).toEqual(['two']);
    expect(await list('name=absent')).toEqual([]);
    expect(await list('search=TWO')).toEqual(['two', 'Twofold']);
    expect(await list('states=stopped')).toEqual(['one']);
    expect(await list('states=available&per_page=1&page=2')).toEqual(['Twofold']);
    expect((await owner('GET', `${at}/environments?name=a&search=b`)).status).toBe(400);
    expect((await owner('GET', `${at}/environments?states=none`)).status).toBe(400);
  });
});

describe('review apps', () => {
  test('that are stopped and old are scheduled, and deleted a week later unless they are available again', async () => {
    const { at, sha } = await coded('reviewed');
    const ids: Record<string, number> = {};
    for (const name of ['review/a', 'review/b', 'review/live', 'other'])
      ids[name] = (await made(`${at}/environments`, { name })).id;
    for (const name of ['review/a', 'review/b', 'other'])
      await owner('POST', `${at}/environments/${ids[name]}/stop`);
    const path = (query: string) => `${at}/environments/review_apps?${query}`;
    const before = encodeURIComponent(new Date(Date.now() + 1000).toISOString());
    const dry = await owner('DELETE', path(`before=${before}`));
    expect(namesOf({ ...dry, body: dry.body.scheduled_entries })).toEqual(['review/a', 'review/b']);
    expect((await owner('DELETE', path('dry_run=false'))).body.scheduled_entries).toEqual([]);
    expect((await owner('DELETE', path('limit=0'))).status).toBe(400);
    const scheduled = await owner('DELETE', path(`before=${before}&dry_run=false`));
    expect(scheduled.body).toMatchObject({ scheduled_entries: [{}, {}], unprocessable_entries: [] });
    const again = await owner('DELETE', path(`before=${before}&dry_run=false`));
    expect(again.body.scheduled_entries).toEqual([]);
    // It is needed again.
    await made(`${at}/deployments`, {
      environment: 'review/b',
      sha,
      ref: 'main',
      tag: false,
      status: 'success',
    });
    const project = Number(at.split('/')[2]);
    const inAWeek = { ...deps(), now: () => new Date(Date.now() + 8 * 86_400_000) };
    for (const name of ['review/a', 'review/b'])
      expect(await removeDue(inAWeek, project, ids[name]!, Date.now() + 60_000)).toBe(true);
    expect(namesOf(await owner('GET', `${at}/environments`))).toEqual(['review/b', 'review/live', 'other']);
  });
});

test('who may not delete review apps is told so, with lists of nothing', async () => {
  const { at } = await coded('reviewed by others');
  await made(`${at}/members`, { user_id: world.ids['reporter'], access_level: 20 });
  const path = `${at}/environments/review_apps?dry_run=false`;
  expect(await as('reporter', 'DELETE', path)).toMatchObject({
    status: 403,
    body: { message: '403 Forbidden', scheduled_entries: [], unprocessable_entries: [] },
  });
  expect((await as('stranger', 'DELETE', path)).status).toBe(404);
});

describe('a deployment', () => {
  test('is shown as it was created, and creates its environment', async () => {
    const created = await deploy('fresh', 'running');
    expectSchema('deployment', created);
    expect(created).toMatchObject({
      iid: expect.any(Number),
      ref: 'main',
      sha,
      status: 'running',
      deployable: null,
      user: { username: 'owner' },
      environment: { name: 'fresh', slug: 'fresh', external_url: null },
    });
    expect((await owner('GET', deployments(created.id))).body).toEqual(created);
    const { status: _, ...rest } = { status: 0, environment: 'fresh', sha, ref: 'main', tag: false };
    expect((await made(deployments(), rest)).status).toBe('created');
  });

  test('becomes the last one of its environment with its success, which makes that available', async () => {
    const first = await deploy('live', 'success');
    const { id } = first.environment;
    await owner('POST', environments(`${id}/stop`));
    const second = await deploy('live', 'created');
    expect((await owner('GET', environments(id))).body).toMatchObject({
      state: 'stopped',
      last_deployment: { id: first.id },
    });
    const put = async (status: string) => owner('PUT', deployments(second.id), { status });
    for (const status of ['running', 'success', 'success'])
      expect(await put(status)).toMatchObject({ status: 200, body: { status } });
    expect((await owner('GET', environments(id))).body).toMatchObject({
      state: 'available',
      last_deployment: { id: second.id, user: { username: 'owner' } },
    });
    expect(await put('failed')).toMatchObject({ status: 200, body: { status: 'failed' } });
    expect((await owner('GET', environments(id))).body.last_deployment.id).toBe(first.id);
    expect((await put('none')).status).toBe(400);
  });

  test('is refused for what does not exist', async () => {
    const told = async (more: object) => {
      const json = { environment: 'fresh', sha, ref: 'main', tag: false, status: 'success', ...more };
      const { status, body } = await owner('POST', deployments(), json);
      return [status, body.message ?? body.error];
    };
    expect(await told({ sha: 'f'.repeat(40) })).toEqual([400, { sha: ['The commit does not exist'] }]);
    expect(await told({ sha: 'main' })).toEqual([400, { sha: ['The commit does not exist'] }]);
    expect(await told({ ref: 'absent' })).toEqual([400, { ref: ['The branch or tag does not exist'] }]);
    expect(await told({ environment: '/' })).toEqual([400, { name: [expect.any(String)] }]);
    expect(await told({ environment: '' })).toEqual([400, 'environment is empty']);
    expect((await owner('PUT', deployments(1e9), { status: 'failed' })).status).toBe(404);
  });

  test('of several at once to a new environment none is lost', async () => {
    await Promise.all([1, 2, 3].map(() => deploy('rushed', 'success')));
    const { body } = await owner('GET', `${deployments()}?environment=rushed`);
    expect(body).toHaveLength(3);
    expect(new Set(body.map(({ iid }: { iid: number }) => iid)).size).toBe(3);
  });

  test('is listed in every order, by environment, status and time', async () => {
    const { at, sha } = await coded('listed deployments');
    await made(`${at}/repository/branches`, { branch: 'a-branch', ref: 'main' });
    const add = async (environment: string, ref: string, status: string): Promise<number> =>
      (await made(`${at}/deployments`, { environment, sha, ref, tag: false, status })).id;
    const first = await add('x', 'main', 'running');
    const second = await add('y', 'a-branch', 'failed');
    const third = await add('x', 'main', 'success');
    await owner('PUT', `${at}/deployments/${first}`, { status: 'canceled' });
    const list = (query: string) => owner('GET', `${at}/deployments?${query}`);
    const all = await list('');
    expect(idsOf(all)).toEqual([first, second, third]);
    expect(all.headers.get('x-total')).toBe('3');
    for (const order of ['id', 'iid', 'created_at'])
      expect(idsOf(await list(`order_by=${order}&sort=desc`))).toEqual([third, second, first]);
    expect(idsOf(await list('order_by=updated_at'))).toEqual([second, third, first]);
    expect(idsOf(await list('order_by=ref'))).toEqual([second, first, third]);
    expect(idsOf(await list('environment=x'))).toEqual([first, third]);
    expect(idsOf(await list('environment=x&order_by=updated_at'))).toEqual([third, first]);
    expect(idsOf(await list('environment=absent'))).toEqual([]);
    expect(idsOf(await list('status=success'))).toEqual([third]);
    const after = (await owner('GET', `${at}/deployments/${first}`)).body.updated_at;
    expect(idsOf(await list(`order_by=updated_at&updated_after=${after}`))).toEqual([first]);
    expect(idsOf(await list(`order_by=updated_at&updated_before=${after}&per_page=1&page=2`))).toEqual([
      third,
    ]);
    expect((await list('order_by=name')).status).toBe(400);
  });

  test('lists the merge requests that it brought', async () => {
    const { at, sha } = await coded('merged and deployed');
    const merged = async (branch: string) => {
      await commit(at, branch, `${branch}.txt`, 'main');
      const json = { source_branch: branch, target_branch: 'main', title: branch };
      const { iid } = await made(`${at}/merge_requests`, json);
      const answer = await owner('PUT', `${at}/merge_requests/${iid}/merge`);
      expect(answer).toMatchObject({ status: 200, body: { state: 'merged' } });
      return answer.body.merge_commit_sha as string;
    };
    const one = await merged('one');
    const two = await merged('two');
    const three = await merged('three');
    const add = (sha: string, status = 'success') =>
      made(`${at}/deployments`, { environment: 'x', sha, ref: 'main', tag: false, status });
    const brought = async ({ id }: Answer['body'], query = '') => {
      const { body } = await owner('GET', `${at}/deployments/${id}/merge_requests?${query}`);
      return body.map(({ title }: { title: string }) => title);
    };
    expect(await brought(await add(sha))).toEqual([]);
    expect(await brought(await add(one))).toEqual(['one']);
    const later = await add(three);
    expect(await brought(later)).toEqual(['three', 'two']);
    expect(await brought(later, 'sort=asc')).toEqual(['two', 'three']);
    expect(await brought(later, 'state=opened')).toEqual([]);
    expect(await brought(await add(two, 'running'))).toEqual([]);
    const list = async (query: string) => {
      const { body } = await owner('GET', `${at}/merge_requests?${query}`);
      return body.map(({ title }: { title: string }) => title);
    };
    expect(await list('environment=x')).toEqual(['three', 'two', 'one']);
    expect(await list('environment=absent')).toEqual([]);
    const finished = encodeURIComponent(later.updated_at);
    expect(await list(`deployed_after=${finished}`)).toEqual(['three', 'two']);
    expect(await list(`environment=x&deployed_after=2040-01-01`)).toEqual([]);
    expect(await list('deployed_before=2000-01-01')).toEqual([]);
    expect(await list('environment=x&state=opened')).toEqual([]);
    // Of more deployments than are looked at one by one, those to one environment are all found.
    for (let n = 0; n <= 20; n++) await add(three);
    const all = await owner('GET', `${at}/merge_requests?environment=x`);
    expect([idsOf(all).length, all.headers.get('x-total')]).toEqual([3, '3']);
    expect(await list(`environment=x&deployed_after=${finished}`)).toEqual(['three', 'two']);
    // Of all environments the list says that it may lack some.
    const cut = await owner('GET', `${at}/merge_requests?deployed_after=2000-01-01`);
    expect([cut.status, cut.headers.get('x-total')]).toEqual([200, null]);
  });
});

describe('a deployment to production', () => {
  const merged = async (at: string, branch: string) => {
    await commit(at, branch, `${branch}.txt`, 'main');
    const json = { source_branch: branch, target_branch: 'main', title: branch };
    const { iid } = await made(`${at}/merge_requests`, json);
    const { body } = await owner('PUT', `${at}/merge_requests/${iid}/merge`);
    return { iid: iid as number, sha: body.merge_commit_sha as string };
  };
  const firstOf = async (at: string, { iid }: { iid: number }) =>
    (await owner('GET', `${at}/merge_requests/${iid}`)).body.first_deployed_to_production_at;
  const deployed = async (at: string, environment: string, sha: string, status = 'success') => {
    const deployment = await made(`${at}/deployments`, { environment, sha, ref: 'main', tag: false, status });
    await settled();
    return deployment;
  };

  test('leaves its time with the merge requests that it brought, and later ones leave it alone', async () => {
    const { at } = await coded('to production');
    const [one, two] = [await merged(at, 'one'), await merged(at, 'two')];
    expect(await firstOf(at, one)).toBeNull();
    const first = await deployed(at, 'production', one.sha);
    expect([await firstOf(at, one), await firstOf(at, two)]).toEqual([first.updated_at, null]);
    const { id } = await deployed(at, 'production', two.sha, 'running');
    expect(await firstOf(at, two)).toBeNull();
    const { body: second } = await owner('PUT', `${at}/deployments/${id}`, { status: 'success' });
    await deployed(at, 'eu/live', two.sha);
    expect([await firstOf(at, one), await firstOf(at, two)]).toEqual([first.updated_at, second.updated_at]);
  });

  test('is one to an environment of that tier', async () => {
    const { at } = await coded('to tiers');
    const one = await merged(at, 'one');
    await deployed(at, 'staging', one.sha);
    expect(await firstOf(at, one)).toBeNull();
    await made(`${at}/environments`, { name: 'berlin', tier: 'production' });
    const { updated_at } = await deployed(at, 'berlin', one.sha);
    expect(await firstOf(at, one)).toBe(updated_at);
  });
});

test('lists of groups and of the instance find what was deployed, in projects whose environments one may see', async () => {
  const { id: group } = await made('/groups', { name: 'fleet', path: 'fleet', visibility: 'public' });
  const deployed = async (name: string, json: object) => {
    const { id } = await made('/projects', { name, namespace_id: group, visibility: 'public', ...json });
    const at = `/projects/${id}`;
    await commit(at, 'main', 'a.txt');
    await commit(at, 'topic', 'b.txt', 'main');
    await commit(at, 'open', 'c.txt', 'main');
    const propose = (source_branch: string) =>
      made(`${at}/merge_requests`, {
        source_branch,
        target_branch: 'main',
        title: `${name} ${source_branch}`,
      });
    await propose('open');
    const { iid } = await propose('topic');
    const { body } = await owner('PUT', `${at}/merge_requests/${iid}/merge`);
    const brought = { environment: 'sea', sha: body.merge_commit_sha, ref: 'main', tag: false };
    return made(`${at}/deployments`, { ...brought, status: 'success' });
  };
  await deployed('brig', {});
  const last = await deployed('sloop', {});
  await deployed('yacht', { visibility: 'private' });
  const list = async (who: 'owner' | 'stranger', where: string, query: string) => {
    const { body, headers } = await as(who, 'GET', `${where}/merge_requests?scope=all&${query}`);
    expect(headers.get('x-total'), query).toBe(String(body.length));
    return body.map(({ title }: { title: string }) => title).toSorted();
  };
  for (const where of [`/groups/${group}`, '']) {
    expect(await list('owner', where, 'environment=sea')).toEqual([
      'brig topic',
      'sloop topic',
      'yacht topic',
    ]);
    expect(await list('stranger', where, 'environment=sea')).toEqual(['brig topic', 'sloop topic']);
    const after = encodeURIComponent(last.updated_at);
    expect(await list('owner', where, `environment=sea&deployed_after=${after}`)).toEqual([
      'sloop topic',
      'yacht topic',
    ]);
    expect(await list('owner', where, 'environment=sea&deployed_before=2000-01-01')).toEqual([]);
    expect(await list('owner', where, 'environment=lake')).toEqual([]);
  }
});

describe('who sees environments', () => {
  test('guests and strangers of a private project do not', async () => {
    const path = `/projects/${world.ids['private']}`;
    for (const list of ['environments', 'deployments']) {
      expect((await as('guest', 'GET', `${path}/${list}`)).status).toBe(403);
      expect((await as('stranger', 'GET', `${path}/${list}`)).status).toBe(404);
      expect((await as('reporter', 'GET', `${path}/${list}`)).status).toBe(200);
    }
    expect((await as('reporter', 'POST', `${path}/environments`, { name: 'x' })).status).toBe(403);
  });
});
