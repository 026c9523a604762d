import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { content, lfsClient, pointerFile, pointerTo } from './client.ts';

const { service, world, as } = ownWorld();
const lfs = lfsClient(world);
const git = new GitCli();
afterAll(() => {
  git[Symbol.dispose]();
});

let repositories = 0;
/** A new project, and a clone of it with these files. */
async function committed(files: Record<string, string>, more = {}) {
  const path = `pushed-${++repositories}`;
  const { id } = (await as('owner', 'POST', '/projects', { name: path, path, ...more })).body;
  const at = git.path(path);
  await git.ok(git.home, 'init', '--quiet', '--initial-branch=main', at);
  await git.ok(at, 'remote', 'add', 'origin', withToken(service.url, `owner/${path}`, world.tokens.owner));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(at, name), text);
  await git.ok(at, 'add', '.');
  await git.ok(at, 'commit', '--quiet', '-m', 'files');
  return { id: id as number, at, path: `owner/${path}` };
}

test('a push with a pointer to an object that the project lacks is refused, and accepted when it is there', async () => {
  const bytes = content();
  const { at, path } = await committed({ 'large.bin': pointerFile(pointerTo(bytes)) });
  const refused = await git.fails(at, 'push', 'origin', 'main');
  expect(refused).toContain(
    'Lemnos: LFS objects are missing. Ensure LFS is properly set up or try a manual "git lfs push --all".',
  );
  expect(refused).toContain('[remote rejected] main -> main');
  expect(await git.ok(at, 'ls-remote', 'origin')).toBe('');
  expect(await lfs.upload('owner', path, bytes)).toEqual([200, 200, 200]);
  await git.ok(at, 'push', '--quiet', 'origin', 'main');
  await git.ok(at, 'push', '--quiet', 'origin', 'main:other');
  await git.ok(at, 'push', '--quiet', 'origin', ':other');
});

test('a pointer is found also where it is stored as a difference', async () => {
  const known = content();
  const other = content();
  const { at, path } = await committed({ 'large.bin': pointerFile(pointerTo(known)) });
  await lfs.upload('owner', path, known);
  await git.ok(at, 'push', '--quiet', 'origin', 'main');
  writeFileSync(join(at, 'large.bin'), pointerFile(pointerTo(other)));
  await git.ok(at, 'commit', '--quiet', '-am', 'another');
  await git.ok(at, 'repack', '-adfq', '--depth=50', '--window=50');
  expect(await git.fails(at, 'push', 'origin', 'main')).toContain('LFS objects are missing');
});

test('what only looks like a pointer, and pointers where Git LFS is off, are pushed', async () => {
  const text = pointerFile(pointerTo(content()));
  const similar = await committed({
    'a.txt': `see ${text}`,
    'b.txt': text.replace('size', 'bytes'),
    'c.txt': `${text}${'x'.repeat(200)}`,
  });
  await git.ok(similar.at, 'push', '--quiet', 'origin', 'main');
  const off = await committed({ 'large.bin': text });
  await as('owner', 'PUT', `/projects/${off.id}`, { lfs_enabled: false });
  await git.ok(off.at, 'push', '--quiet', 'origin', 'main');
});

test('a push that changes a file which somebody else has locked is refused, also without the client’s own check', async () => {
  const [first, second, third] = [content(), content(), content()];
  const { id, at, path } = await committed({ 'large.bin': pointerFile(pointerTo(first)), 'small.txt': 'x' });
  for (const bytes of [first, second, third]) await lfs.upload('owner', path, bytes);
  await git.ok(at, 'push', '--quiet', 'origin', 'main');
  await as('owner', 'POST', `/projects/${id}/members`, {
    user_id: world.ids['maintainer'],
    access_level: 40,
  });
  const lock = async (who: 'owner' | 'maintainer', file: string) =>
    (await lfs.as(who, path, 'POST', 'locks', { path: file })).body.lock.id as string;
  const theirs = await lock('maintainer', 'large.bin');
  await lock('owner', 'own.bin');
  writeFileSync(join(at, 'large.bin'), pointerFile(pointerTo(second)));
  await git.ok(at, 'commit', '--quiet', '-am', 'a change');
  const told = /Lemnos: The path 'large\.bin' is locked in Git LFS by .+/;
  expect(await git.fails(at, 'push', 'origin', 'main')).toMatch(told);
  // Also as one of several commits to another branch.
  await git.ok(at, 'commit', '--quiet', '--allow-empty', '-m', 'and another');
  expect(await git.fails(at, 'push', 'origin', 'main:topic')).toMatch(told);
  // Other files, and those that one has locked oneself, are pushed.
  await git.ok(at, 'reset', '--quiet', '--hard', 'origin/main');
  writeFileSync(join(at, 'own.bin'), pointerFile(pointerTo(third)));
  writeFileSync(join(at, 'small.txt'), 'y');
  await git.ok(at, 'add', '.');
  await git.ok(at, 'commit', '--quiet', '-m', 'others');
  await git.ok(at, 'push', '--quiet', 'origin', 'main');
  // Who has the lock pushes, and others go on with what was pushed.
  const clone = await git.clone(withToken(service.url, path, world.tokens.maintainer!), `${path}-theirs`);
  writeFileSync(join(clone, 'large.bin'), pointerFile(pointerTo(second)));
  await git.ok(clone, 'commit', '--quiet', '-am', 'by the holder of the lock');
  await git.ok(clone, 'push', '--quiet', 'origin', 'HEAD:main');
  writeFileSync(join(at, 'small.txt'), 'z');
  await git.ok(at, 'commit', '--quiet', '-am', 'beside');
  await git.ok(at, 'pull', '--quiet', '--no-rebase', '--no-edit', 'origin', 'main');
  await git.ok(at, 'push', '--quiet', 'origin', 'main');
  // Without the lock anybody changes it.
  await lfs.as('maintainer', path, 'POST', `locks/${theirs}/unlock`, {});
  writeFileSync(join(at, 'large.bin'), pointerFile(pointerTo(third)));
  await git.ok(at, 'commit', '--quiet', '-am', 'unlocked');
  await git.ok(at, 'push', '--quiet', 'origin', 'main');
});
