/** Who may not see merge requests does not get what they propose by the names of their heads either. */
import { beforeAll, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { request } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';

const { service, world, as, ok } = ownWorld();

const HEAD = 'refs/merge-requests/1/head';
const SECRET = 'unpublished words';

let path: string;
let head: string;
/** A fork that everybody may read. */
let openFork: number;

beforeAll(async () => {
  const made = { name: 'heads', visibility: 'public', initialize_with_readme: true };
  const { id } = await ok('owner', 'POST', '/projects', made);
  path = `/projects/${id}`;
  for (const [who, access_level] of [['guest', 10] as const, ['reporter', 20] as const])
    await ok('owner', 'POST', `${path}/members`, { user_id: world.ids[who], access_level });
  ({ id: openFork } = await ok('stranger', 'POST', `${path}/fork`, { visibility: 'public' }));
  const fork = await ok('developer', 'POST', `${path}/fork`, { visibility: 'private' });
  await settled();
  const actions = [{ action: 'create', file_path: 'new.txt', content: SECRET }];
  const commit = { branch: 'topic', start_branch: 'main', commit_message: 'New', actions };
  head = (await ok('developer', 'POST', `/projects/${fork.id}/repository/commits`, commit)).id;
  await ok('developer', 'POST', `/projects/${fork.id}/merge_requests`, {
    ...{ title: 'New', source_branch: 'topic', target_branch: 'main', target_project_id: id },
  });
});

const authorization = (user: string, token: string) => ({
  Authorization: `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}`,
});

/** Whether the head is advertised, and its commit sent to who asks for it, to Git; and read by its name in the interface. */
async function given(headers: Record<string, string>): Promise<readonly boolean[]> {
  const at = `${service.url}/owner/heads.git`;
  const refs = await request(`${at}/info/refs?service=git-upload-pack`, 'GET', { headers });
  const pkt = (line: string) => `${(line.length + 4).toString(16).padStart(4, '0')}${line}`;
  const wanted = await request(`${at}/git-upload-pack`, 'POST', {
    headers: { ...headers, 'Content-Type': 'application/x-git-upload-pack-request' },
    body: `${pkt(`want ${head} ofs-delta\n`)}0000${pkt('done\n')}`,
  });
  return [refs.body.includes(HEAD), !wanted.body.includes('not our ref')];
}

const NAMED = [
  `/repository/files/new.txt/raw?ref=${HEAD}`,
  '/repository/files/new.txt/raw?ref=merge-requests/1/head',
  `/repository/archive?sha=${HEAD}`,
  `/repository/commits/${encodeURIComponent(HEAD)}`,
  `/repository/tree?ref=${HEAD}`,
];
const statuses = async (who: Who) =>
  Promise.all(NAMED.map(async (at) => (await as(who, 'GET', path + at)).status));
const asToken = (who: Who) => (who === 'anonymous' ? {} : authorization('any', world.tokens[who]!));

test.each([
  ['enabled', { anonymous: true, stranger: true, guest: true, reporter: true, administrator: true }],
  ['private', { anonymous: false, stranger: false, guest: false, reporter: true, administrator: true }],
  ['disabled', { anonymous: false, stranger: false, guest: false, reporter: false, administrator: false }],
] as const)('heads of merge requests are shown with these to whom they are %s', async (level, table) => {
  await ok('owner', 'PUT', path, { merge_requests_access_level: level });
  for (const [who, shown] of Object.entries(table) as [Who, boolean][]) {
    expect([who, ...(await given(asToken(who)))]).toEqual([who, shown, shown]);
    expect([who, ...(await statuses(who))]).toEqual([who, ...NAMED.map(() => (shown ? 200 : 404))]);
  }
});

test.each([
  ['private', 404],
  ['enabled', 200],
] as const)(
  'a comparison with a fork names them, in either project, only to those to whom they are shown: %s',
  async (level, status) => {
    await ok('owner', 'PUT', path, { merge_requests_access_level: level });
    const id = path.replace('/projects/', '');
    for (const at of [
      `${path}/repository/compare?from_project_id=${openFork}&from=main&to=${HEAD}`,
      `/projects/${openFork}/repository/compare?from_project_id=${id}&from=${HEAD}&to=main`,
    ])
      expect([at, (await as('anonymous', 'GET', at)).status]).toEqual([at, status]);
  },
);

test('a deploy token of the project gets them, as all that its repository has', async () => {
  await ok('owner', 'PUT', path, { merge_requests_access_level: 'private' });
  const { username, token } = await ok('owner', 'POST', `${path}/deploy_tokens`, {
    name: 'mirror',
    scopes: ['read_repository'],
  });
  expect(await given(authorization(username, token))).toEqual([true, true]);
});

test('those that are for members are for Reporters and above: a Guest finds none by page, list, commit or search', async () => {
  await ok('owner', 'PUT', path, { merge_requests_access_level: 'private' });
  const found = async (who: Who) => [
    (await as(who, 'GET', `${path}/merge_requests/1`)).status,
    (await as(who, 'GET', `${path}/merge_requests`)).status,
    (await ok(who, 'GET', '/merge_requests?scope=all&source_branch=topic')).length,
    (await ok(who, 'GET', '/search?scope=merge_requests&search=New')).length,
  ];
  expect(await found('guest')).toEqual([403, 403, 0, 0]);
  expect(await found('reporter')).toEqual([200, 200, 1, 1]);
});
