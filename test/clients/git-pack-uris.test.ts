import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../harness/service.ts';
import { makeWorld, type World } from '../harness/world.ts';
import { GitCli, withToken } from './git-cli.ts';

/** Responses carry packs of 2 MB; a pack of 12 MB is in the bucket, and a branch that not everybody asks for beside it. */
const git = new GitCli();
let service: Service;
let world: World;
let work: string;
beforeAll(async () => {
  process.env['MAX_FETCH_BYTES'] = '2000000';
  service = await startService({ background: false });
  world = await makeWorld(service);
  work = git.path('work');
  await git.ok(git.home, 'init', '--quiet', '--initial-branch=main', work);
  await committed('large', randomBytes(12_000_000));
  await git.ok(work, 'push', '--quiet', url(), 'main');
  await committed('small', Buffer.from('small\n'));
  await git.ok(work, 'push', '--quiet', url(), 'main');
});
afterAll(async () => {
  delete process.env['MAX_FETCH_BYTES'];
  await service.stop();
  git[Symbol.dispose]();
});

const url = () => withToken(service.url, 'owner/private-thing', world.tokens.owner);

async function committed(name: string, content: Buffer): Promise<void> {
  writeFileSync(join(work, name), content);
  await git.ok(work, 'add', '.');
  await git.ok(work, 'commit', '--quiet', '-m', name);
}

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
  await committed('next', Buffer.from('next\n'));
  await git.ok(work, 'push', '--quiet', url(), 'main');
  const { code, stderr } = await git.run([...byUri, 'fetch'], { cwd: clone, env: { GIT_TRACE_PACKET: '1' } });
  expect(code).toBe(0);
  expect(stderr).not.toContain('X-Amz-Signature');
  expect(await git.ok(clone, 'rev-parse', 'origin/main')).toBe(await git.ok(work, 'rev-parse', 'HEAD'));
});

test('a pack with an object that the caller does not ask for, or may not have, is not sent by URL', async () => {
  await git.ok(work, 'checkout', '--quiet', '-b', 'two');
  await committed('two', randomBytes(9_000_000));
  await git.ok(work, 'checkout', '--quiet', '-b', 'three', 'main');
  await committed('three', Buffer.from('three\n'));
  // One pack has the objects of both branches.
  await git.ok(work, 'push', '--quiet', url(), 'two', 'three');
  const clone = git.path('clone');
  const env = { GIT_TRACE_PACKET: '1' };
  const { code, stderr } = await git.run([...byUri, 'fetch', 'origin', 'three'], { cwd: clone, env });
  expect([code, stderr.includes('X-Amz-Signature')]).toEqual([0, false]);
  const both = await git.run([...byUri, 'fetch', 'origin', 'two', 'three'], { cwd: clone, env });
  expect(both.stderr).not.toContain('X-Amz-Signature');
});
