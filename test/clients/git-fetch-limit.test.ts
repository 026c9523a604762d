import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { gitWithFetchLimit } from './git-fetch-limit.ts';

/** Responses end at 2.1 MB; the first commit has a file of 3 MB, which the second one deletes. */
const { git, work, url, commitFile, push } = gitWithFetchLimit(
  { limits: { streamed: 2_100_000 } },
  async () => {
    await commitFile('large', randomBytes(3_000_000));
    await git.ok(work, 'rm', '--quiet', 'large');
    await commitFile('small', Buffer.from('small\n'));
    await push();
  },
);

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
  await commitFile('next', randomBytes(1_000_000));
  await push();
  await git.ok(clone, 'pull', '--quiet');
  expect(await git.ok(clone, 'rev-parse', 'HEAD')).toBe(await git.ok(work, 'rev-parse', 'HEAD'));
});
