import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Service, startService } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';
import { ask, makeWorld, type World } from '../../harness/world.ts';
import { type Pushed, pushedProject } from '../repository/pushed-project.ts';

let service: Service;
let world: World;
let project: Pushed;
/** With three commits, which change, rename, delete and add a file. */
let topic: string;
/** With 1,001 files. */
let large: string;

const commit = (branch: string, from: string, at: number, changes: readonly string[]) =>
  `commit refs/heads/${branch}\ncommitter C <c@example.com> ${1600000000 + at} +0000\ndata 1\nx\n` +
  `${from === '' ? '' : `from ${from}\n`}${changes.join('')}`;
const file = (name: string, text: string) =>
  `M 100644 inline ${name}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
const lines = (count: number) => Array.from({ length: count }, (_, i) => `line ${i}\n`).join('');

const get = (path: string) => ask(world, 'owner', 'GET', path);
const post = (path: string, json?: unknown) => ask(world, 'owner', 'POST', path, json);

async function proposed(source_branch: string, json: object = {}): Promise<string> {
  const path = `/projects/${project.id}/merge_requests`;
  const given = { title: source_branch, source_branch, target_branch: 'main', ...json };
  const { status, body } = await post(path, given);
  expect(status, JSON.stringify(body)).toBe(201);
  return `${path}/${body.iid}`;
}

beforeAll(async () => {
  service = await startService();
  world = await makeWorld(service);
  project = await pushedProject(
    service,
    { username: 'owner', token: world.tokens.owner! },
    'shown',
    (git) => {
      const many = Array.from({ length: 1001 }, (_, i) => file(`many/${i}`, `${i}\n`));
      git.feed(
        [
          commit('base', '', 0, [file('kept', lines(9)), file('moved', lines(40)), file('gone', 'x\n')]),
          commit('topic', 'refs/heads/base', 1, [file('kept', lines(10))]),
          commit('topic', '', 2, ['R moved new/moved\n', 'D gone\n']),
          commit('topic', '', 3, [file('added', 'new\n')]),
          commit('large', 'refs/heads/base', 1, many),
          commit('main', 'refs/heads/base', 4, [file('beside', 'main\n')]),
          'reset refs/heads/nothing\nfrom refs/heads/base\n\n',
        ].join(''),
        'fast-import',
        '--quiet',
      );
    },
  );
  topic = await proposed('topic');
  large = await proposed('large');
});
afterAll(() => service.stop());

describe('a merge request shows', () => {
  test('its commits, the newest first, as git lists them', async () => {
    const expected = project.git.lines('rev-list', 'main..topic');
    const { body, headers } = await get(`${topic}/commits`);
    expect(body.map(({ id }: { id: string }) => id)).toEqual(expected);
    expect(headers.get('x-total')).toBe('3');
    const second = await get(`${topic}/commits?per_page=1&page=2`);
    expect(second.body.map(({ id }: { id: string }) => id)).toEqual([expected[1]]);
  });

  test('its changes since the merge base, and itself', async () => {
    const { status, body } = await get(`${topic}/changes`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ title: 'topic', changes_count: '4', overflow: false });
    const named = body.changes.map((each: Record<string, unknown>) => [
      each['old_path'],
      each['new_path'],
      ['new_file', 'renamed_file', 'deleted_file'].filter((name) => each[name]),
    ]);
    expect(named).toEqual([
      ['added', 'added', ['new_file']],
      ['gone', 'gone', ['deleted_file']],
      ['kept', 'kept', []],
      ['moved', 'new/moved', ['renamed_file']],
    ]);
    expect(body.changes[2].diff).toBe('@@ -7,3 +7,4 @@ line 5\n line 6\n line 7\n line 8\n+line 9\n');
  });

  test('its changed files by page, and which texts are left out', async () => {
    const { body, headers } = await get(`${topic}/diffs?per_page=2&page=2`);
    expect(headers.get('x-total')).toBe('4');
    expect(body).toMatchObject([
      { new_path: 'kept', collapsed: false, too_large: false },
      { new_path: 'new/moved' },
    ]);
  });

  test('that it has more files than are shown, and all of them where they are asked for', async () => {
    const cut = (await get(`${large}/changes`)).body;
    expect(cut).toMatchObject({ changes_count: '1000+', overflow: true });
    expect(cut.changes).toHaveLength(1000);
    const whole = (await get(`${large}/changes?access_raw_diffs=true`)).body;
    expect(whole.overflow).toBe(false);
    expect(whole.changes).toHaveLength(1001);
  });

  test('that it has none', async () => {
    const empty = await proposed('nothing');
    expect((await get(`${empty}/changes`)).body).toMatchObject({ changes_count: '0', changes: [] });
    expect((await get(`${empty}/commits`)).body).toEqual([]);
    expect((await get(`${empty}/versions`)).body).toMatchObject([{ state: 'empty', real_size: '0' }]);
  });
});

describe('versions', () => {
  test('are listed, the newest first, and shown as they were', async () => {
    const { body: before } = await get(topic);
    const retargeted = await ask(world, 'owner', 'PUT', topic, { target_branch: 'base' });
    expect(retargeted.status, JSON.stringify(retargeted.body)).toBe(200);
    const { body, headers } = await get(`${topic}/versions`);
    expect(headers.get('x-total')).toBe('2');
    expect(body).toMatchObject([
      { start_commit_sha: project.git.oid('base'), real_size: '4' },
      {
        merge_request_id: before.id,
        head_commit_sha: before.sha,
        base_commit_sha: before.diff_refs.base_sha,
        start_commit_sha: before.diff_refs.start_sha,
        state: 'collected',
        real_size: '4',
      },
    ]);
    const [second] = (await get(`${topic}/versions?per_page=1&page=2`)).body;
    expect(second).toEqual(body[1]);
    expect((await get(`${topic}/versions?page=3&per_page=1`)).body).toEqual([]);
    const shown = (await get(`${topic}/versions/${second.id}`)).body;
    expect(shown).toMatchObject(second);
    expect(shown.commits).toHaveLength(3);
    expect(shown.diffs).toHaveLength(4);
  });

  test('of another merge request are not found', async () => {
    const [{ id }] = (await get(`${large}/versions`)).body;
    expect((await get(`${topic}/versions/${id}`)).status).toBe(404);
    expect((await get(`${topic}/versions/99999999`)).status).toBe(404);
  });
});

describe('who takes part', () => {
  test('is its author, who is asked to review it, and who comments', async () => {
    const given = { target_branch: 'large', reviewer_ids: [world.ids['reporter']] };
    const path = await proposed('topic', given);
    await ask(world, 'stranger', 'POST', `${path}/notes`, { body: 'Why?' });
    const { body } = await get(`${path}/participants`);
    const names = body.map(({ username }: { username: string }) => username);
    expect(names.toSorted()).toEqual(['owner', 'reporter', 'stranger']);
    expect((await get(`${path}/reviewers`)).body).toMatchObject([
      { user: { username: 'reporter' }, state: 'unreviewed', created_at: null },
    ]);
  });

  test('subscribes and unsubscribes, each once', async () => {
    expect((await post(`${large}/subscribe`)).status).toBe(304);
    const { status, body } = await post(`${large}/unsubscribe`);
    expect([status, body.subscribed]).toEqual([201, false]);
    expect((await post(`${large}/unsubscribe`)).status).toBe(304);
    expect((await post(`${large}/subscribe`)).body.subscribed).toBe(true);
  });
});

test('the pipelines of its heads are listed', async () => {
  expect((await get(`${large}/pipelines`)).body).toEqual([]);
  const { sha } = (await get(large)).body;
  const reported = { state: 'success', ref: 'large' };
  expect((await post(`/projects/${project.id}/statuses/${sha}`, reported)).status).toBe(201);
  expect((await get(`${large}/pipelines`)).body).toMatchObject([{ sha, ref: 'large', status: 'success' }]);
  const refused = await post(`${large}/pipelines`);
  expect([refused.status, refused.body.message]).toEqual([400, { base: ['Missing CI config file'] }]);
});

test('time is tracked on it by Developers', async () => {
  const estimated = await post(`${large}/time_estimate`, { duration: '3h 30m' });
  expect(estimated.status).toBe(200);
  expect(estimated.body).toMatchObject({ time_estimate: 12_600, human_time_estimate: '3h 30m' });
  expect((await post(`${large}/add_spent_time`, { duration: '1h' })).status).toBe(201);
  expect((await post(`${large}/add_spent_time`, { duration: '-2h' })).status).toBe(400);
  expect((await get(`${large}/time_stats`)).body).toMatchObject({ total_time_spent: 3600 });
  expect((await get(large)).body.time_stats).toMatchObject({ time_estimate: 12_600, total_time_spent: 3600 });
  const notes = (await get(`${large}/notes?sort=asc`)).body.map(({ body }: { body: string }) => body);
  expect(notes).toEqual(expect.arrayContaining([expect.stringContaining('3h 30m')]));
  expect((await post(`${large}/reset_time_estimate`)).status).toBe(200);
  expect((await post(`${large}/reset_spent_time`)).body).toMatchObject({ total_time_spent: 0 });
  expect((await ask(world, 'stranger', 'POST', `${large}/time_estimate`, { duration: '1h' })).status).toBe(
    403,
  );
});

describe('to-dos about merge requests', () => {
  const titles = async (who: 'owner' | 'stranger' | 'maintainer', query = '') =>
    (await ask(world, who, 'GET', `/todos${query}`)).body.map(
      (todo: { target_type: string; action_name: string; target: { title: string } }) => [
        todo.target_type,
        todo.action_name,
        todo.target.title,
      ],
    );

  test('are created by the caller, once, listed with those about issues, and done', async () => {
    await settled();
    await post('/todos/mark_as_done');
    const issues = `/projects/${project.id}/issues`;
    const { iid } = (await post(issues, { title: 'Work' })).body;
    expect((await post(`${issues}/${iid}/todo`)).status).toBe(201);
    const { status, body } = await post(`${large}/todo`);
    expect([status, body.target_type, body.target.title]).toEqual([201, 'MergeRequest', 'large']);
    expect(body.target_url).toMatch(/\/-\/merge_requests\/\d+$/);
    expect((await post(`${large}/todo`)).status).toBe(304);
    expect(await titles('owner')).toEqual([
      ['MergeRequest', 'marked', 'large'],
      ['Issue', 'marked', 'Work'],
    ]);
    expect(await titles('owner', '?type=MergeRequest')).toEqual([['MergeRequest', 'marked', 'large']]);
    expect(await titles('owner', '?type=Issue')).toEqual([['Issue', 'marked', 'Work']]);
    const done = await post(`/todos/${body.id}/mark_as_done`);
    expect(done.body).toMatchObject({ state: 'done', target_type: 'MergeRequest' });
    expect(await titles('owner', '?type=MergeRequest')).toEqual([]);
  });

  test('are made for who is asked for a review', async () => {
    const path = await proposed('topic', {
      target_branch: 'nothing',
      reviewer_ids: [world.ids['maintainer']],
    });
    await settled();
    expect(await titles('maintainer')).toEqual([['MergeRequest', 'review_requested', 'topic']]);
    expect((await get(`${path}/reviewers`)).body).toHaveLength(1);
  });

  test('are not shown to who may no longer see the merge request', async () => {
    expect((await ask(world, 'stranger', 'POST', `${large}/todo`)).status).toBe(201);
    expect(await titles('stranger')).toHaveLength(1);
    await ask(world, 'owner', 'PUT', `/projects/${project.id}`, { visibility: 'private' });
    expect(await titles('stranger')).toEqual([]);
    expect((await ask(world, 'stranger', 'POST', `${large}/todo`)).status).toBe(404);
  });
});
