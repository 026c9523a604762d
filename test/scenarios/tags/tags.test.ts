import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { expectSchema } from '../../harness/schemas.ts';
import { codeReads, codeWrites, seedCode } from '../repository/code-audience.ts';

const git = new GitCli();
const { as, service, world } = ownWorld();
beforeAll(async () => {
  await seedCode(world);
});
afterAll(() => {
  git[Symbol.dispose]();
});

const at = (project: string, name?: string) =>
  `/projects/${world.ids[project]}/repository/tags${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
const names = (body: { name: string }[]) => body.map((tag) => tag.name);
async function project(name: string): Promise<void> {
  const made = await as('owner', 'POST', '/projects', { name, visibility: 'public' });
  world.ids[name] = made.body.id;
  await commit(name, 'first');
}
async function commit(name: string, path: string): Promise<void> {
  const json = { branch: 'main', content: path, commit_message: path };
  await as('owner', 'POST', `/projects/${world.ids[name]}/repository/files/${path}`, json);
}

describe('permission on tags', () => {
  scenarios(
    () => world,
    [
      ...codeReads('GET', '/repository/tags'),
      ...codeReads('GET', '/repository/tags/v1'),
      ...codeReads('HEAD', '/repository/tags/v2'),
      ...codeWrites(
        'POST',
        '/repository/tags',
        (_, who) => ({ tag_name: `of-${who}`, ref: 'main', message: 'm' }),
        { status: 201 },
      ),
      ...codeWrites('DELETE', (_, who) => `/repository/tags/of-${who}`, undefined, { status: 204 }),
    ],
  );
});

test('lightweight and annotated tags look as git shows them, alone and in the list', async () => {
  await project('kinds');
  const main = (
    await as('owner', 'GET', `/projects/${world.ids['kinds']}/repository/commits/main?stats=false`)
  ).body;
  const light = await as('owner', 'POST', at('kinds'), { tag_name: 'light', ref: 'main' });
  const heavy = await as('owner', 'POST', at('kinds'), {
    tag_name: 'heavy/1',
    ref: main.id,
    message: 'Out now\n\nwith ü\n',
  });
  for (const { status, body } of [light, heavy]) {
    expect(status).toBe(201);
    expectSchema('tag', body);
    expect(body).toMatchObject({ release: null, protected: false, commit: { id: main.id } });
  }
  expect(light.body).toMatchObject({ name: 'light', message: null, target: main.id });
  expect(heavy.body).toMatchObject({ name: 'heavy/1', message: 'Out now\n\nwith ü' });
  const list = (await as('anonymous', 'GET', at('kinds'))).body;
  expectSchema('tags', list);
  for (const tag of list) expect((await as('anonymous', 'GET', at('kinds', tag.name))).body).toEqual(tag);
  const clone = await git.clone(withToken(service.url, 'owner/kinds'), 'kinds');
  const shown = await git.lines(
    clone,
    'for-each-ref',
    '--format=%(refname:short) %(objecttype) %(objectname) %(taggername) %(taggeremail)',
    'refs/tags',
  );
  expect(shown).toEqual([
    `heavy/1 tag ${heavy.body.target} owner <owner@example.com>`,
    `light commit ${main.id}  `,
  ]);
  expect(
    (await git.run(['cat-file', 'tag', 'heavy/1'], { cwd: clone })).stdout
      .toString()
      .split('\n\n')
      .slice(1)
      .join('\n\n'),
  ).toBe('Out now\n\nwith ü\n');
});

test('pushed tags of tags, signed, empty and of trees are shown', async () => {
  await project('pushed');
  const clone = await git.clone(withToken(service.url, 'owner/pushed', world.tokens.owner), 'pushed');
  const run = async (...args: string[]) => git.ok(clone, ...args);
  await run('tag', '-a', '-m', 'inner', 'inner');
  await run('tag', '-a', '-m', 'outer', 'outer', 'inner');
  await run('tag', '-a', '-m', 'of a tree', 'tree', 'main^{tree}');
  await run('tag', 'blob', 'main:first');
  const signed = await git.run(['mktag'], {
    cwd: clone,
    input: `object ${await run('rev-parse', 'main')}\ntype commit\ntag signed\ntagger T <t@e> 1700000000 +0000\n\nSigned words\n-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----\n`,
  });
  await run('update-ref', 'refs/tags/signed', signed.stdout.toString().trim());
  await run('push', '--quiet', 'origin', '--tags');
  const main = await run('rev-parse', 'main');
  const { body, headers } = await as('anonymous', 'GET', `${at('pushed')}?order_by=name&sort=asc`);
  expect(
    body.map((tag: { name: string; message: string; commit: { id: string } }) => [
      tag.name,
      tag.message,
      tag.commit.id,
    ]),
  ).toEqual([
    ['inner', 'inner', main],
    ['outer', 'outer', main],
    ['signed', 'Signed words', main],
  ]);
  expect(headers.get('x-total')).toBe('3');
  expect(body[1].target).toBe(await run('rev-parse', 'outer'));
  for (const name of ['tree', 'blob']) {
    expect((await as('anonymous', 'GET', at('pushed', name))).body).toEqual({ message: '404 Tag Not Found' });
    expect((await as('owner', 'DELETE', at('pushed', name))).status).toBe(204);
  }
  // A branch made from a tag of a tag starts at the commit.
  const branch = await as('owner', 'POST', `/projects/${world.ids['pushed']}/repository/branches`, {
    branch: 'b',
    ref: 'outer',
  });
  expect(branch.body.commit.id).toBe(main);
});

describe('tag lists', () => {
  beforeAll(async () => {
    await project('lists');
    const make = (tag_name: string) => as('owner', 'POST', at('lists'), { tag_name, ref: 'main' });
    await make('v1.0');
    await setTimeout(1100);
    await commit('lists', 'second');
    for (const name of ['V2', 'a/v1']) await make(name);
    await setTimeout(1100);
    await commit('lists', 'third');
    await make('last');
  });

  test.each([
    ['?order_by=name&sort=asc', ['V2', 'a/v1', 'last', 'v1.0']],
    ['?order_by=name', ['v1.0', 'last', 'a/v1', 'V2']],
    ['?search=v&order_by=name&sort=asc', ['V2', 'a/v1', 'v1.0']],
    ['?search=^v&order_by=name&sort=asc', ['V2', 'v1.0']],
    ['?search=v1$', ['a/v1']],
    ['?search=^last$', ['last']],
    ['?search=*', []],
    ['?order_by=name&sort=asc&per_page=2&page=2', ['last', 'v1.0']],
    ['?page=7', []],
  ])('are filtered and sorted by %s', async (query, expected) => {
    const answer = await as(
      'anonymous',
      'GET',
      `${at('lists')}${query.replace(/[$^]/g, encodeURIComponent)}`,
    );
    expect([answer.status, names(answer.body)]).toEqual([200, expected]);
    if (query.includes('per_page')) expect(answer.headers.get('x-total')).toBe('4');
  });

  test.each([
    'order_by=name&sort=asc',
    'order_by=name&sort=desc',
    'sort=asc',
    'sort=desc',
    'search=v&order_by=name',
  ])('have keyset pages that join into the whole list: %s', async (query) => {
    const seen: string[] = [];
    const first = `${service.url}/api/v4${at('lists')}?${query}&pagination=keyset&per_page=1`;
    for (let url: string | undefined = first; url !== undefined; ) {
      const answer: Response = await fetch(url);
      seen.push(...names((await answer.json()) as { name: string }[]));
      url = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1];
    }
    const whole = names((await as('anonymous', 'GET', `${at('lists')}?${query}`)).body);
    expect(seen).toEqual(whole);
    expect(seen.length).toBeGreaterThan(2);
  });

  test('are sorted by commit time, newest first by default', async () => {
    for (const query of ['', '?order_by=updated', '?order_by=updated&sort=desc']) {
      const found = names((await as('anonymous', 'GET', `${at('lists')}${query}`)).body);
      expect([found[0], found.at(-1)]).toEqual(['last', 'v1.0']);
    }
    const found = names((await as('anonymous', 'GET', `${at('lists')}?sort=asc`)).body);
    expect([found[0], found.at(-1)]).toEqual(['v1.0', 'last']);
  });

  test.each([
    ['?order_by=version', 'order_by does not have a valid value'],
    ['?sort=up', 'sort does not have a valid value'],
    ['?per_page=0', 'per_page has a value not allowed'],
  ])('refuse %s', async (query, error) => {
    const answer = await as('anonymous', 'GET', `${at('lists')}${query}`);
    expect([answer.status, answer.body]).toEqual([400, { error }]);
  });

  test('are empty in an empty repository', async () => {
    const made = await as('owner', 'POST', '/projects', { name: 'none', visibility: 'public' });
    const answer = await as('anonymous', 'GET', `/projects/${made.body.id}/repository/tags`);
    expect([answer.status, answer.body, answer.headers.get('x-total')]).toEqual([200, [], '0']);
  });
});

describe('an invalid tag creation is refused with a reason and changes nothing', () => {
  beforeAll(async () => {
    await as('owner', 'POST', at('public'), { tag_name: 'nest/below', ref: 'main' });
  });
  test.each<
    [
      json: { tag_name?: string; ref?: string; message?: string },
      status: number,
      body: { error?: string; message?: string },
    ]
  >([
    [{ ref: 'main' }, 400, { error: 'tag_name is missing' }],
    [{ tag_name: 't' }, 400, { error: 'ref is missing' }],
    [{ tag_name: '', ref: 'main' }, 400, { message: 'Tag name invalid' }],
    [{ tag_name: 'v1', ref: 'main' }, 400, { message: 'Tag v1 already exists' }],
    [{ tag_name: 'v1', ref: 'nope' }, 400, { message: 'Tag v1 already exists' }],
    [{ tag_name: 't', ref: 'nope' }, 400, { message: 'Target nope is invalid' }],
    [
      { tag_name: 't', ref: '0'.repeat(40), message: 'm' },
      400,
      { message: `Target ${'0'.repeat(40)} is invalid` },
    ],
    [{ tag_name: 't', ref: '' }, 400, { message: 'Target is empty' }],
    [{ tag_name: 'nest', ref: 'main' }, 405, { message: "Tag nest conflicts with another tag's name" }],
    [
      { tag_name: 'nest', ref: 'main', message: 'm' },
      405,
      { message: "Tag nest conflicts with another tag's name" },
    ],
    [{ tag_name: 't\0', ref: 'main' }, 400, { error: 'tag_name is invalid' }],
    ...['a'.repeat(40), 'F'.repeat(64), `${'1'.repeat(40)}/x`].map(
      (tag_name): [{ tag_name: string; ref: string }, number, { message: string }] => [
        { tag_name, ref: 'main' },
        400,
        { message: 'You cannot create a tag with a SHA-1 or SHA-256 tag name.' },
      ],
    ),
    ...['a b', 'a..b', 'a^', ':', '/a', 'a/', '.a', 'a.lock', '-a', 'HEAD', 'x'.repeat(251), 'a\nb'].map(
      (tag_name): [{ tag_name: string; ref: string }, number, { message: string }] => [
        { tag_name, ref: 'main' },
        400,
        { message: 'Tag name invalid' },
      ],
    ),
  ])('%j', async (json, status, body) => {
    const before = (await as('owner', 'GET', at('public'))).body;
    const answer = await as('owner', 'POST', at('public'), json);
    expect([answer.status, answer.body]).toEqual([status, body]);
    expect((await as('owner', 'GET', at('public'))).body).toEqual(before);
  });

  test('a blank message makes a lightweight tag, and an empty repository has nothing to tag', async () => {
    const blank = await as('owner', 'POST', at('public'), { tag_name: 'blank', ref: 'v1', message: ' \n' });
    expect([blank.status, blank.body.message]).toEqual([201, null]);
    const made = await as('owner', 'POST', '/projects', { name: 'nothing', visibility: 'public' });
    const answer = await as('owner', 'POST', `/projects/${made.body.id}/repository/tags`, {
      tag_name: 't',
      ref: 'main',
    });
    expect([answer.status, answer.body]).toEqual([400, { message: 'Target main is invalid' }]);
  });
});

test('deleting a tag is refused when absent or impossible, and respects If-Unmodified-Since', async () => {
  for (const [name, status, message] of [
    ['nope', 404, '404 Tag Not Found'],
    ['main', 404, '404 Tag Not Found'],
    ['a..b', 400, 'The tag refname is invalid'],
    ['-x', 400, 'The tag refname is invalid'],
  ] as const) {
    for (const method of ['GET', 'DELETE']) {
      const answer = await as('owner', method, at('public', name));
      expect([method, name, answer.status, answer.body]).toEqual([method, name, status, { message }]);
    }
  }
  const token = world.tokens.owner!;
  const until = (time: number) => ({ 'If-Unmodified-Since': new Date(time).toUTCString() });
  const late = await service.call('DELETE', at('internal', 'v2'), {
    token,
    headers: until(Date.now() - 3_600_000),
  });
  expect([late.status, late.body]).toEqual([412, { message: '412 Precondition Failed' }]);
  expect(
    (await service.call('DELETE', at('internal', 'v2'), { token, headers: until(Date.now() + 60_000) }))
      .status,
  ).toBe(204);
  expect((await as('owner', 'GET', at('internal', 'v2'))).status).toBe(404);
});
