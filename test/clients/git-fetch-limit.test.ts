import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../harness/service.ts';
import { makeWorld, type World } from '../harness/world.ts';
import { GitCli, withToken } from './git-cli.ts';

/** Responses end at 2.1 MB and carry packs of 2 MB; the first commit has a file of 3 MB, which the second one deletes. */
const git = new GitCli();
let service: Service;
let world: World;
let work: string;
beforeAll(async () => {
  process.env['MAX_FETCH_BYTES'] = '2000000';
  service = await startService({ limits: { streamed: 2_100_000 } });
  world = await makeWorld(service);
  work = git.path('work');
  await git.ok(git.home, 'init', '--quiet', '--initial-branch=main', work);
  await committed('large', randomBytes(3_000_000));
  await git.ok(work, 'rm', '--quiet', 'large');
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

test.each(['0', '2'])(
  'protocol %s: a clone above the limit is refused, and git says what fits',
  async (version) => {
    const said = await git.fails(
      git.home,
      '-c',
      `protocol.version=${version}`,
      'clone',
      url(),
      `over-${version}`,
    );
    expect(said).toContain('this fetch needs about 3.0 MB, and one response has at most 2.0 MB');
    expect(said).toContain('Use --filter=blob:none or --depth=1');
  },
);

test.each([['--depth=1'], ['--filter=blob:none']])('a clone with %s fits and passes', async (option) => {
  const clone = git.path(`clone${option}`);
  await git.ok(git.home, 'clone', '--quiet', option, url(), clone);
  expect(await git.ok(clone, 'show', 'HEAD:small')).toBe('small');
});

test('a fetch of what is new passes, however large the repository is', async () => {
  const clone = git.path('updated');
  await git.ok(git.home, 'clone', '--quiet', '--filter=blob:none', url(), clone);
  await committed('next', randomBytes(1_000_000));
  await git.ok(work, 'push', '--quiet', url(), 'main');
  await git.ok(clone, 'pull', '--quiet');
  expect(await git.ok(clone, 'rev-parse', 'HEAD')).toBe(await git.ok(work, 'rev-parse', 'HEAD'));
});
