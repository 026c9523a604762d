import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { gitWithFetchLimit } from './git-fetch-limit.ts';

/** A pack of 12 MB is in the bucket, and a branch that not everybody asks for beside it. */
const { git, work, url, commitFile, push } = gitWithFetchLimit({ background: false }, async () => {
  await commitFile('large', randomBytes(12_000_000));
  await push();
  await commitFile('small', Buffer.from('small\n'));
  await push();
});

const byUri = ['-c', 'protocol.version=2', '-c', 'fetch.uriProtocols=http,https'];

test('a clone that asks for packs by URL gets a large one from the bucket, above the limit of a response', async () => {
  expect(await git.fails(git.home, 'clone', url(), 'without')).toContain('one response has at most');
  const { code, stderr } = await git.run([...byUri, 'clone', '--quiet', url(), 'clone'], { cwd: git.home });
  expect([code, stderr]).toEqual([0, '']);
  const clone = git.path('clone');
  await git.sound(clone);
  expect(await git.ok(clone, 'rev-parse', 'HEAD')).toBe(await git.ok(work, 'rev-parse', 'HEAD'));
  expect(await git.ok(clone, 'rev-list', '--objects', '--all', '--count')).toBe(
    await git.ok(work, 'rev-list', '--objects', '--all', '--count'),
  );
});

test('a fetch that needs no whole pack gets no URL', async () => {
  const clone = git.path('clone');
  await commitFile('next', Buffer.from('next\n'));
  await push();
  const { code, stderr } = await git.run([...byUri, 'fetch'], { cwd: clone, env: { GIT_TRACE_PACKET: '1' } });
  expect(code).toBe(0);
  expect(stderr).not.toContain('X-Amz-Signature');
  expect(await git.ok(clone, 'rev-parse', 'origin/main')).toBe(await git.ok(work, 'rev-parse', 'HEAD'));
});

test('a pack with an object that the caller does not ask for, or may not have, is not sent by URL', async () => {
  await git.ok(work, 'checkout', '--quiet', '-b', 'two');
  await commitFile('two', randomBytes(9_000_000));
  await git.ok(work, 'checkout', '--quiet', '-b', 'three', 'main');
  await commitFile('three', Buffer.from('three\n'));
  // One pack has the objects of both branches.
  await git.ok(work, 'push', '--quiet', url(), 'two', 'three');
  const clone = git.path('clone');
  const env = { GIT_TRACE_PACKET: '1' };
  const { code, stderr } = await git.run([...byUri, 'fetch', 'origin', 'three'], { cwd: clone, env });
  expect([code, stderr.includes('X-Amz-Signature')]).toEqual([0, false]);
  const both = await git.run([...byUri, 'fetch', 'origin', 'two', 'three'], { cwd: clone, env });
  expect(both.stderr).not.toContain('X-Amz-Signature');
});
