import { expect, test } from 'vitest';
import { pathPattern } from '../../../lib/ci/glob.ts';

const PATHS = [
  'a.rb',
  'lib/a.rb',
  'lib/deep/a.rb',
  '.hidden',
  'lib/.hidden',
  'a.md',
  'Dockerfile',
  'x[1].c',
  'b/ü.txt',
];

test.each([
  ['*.rb', ['a.rb']],
  ['**/*.rb', ['a.rb', 'lib/a.rb', 'lib/deep/a.rb']],
  ['lib/*', ['lib/a.rb', 'lib/.hidden']],
  ['lib/**/*', ['lib/a.rb', 'lib/deep/a.rb', 'lib/.hidden']],
  ['*.{rb,md}', ['a.rb', 'a.md']],
  ['?.md', ['a.md']],
  ['[ab].md', ['a.md']],
  ['[^a].md', []],
  ['[!b].md', ['a.md']],
  ['x\\[1\\].c', ['x[1].c']],
  ['Dockerfile', ['Dockerfile']],
  ['*', ['a.rb', '.hidden', 'a.md', 'Dockerfile', 'x[1].c']],
  ['b/?.txt', ['b/ü.txt']],
  ['.*', ['.hidden']],
  ['a.{rb', []],
  ['(a|b).rb', []],
])('%s', async (glob, expected) => {
  const pattern = await pathPattern(glob);
  expect(PATHS.filter((path) => pattern!.matches(path))).toEqual(expected);
});
