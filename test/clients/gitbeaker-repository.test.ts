import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../harness/service.ts';
import { GitCli, withToken } from './git-cli.ts';

const git = new GitCli();
let service: Service;
let client: InstanceType<typeof Gitlab>;
let project: number;
beforeAll(async () => {
  service = await startService();
  const { token } = await service.user('ada');
  client = new Gitlab({ host: service.url, token }) as InstanceType<typeof Gitlab>;
  project = (await client.Projects.create({ name: 'thing', visibility: 'public' })).id;
});
afterAll(async () => {
  await service.stop();
  git[Symbol.dispose]();
});

test('@gitbeaker/rest: RepositoryFiles', async () => {
  const files = client.RepositoryFiles;
  expect(await files.create(project, 'dir/ü.txt', 'main', 'one\n', 'Begin')).toEqual({
    file_path: 'dir/ü.txt',
    branch: 'main',
  });
  const shown = await files.show(project, 'dir/ü.txt', 'main');
  expect(shown).toMatchObject({ file_name: 'ü.txt', size: 4, encoding: 'base64', content: 'b25lCg==' });
  expect(await files.showRaw(project, 'dir/ü.txt', 'main')).toBe('one\n');
  await files.edit(project, 'dir/ü.txt', 'main', Buffer.from([0, 1, 255]).toString('base64'), 'Bytes', {
    encoding: 'base64',
    lastCommitId: String(shown.last_commit_id),
  });
  expect((await files.show(project, 'dir/ü.txt', 'main')).content).toBe('AAH/');
  await expect(
    files.edit(project, 'dir/ü.txt', 'main', 'x', 'Stale', { lastCommitId: String(shown.last_commit_id) }),
  ).rejects.toMatchObject({
    cause: {
      description: 'You are attempting to update a file that has changed since you started editing it.',
    },
  });
  await expect(files.create(project, 'dir/ü.txt', 'main', 'x', 'Again')).rejects.toMatchObject({
    cause: { description: 'A file with this name already exists' },
  });
  await files.remove(project, 'dir/ü.txt', 'subject', 'Gone', { startBranch: 'main' });
  await expect(files.show(project, 'dir/ü.txt', 'subject')).rejects.toMatchObject({
    cause: { description: '404 File Not Found' },
  });
});

test('@gitbeaker/rest: Commits', async () => {
  const made = await client.Commits.create(
    project,
    'main',
    'Many',
    [
      { action: 'create', filePath: 'a b.txt', content: 'a\n' },
      { action: 'move', filePath: 'to.txt', previousPath: 'dir/ü.txt' },
      { action: 'create', filePath: 'run', content: '' },
      { action: 'chmod', filePath: 'run', execute_filemode: true },
    ] as never,
    { authorName: 'Other', authorEmail: 'other@example.com' },
  );
  expect(made).toMatchObject({
    title: 'Many',
    author_name: 'Other',
    committer_name: 'ada',
    stats: { additions: 1 },
  });
  expect(await client.Commits.show(project, made.id)).toEqual(made);
  expect(await client.Commits.show(project, 'main', { stats: false })).not.toHaveProperty('stats');
  const started = await client.Commits.create(
    project,
    'other',
    'From',
    [{ action: 'delete', filePath: 'run' }],
    { startBranch: 'main' },
  );
  expect(started.parent_ids).toEqual([made.id]);
  for (let n = 0; n < 4; n++)
    await client.Commits.create(project, 'main', `n${n}`, [
      { action: 'create', filePath: `n${n}`, content: '' },
    ]);

  const clone = await git.clone(withToken(service.url, 'ada/thing'), 'thing');
  const log = (...args: string[]) => git.lines(clone, 'log', '--format=%H', ...args);
  const ids = (commits: { id: string }[]) => commits.map(({ id }) => id);
  // All pages, followed by the library.
  expect(ids(await client.Commits.all(project, { perPage: 2 }))).toEqual(await log('main'));
  expect(ids(await client.Commits.all(project, { all: true, perPage: 3 }))).toEqual(await log('--all'));
  expect(ids(await client.Commits.all(project, { refName: 'main..other' } as never))).toEqual(
    await log('main..origin/other'),
  );
  expect(ids(await client.Commits.all(project, { path: 'a b.txt' }))).toEqual(
    await log('main', '--', 'a b.txt'),
  );
  expect(
    (await client.Commits.all(project, { perPage: 2, page: 2, showExpanded: true })).paginationInfo,
  ).toMatchObject({ current: 2, perPage: 2, next: 3 });
  const counted = await client.Commits.all(project, { withStats: true, perPage: 1, maxPages: 1 } as never);
  expect(counted[0]).toMatchObject({ stats: { total: 0 } });
});

test('@gitbeaker/rest: Branches', async () => {
  const names = async (options = {}) => (await client.Branches.all(project, options)).map(({ name }) => name);
  for (let n = 0; n < 5; n++) await client.Branches.create(project, `topic/${n}`, 'main');
  expect(await names({ perPage: 2 })).toEqual([
    'main',
    'other',
    'subject',
    ...[0, 1, 2, 3, 4].map((n) => `topic/${n}`),
  ]);
  expect(await names({ search: '^topic/' })).toEqual([0, 1, 2, 3, 4].map((n) => `topic/${n}`));
  expect(await client.Branches.show(project, 'topic/1')).toMatchObject({
    name: 'topic/1',
    merged: true,
    default: false,
  });
  await client.Branches.remove(project, 'topic/1');
  await expect(client.Branches.show(project, 'topic/1')).rejects.toMatchObject({
    cause: { description: '404 Branch Not Found' },
  });
  await client.Branches.removeMerged(project);
  await expect.poll(() => names({ search: 'topic/' })).toEqual([]);
});

test('@gitbeaker/rest: Tags', async () => {
  await client.Tags.create(project, 'v1', 'main');
  const heavy = await client.Tags.create(project, 'v/2', 'main', { message: 'Two' });
  expect(heavy).toMatchObject({ name: 'v/2', message: 'Two', release: null });
  expect(
    (await client.Tags.all(project, { orderBy: 'name', sort: 'asc', perPage: 1 })).map(({ name }) => name),
  ).toEqual(['v/2', 'v1']);
  expect(await client.Tags.show(project, 'v/2')).toEqual(heavy);
  await client.Tags.remove(project, 'v1');
  expect((await client.Tags.all(project)).length).toBe(1);
});

test('@gitbeaker/rest: Repositories', async () => {
  const tree = await client.Repositories.allRepositoryTrees(project, {
    ref: 'main',
    recursive: true,
    perPage: 2,
    pagination: 'keyset',
  } as never);
  const clone = await git.clone(withToken(service.url, 'ada/thing'), 'tree');
  expect(tree.map(({ id, path }) => `${id} ${path}`)).toEqual(
    await git.lines(
      clone,
      '-c',
      'core.quotePath=false',
      'ls-tree',
      '-r',
      '-t',
      '--format=%(objectname) %(path)',
      'main',
    ),
  );
  const blob = tree.find(({ path }) => path === 'a b.txt')!;
  expect(await client.Repositories.showBlob(project, blob.id)).toEqual({
    size: 2,
    encoding: 'base64',
    content: 'YQo=',
    sha: blob.id,
  });
  const raw = (await client.Repositories.showBlobRaw(project, blob.id)) as unknown;
  expect(typeof raw === 'string' ? raw : await (raw as Blob).text()).toBe('a\n');
  await expect(client.Repositories.allRepositoryTrees(project, { ref: 'nope' })).rejects.toMatchObject({
    cause: { description: '404 Tree Not Found' },
  });
});
