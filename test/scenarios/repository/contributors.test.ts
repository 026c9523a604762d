import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { random } from '../../git/history-fixture.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { codeReads, seedCode } from './code-audience.ts';
import { type Pushed, pushedProject } from './pushed-project.ts';

const { service, world } = ownWorld();
let pushed: Pushed;
beforeAll(async () => {
  await seedCode(world);
  const owner = { username: 'owner', token: world.tokens.owner! };
  pushed = await pushedProject(service, owner, 'history', (git) => {
    const pick = random(5);
    let stream = '';
    for (let n = 1; n <= 90; n++) {
      const person = pick(14);
      const email = person === 3 && n % 2 ? 'P3@Example.com' : `p${person % 12}@example.com`;
      stream += `commit refs/heads/main\nmark :${n}\nauthor ${n % 2 ? 'P' : 'p'}erson ${person} <${email}> ${1e9 + n} +0000\n`;
      stream += `committer C <c@example.com> ${1e9 + n} +0000\ndata 1\nm\n${n === 1 ? '' : `from :${n - 1}\n`}`;
      stream += `${n > 20 && n % 5 === 0 ? `merge :${1 + pick(n - 3)}\n` : ''}\n`;
    }
    git.feed(stream, 'fast-import', '--quiet');
    git.git('branch', 'early', 'main~40');
  });
});
afterAll(() => {
  pushed.git[Symbol.dispose]();
});

interface Contributor {
  name: string;
  email: string;
  commits: number;
}
const ask = async (query = '') => service.call('GET', `${pushed.repository}/contributors${query}`);
const all = async (query = '') => (await ask(`?per_page=100${query}`)).body as Contributor[];
const key = ({ name, email }: Contributor) => `${name} <${email.toLowerCase()}>`;

/** What git counts, addresses folded. */
function shortlog(ref: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of pushed.git.lines('shortlog', '-sne', '--no-merges', ref)) {
    const [, count, who] = /^ *(\d+)\t(.*)$/.exec(line)!;
    const folded = who!.replace(/<.*>/, (email) => email.toLowerCase());
    counts.set(folded, (counts.get(folded) ?? 0) + Number(count));
  }
  return counts;
}

describe('permission to list contributors', () =>
  scenarios(() => world, codeReads('GET', '/repository/contributors')));

test('contributors are counted as git shortlog does, without merges', async () => {
  const list = await all();
  expect(new Map(list.map((one) => [key(one), one.commits]))).toEqual(shortlog('main'));
  for (const one of list) {
    expect(one).toEqual({
      name: expect.any(String),
      email: expect.any(String),
      commits: expect.any(Number),
      additions: 0,
      deletions: 0,
    });
  }
  expect(list.length).toBeGreaterThan(20);
});

test('contributors can be listed for another branch or commit', async () => {
  const early = new Map((await all('&ref=early')).map((one) => [key(one), one.commits]));
  expect(early).toEqual(shortlog('early'));
  expect(early).not.toEqual(shortlog('main'));
  expect([(await ask('?ref=nope')).status, (await ask('?ref=nope')).body]).toEqual([
    404,
    { message: '404 Not Found' },
  ]);
});

test.each(['name', 'email', 'commits'] as const)(
  'contributors can be sorted by %s, both ways',
  async (field) => {
    const up = await all(`&order_by=${field}`);
    const down = await all(`&order_by=${field}&sort=desc`);
    const value = (one: Contributor) => (field === 'commits' ? one.commits : one[field].toLowerCase());
    const rises = (list: Contributor[]) =>
      list.every((one, i) => i === 0 || value(list[i - 1]!) <= value(one));
    expect(rises(up)).toBe(true);
    expect(rises([...down].reverse())).toBe(true);
    expect(rises(down)).toBe(false);
    if (field === 'commits') expect(await all()).toEqual(up);
  },
);

test('contributors come in pages', async () => {
  const list = await all('&order_by=name');
  const pages = await Promise.all([1, 2, 3].map((page) => ask(`?order_by=name&per_page=9&page=${page}`)));
  expect(pages.flatMap((page) => page.body)).toEqual(list.slice(0, 27));
  expect(pages[0]!.headers.get('x-total')).toBe(String(list.length));
  expect(pages[1]!.headers.get('x-next-page')).toBe('3');
});

test('invalid parameters and empty repositories are refused for contributors', async () => {
  expect((await ask('?order_by=date')).body).toEqual({ error: 'order_by does not have a valid value' });
  expect((await ask('?sort=up')).body).toEqual({ error: 'sort does not have a valid value' });
  const token = world.tokens.owner!;
  const { body } = await service.call('POST', '/projects', { token, json: { name: 'empty' } });
  const answer = await service.call('GET', `/projects/${body.id}/repository/contributors`, { token });
  expect([answer.status, answer.body]).toEqual([200, []]);
});
