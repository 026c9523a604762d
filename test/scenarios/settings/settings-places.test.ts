/** Settings about projects are obeyed: who deletes them, where they are cloned from, how much of a diff is shown. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Service, startService } from '../../harness/service.ts';
import { changeSettings } from '../../harness/settings.ts';

let service: Service;
let ada: { readonly id: number; readonly username: string; readonly token: string };
let names = 0;

beforeAll(async () => {
  service = await startService();
  ada = await service.user('ada');
});
afterAll(() => service.stop());

const as = (token: string | undefined, method: string, path: string, json?: unknown) =>
  service.call(method, path, {
    ...(token === undefined ? {} : { token }),
    ...(json === undefined ? {} : { json }),
  });
const mine = (method: string, path: string, json?: unknown) => as(ada.token, method, path, json);
const admin = (method: string, path: string, json?: unknown) => as(service.rootToken, method, path, json);
const fresh = (what: string) => `${what}-${++names}`;
const project = async (json: Record<string, unknown> = {}) =>
  (await mine('POST', '/projects', { name: fresh('project'), ...json })).body;
const group = async (json: Record<string, unknown> = {}) => {
  const path = fresh('group');
  return (await mine('POST', '/groups', { name: path, path, ...json })).body;
};

describe('when only administrators may delete projects', () => {
  const REFUSED = { message: '403 Forbidden - Only administrators can delete projects' };
  afterEach(() =>
    changeSettings(service, { default_project_deletion_protection: false, delayed_project_deletion: false }),
  );

  test('others cannot delete their own or their groups’ projects, at once or later', async () => {
    const [own, home] = [await project(), await group()];
    const inside = await project({ namespace_id: home.id });
    await changeSettings(service, { default_project_deletion_protection: true });
    for (const { id } of [own, inside]) {
      const { status, body } = await mine('DELETE', `/projects/${id}`);
      expect([status, body]).toEqual([403, REFUSED]);
      expect((await mine('GET', `/projects/${id}`)).status).toBe(200);
    }
    await changeSettings(service, { delayed_project_deletion: true });
    expect((await mine('DELETE', `/projects/${inside.id}`)).body).toEqual(REFUSED);
    expect((await mine('GET', `/projects/${inside.id}`)).body.marked_for_deletion_on).toBe(null);
    // What waits for its deletion is not hastened either; who may have it back does.
    expect((await admin('DELETE', `/projects/${inside.id}`)).status).toBe(202);
    const path = (await mine('GET', `/projects/${inside.id}`)).body.path_with_namespace;
    const now = { permanently_remove: true, full_path: path };
    expect((await mine('DELETE', `/projects/${inside.id}`, now)).body).toEqual(REFUSED);
    expect((await mine('POST', `/projects/${inside.id}/restore`)).status).toBe(201);
    expect((await admin('DELETE', `/projects/${own.id}`)).status).toBe(202);
    expect((await mine('GET', `/projects/${own.id}`)).status).toBe(404);
  });

  test('owners can delete a group that holds no project at any depth', async () => {
    const [empty, full, outer] = [await group(), await group(), await group()];
    const inner = await group({ parent_id: outer.id });
    await project({ namespace_id: full.id });
    await project({ namespace_id: inner.id });
    await changeSettings(service, { default_project_deletion_protection: true });
    for (const { id } of [full, outer, inner]) {
      expect((await mine('DELETE', `/groups/${id}`)).body, `group ${id}`).toEqual(REFUSED);
      expect((await mine('GET', `/groups/${id}`)).status).toBe(200);
    }
    expect((await mine('DELETE', `/groups/${empty.id}`)).status).toBe(202);
    expect((await admin('DELETE', `/groups/${outer.id}`)).status).toBe(202);
  });

  test('those who could not delete it anyway get their usual error', async () => {
    const own = await project({ visibility: 'private' });
    const bob = await service.user('bob');
    await changeSettings(service, { default_project_deletion_protection: true });
    expect((await as(bob.token, 'DELETE', `/projects/${own.id}`)).status).toBe(404);
    expect((await as(undefined, 'DELETE', `/projects/${own.id}`)).status).toBe(401);
  });
});

describe('a custom clone URL root', () => {
  afterAll(() => changeSettings(service, { custom_http_clone_url_root: null }));

  test('appears wherever a clone URL is shown, and nowhere else', async () => {
    const home = await group({ visibility: 'public' });
    const source = await project({
      namespace_id: home.id,
      visibility: 'public',
      initialize_with_readme: true,
    });
    const bob = await service.user('cleo');
    const { body: fork } = await as(bob.token, 'POST', `/projects/${source.id}/fork`);
    const path = source.path_with_namespace;
    expect(source.http_url_to_repo).toBe(`${service.url}/${path}.git`);
    for (const [given, root] of [
      ['https://git.corp.example', 'https://git.corp.example'],
      ['http://corp.example:8080/code/', 'http://corp.example:8080/code'],
    ] as const) {
      await changeSettings(service, { custom_http_clone_url_root: given });
      const url = `${root}/${path}.git`;
      const one = (await mine('GET', `/projects/${source.id}`)).body;
      expect(one).toMatchObject({
        http_url_to_repo: url,
        web_url: `${service.url}/${path}`,
        readme_url: source.readme_url,
        ssh_url_to_repo: source.ssh_url_to_repo,
      });
      for (const list of [
        await as(undefined, 'GET', `/projects?id_before=${source.id + 1}`),
        await mine('GET', '/projects?simple=true'),
        await mine('GET', `/groups/${home.id}/projects`),
        await mine('GET', `/search?scope=projects&search=${source.name}`),
        { body: (await mine('GET', `/groups/${home.id}`)).body.projects },
        { body: [(await as(bob.token, 'GET', `/projects/${fork.id}`)).body.forked_from_project] },
      ]) {
        const found = list.body.find((one: { id: number }) => one.id === source.id);
        expect(found.http_url_to_repo).toBe(url);
      }
      const { body: made } = await mine('POST', '/projects', { name: fresh('made') });
      expect(made.http_url_to_repo).toBe(`${root}/${made.path_with_namespace}.git`);
      const home_page = await (await fetch(`${service.url}/`)).text();
      expect(home_page).toContain(`git clone ${root}/<namespace>/<project>.git`);
    }
    const elsewhere = await group();
    await mine('POST', `/projects/${source.id}/members`, { user_id: bob.id, access_level: 30 });
    const place = { namespace: elsewhere.id };
    expect((await mine('PUT', `/projects/${source.id}/transfer`, place)).status).toBe(200);
    const mails = await service.mailTo('cleo@example.com', 2);
    const moved = `set-url origin http://corp.example:8080/code/${elsewhere.path}/${source.path}.git`;
    expect(mails.map(({ text }) => text).join('')).toContain(moved);
    expect((await mine('PUT', `/projects/${source.id}/transfer`, { namespace: home.id })).status).toBe(200);
    await changeSettings(service, { custom_http_clone_url_root: '' });
    expect((await mine('GET', `/projects/${source.id}`)).body.http_url_to_repo).toBe(source.http_url_to_repo);
  });

  test.each([
    'git.example',
    'ssh://git.example',
    'https://git.example/?a=',
    'https://git.example/#a',
    'https://a b/',
    7,
    {},
  ])('must be a URL that a path can follow: not %j', async (root) => {
    const { status } = await admin('PUT', '/application/settings', { custom_http_clone_url_root: root });
    expect(status).toBe(400);
  });
});

test('the root page redirects to the configured URL, except to itself', async () => {
  const home = async () => {
    const answer = await fetch(`${service.url}/`, { redirect: 'manual' });
    await answer.body?.cancel();
    return [answer.status, answer.headers.get('location')];
  };
  expect(await home()).toEqual([200, null]);
  for (const [given, location] of [
    ['https://wiki.corp.example/start', 'https://wiki.corp.example/start'],
    ['https://wiki.corp.example/ä b', 'https://wiki.corp.example/%C3%A4%20b'],
    [`${service.url}/`, null],
    [`${service.url}?again`, null],
    ['', null],
  ] as const) {
    await changeSettings(service, { home_page_url: given });
    expect(await home(), given).toEqual([location === null ? 200 : 302, location]);
  }
});

test('new projects have the configured default features', async () => {
  const told = ({ shared_runners_enabled, ci_config_path }: Record<string, unknown>) => [
    shared_runners_enabled,
    ci_config_path,
  ];
  const before = await project();
  expect(told(before)).toEqual([true, null]);
  await changeSettings(service, { shared_runners_enabled: false, default_ci_config_path: 'ci/all.yml' });
  expect(told(await project())).toEqual([false, 'ci/all.yml']);
  expect(told(await project({ shared_runners_enabled: true, ci_config_path: 'own.yml' }))).toEqual([
    true,
    'own.yml',
  ]);
  expect(told(await project({ ci_config_path: null }))).toEqual([false, null]);
  expect(told((await mine('GET', `/projects/${before.id}`)).body)).toEqual([true, null]);
  const on = { shared_runners_enabled: true, shared_runners_text: 'Be kind.', default_ci_config_path: null };
  await changeSettings(service, on);
  expect(told(await project())).toEqual([true, null]);
});

describe('the limit on diffs applies to', () => {
  const defaults = { diff_max_files: 1000, diff_max_patch_bytes: 204_800, diff_max_lines: 50_000 };
  afterEach(() => changeSettings(service, defaults));
  let id: number;
  const shas: Record<string, string> = {};
  /** A commit that makes these files. */
  const commit = async (name: string, files: readonly (readonly [string, string])[]) => {
    const actions = files.map(([file_path, content]) => ({ action: 'create', file_path, content }));
    const { status, body } = await mine('POST', `/projects/${id}/repository/commits`, {
      branch: 'main',
      commit_message: name,
      actions,
    });
    expect(status).toBe(201);
    shas[name] = body.id;
  };
  beforeAll(async () => {
    ({ id } = await project({ initialize_with_readme: true }));
    await commit(
      'files',
      Array.from({ length: 1100 }, (_, n) => [`many/${n}`, 'x\n'] as const),
    );
    await commit('bytes', [['large', `${'x'.repeat(99)}\n`.repeat(3000)]]);
    await commit('lines', [
      ['rows/a', '1\n'.repeat(51_000)],
      ['rows/b', 'the last\n'],
    ]);
  });
  const diff = (name: string) => mine('GET', `/projects/${id}/repository/commits/${shas[name]}/diff`);
  const compared = async (name: string) =>
    (await mine('GET', `/projects/${id}/repository/compare?from=${shas[name]}~1&to=${shas[name]}`)).body;

  test('the number of files', async () => {
    expect((await diff('files')).headers.get('x-total')).toBe('1000');
    expect(await compared('files')).toMatchObject({ compare_timeout: true, diffs: { length: 1000 } });
    await changeSettings(service, { diff_max_files: 1050 });
    expect((await diff('files')).headers.get('x-total')).toBe('1050');
    await changeSettings(service, { diff_max_files: 1100 });
    expect(await compared('files')).toMatchObject({ compare_timeout: false, diffs: { length: 1100 } });
  });

  test('the bytes of one file', async () => {
    const text = async () => (await diff('bytes')).body[0].diff.length;
    expect([await text(), (await compared('bytes')).diffs[0].diff]).toEqual([0, '']);
    await changeSettings(service, { diff_max_patch_bytes: 512_000 });
    expect([await text(), (await compared('bytes')).diffs[0].diff.length]).toEqual([303_019, 303_019]);
  });

  test('the lines of all files', async () => {
    const second = async () => (await diff('lines')).body[1].diff;
    expect([await second(), (await compared('lines')).compare_timeout]).toEqual(['', true]);
    await changeSettings(service, { diff_max_lines: 100_000 });
    expect([await second(), (await compared('lines')).compare_timeout]).toEqual([
      '@@ -0,0 +1 @@\n+the last\n',
      false,
    ]);
  });

  test('the lines that a comment can refer to', async () => {
    const comment = async () =>
      (
        await mine('POST', `/projects/${id}/repository/commits/${shas['bytes']}/comments`, {
          note: 'here',
          path: 'large',
          line: 7,
          line_type: 'new',
        })
      ).body.line;
    expect(await comment()).toBe(null);
    await changeSettings(service, { diff_max_patch_bytes: 512_000 });
    expect(await comment()).toBe(7);
  });
});
