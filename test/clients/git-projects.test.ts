/** Projects that are changed, moved, archived and deleted by a client library, as git sees them meanwhile. */
import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Service, startService } from '../harness/service.ts';
import { GitCli, withToken } from './git-cli.ts';

const git = new GitCli();
let service: Service;
let token: string;
let ada: InstanceType<typeof Gitlab>;
let root: InstanceType<typeof Gitlab>;
let adaId: number;
beforeAll(async () => {
  vi.stubEnv('DELETION_DELAY_DAYS', '7');
  service = await startService();
  ({ token, id: adaId } = await service.user('ada'));
  ada = new Gitlab({ host: service.url, token });
  root = new Gitlab({ host: service.url, token: service.rootToken });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await service.stop();
  git[Symbol.dispose]();
});

const url = (path: string) => withToken(service.url, path, token);
let clones = 0;
const log = async (path: string) =>
  git.lines(await git.clone(url(path), `clone-${++clones}`), 'log', '--format=%s');
const headOf = async (path: string) => git.lines(git.home, 'ls-remote', '--symref', url(path), 'HEAD');

test('git reaches a project by every former path after renames and a transfer', async () => {
  const project = await ada.Projects.create({ name: 'Code', path: 'code', initializeWithReadme: true });
  const work = await git.clone(url('ada/code'), 'work');
  const push = async (path: string, name: string) => {
    await git.ok(work, 'commit', '--quiet', '--allow-empty', '-m', name);
    await git.ok(work, 'push', '--quiet', url(path), 'HEAD');
  };
  expect(
    await ada.Projects.edit(project.id, { name: 'Kode', path: 'kode', mergeMethod: 'ff', topics: ['x'] }),
  ).toMatchObject({ path_with_namespace: 'ada/kode', merge_method: 'ff', topics: ['x'] });
  const moved = async (path: string, ...args: string[]) => {
    const { code, stderr } = await git.run([...args.map((arg) => (arg === 'URL' ? url(path) : arg))], {
      cwd: work,
    });
    return { code, told: stderr.split('\n').filter((line) => /moved|update your|set-url/.test(line)) };
  };
  const notice = [
    "remote: Project 'ada/code' was moved to 'ada/kode'.        ",
    'remote: Please update your Git remote:        ',
    `remote:   git remote set-url origin ${service.url}/ada/kode.git        `,
  ];
  expect(await moved('ada/code', 'ls-remote', 'URL')).toEqual({ code: 0, told: [] });
  await git.ok(work, 'commit', '--quiet', '--allow-empty', '-m', 'by the former path');
  expect(await moved('ada/code', 'push', 'URL', 'HEAD')).toEqual({ code: 0, told: notice });
  for (const version of [0, 2]) {
    const clone = ['-c', `protocol.version=${version}`, 'clone', '-q', 'URL', `../former-${version}`];
    expect(await moved('ada/code', ...clone)).toEqual({ code: 0, told: notice });
  }
  expect(await moved('ada/kode', 'clone', 'URL', '../present')).toEqual({ code: 0, told: [] });
  const { token: eve } = await service.user('eve');
  const stranger = await git.fails(git.home, 'clone', withToken(service.url, 'ada/code', eve), 'hidden');
  expect(stranger).not.toContain('kode');

  await service.call('PUT', `/users/${adaId}`, { token: service.rootToken, json: { username: 'lovelace' } });
  await push('ada/code', 'by the former name');
  await push('lovelace/kode', 'by the new one');

  const group = await ada.Groups.create('Engines', 'engines');
  expect(await ada.Projects.transfer(project.id, group.id)).toMatchObject({
    path_with_namespace: 'engines/kode',
  });
  const all = ['by the new one', 'by the former name', 'by the former path', 'Initial commit'];
  for (const path of ['ada/code', 'ada/kode', 'lovelace/kode', 'engines/kode'])
    expect(await log(path)).toEqual(all);
  const inner = await ada.Groups.create('Inner', 'inner', { parentId: group.id });
  await root.Groups.transferProject(inner.id, project.id);
  expect(await ada.Projects.show('engines/inner/kode')).toMatchObject({ id: project.id });
  expect(await log('engines/kode')).toEqual(all);
});

test('a clone checks out the new default branch after a change', async () => {
  const { id } = await ada.Projects.create({ name: 'branches', initializeWithReadme: true });
  const path = 'lovelace/branches';
  await ada.Branches.create(id, 'next', 'main');
  await ada.Projects.edit(id, { defaultBranch: 'next' });
  expect((await headOf(path))[0]).toBe('ref: refs/heads/next\tHEAD');
  const clone = await git.clone(url(path), 'next');
  expect(await git.lines(clone, 'branch', '--show-current')).toEqual(['next']);
});

test('an archived project can be cloned, and pushed to once unarchived', async () => {
  const { id } = await ada.Projects.create({ name: 'archive', initializeWithReadme: true });
  const path = 'lovelace/archive';
  const work = await git.clone(url(path), 'archive');
  await git.ok(work, 'commit', '--quiet', '--allow-empty', '-m', 'two');
  expect(await ada.Projects.archive(id)).toMatchObject({ archived: true });
  const refused = await git.run(['push', 'origin', 'HEAD'], { cwd: work });
  expect(refused.code).not.toBe(0);
  expect(await log(path)).toEqual(['Initial commit']);
  expect(await ada.Projects.unarchive(id)).toMatchObject({ archived: false });
  await git.ok(work, 'push', '--quiet', 'origin', 'HEAD');
  expect(await log(path)).toEqual(['two', 'Initial commit']);
});

test('a project whose deletion is cancelled can be cloned again', async () => {
  const group = await ada.Groups.create('Waits', 'waits');
  const { id } = await ada.Projects.create({
    name: 'late',
    namespaceId: group.id,
    initializeWithReadme: true,
  });
  await ada.Projects.remove(id);
  expect(await ada.Projects.show('waits/late')).toMatchObject({
    archived: true,
    path: `late-deleted-${id}`,
    marked_for_deletion_on: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
  });
  expect(await log('waits/late')).toEqual(['Initial commit']);
  await ada.Projects.restore(id);
  expect(await ada.Projects.show(id)).toMatchObject({ archived: false, path: 'late' });
});
