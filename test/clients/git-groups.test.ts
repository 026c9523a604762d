/** Groups as a client library makes them, and projects in them as git sees them, before and after they move. */
import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../harness/service.ts';
import { GitCli, withToken } from './git-cli.ts';

const git = new GitCli();
let service: Service;
let token: string;
let ada: InstanceType<typeof Gitlab>;
beforeAll(async () => {
  service = await startService();
  token = (await service.user('ada')).token;
  ada = new Gitlab({ host: service.url, token });
});
afterAll(async () => {
  await service.stop();
  git[Symbol.dispose]();
});

const url = (path: string) => withToken(service.url, path, token);

test('git pushes to and clones from a project in a nested group by every path it ever had', async () => {
  const top = await ada.Groups.create('Top', 'top', { visibility: 'private' });
  const sub = await ada.Groups.create('Sub', 'sub', { parentId: top.id });
  const project = await ada.Projects.create({ name: 'Code', path: 'code', namespaceId: sub.id });
  expect(project).toMatchObject({
    path_with_namespace: 'top/sub/code',
    name_with_namespace: 'Top / Sub / Code',
    http_url_to_repo: `${service.url}/top/sub/code.git`,
  });

  const work = git.path('work');
  await git.ok(git.home, 'init', '--quiet', '-b', 'main', work);
  const push = async (path: string, name: string) => {
    await git.ok(work, 'commit', '--quiet', '--allow-empty', '-m', name);
    await git.ok(work, 'push', '--quiet', url(path), 'main');
  };
  const log = async (path: string, name: string) =>
    git.lines(await git.clone(url(path), name), 'log', '--format=%s');

  await push('top/sub/code', 'one');
  expect(await log('top/sub/code', 'before')).toEqual(['one']);

  await ada.Groups.edit(top.id, { path: 'tip' });
  await push('top/sub/code', 'by the former path');
  await push('tip/sub/code', 'by the new path');
  const renamed = ['by the new path', 'by the former path', 'one'];
  expect(await log('tip/sub/code', 'new')).toEqual(renamed);
  expect(await log('top/sub/code', 'former')).toEqual(renamed);

  const other = await ada.Groups.create('Other', 'other');
  const moved = await service.call('POST', `/groups/${sub.id}/transfer`, {
    token,
    json: { group_id: other.id },
  });
  expect(moved.status).toBe(201);
  for (const [i, path] of ['top/sub/code', 'tip/sub/code', 'other/sub/code'].entries())
    expect(await log(path, `moved-${i}`)).toEqual(renamed);
  expect(await ada.Projects.show(project.id)).toMatchObject({ path_with_namespace: 'other/sub/code' });

  // A former path belongs to the next project that takes it.
  const heir = await ada.Groups.create('Heir', 'sub', { parentId: top.id });
  await ada.Projects.create({ name: 'Code', path: 'code', namespaceId: heir.id, initializeWithReadme: true });
  expect(await log('tip/sub/code', 'heir')).toEqual(['Initial commit']);
  expect(await log('other/sub/code', 'kept')).toEqual(renamed);
});

test('the repositories of a deleted group cannot be cloned', async () => {
  const group = await ada.Groups.create('Doomed', 'doomed');
  await ada.Projects.create({ name: 'code', namespaceId: group.id, initializeWithReadme: true });
  await git.clone(url('doomed/code'), 'doomed');
  await ada.Groups.remove(group.id);
  const gone = await git.run(['ls-remote', url('doomed/code')]);
  expect(gone.code).not.toBe(0);
  expect(gone.stderr).toContain('not found');
});
