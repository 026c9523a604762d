/** Lists of rows: each is walked to its end by keyset, and compared with what its pages by number hold. */
import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { allEndpoints } from '../../../lib/api/all.ts';
import type { MovedKind } from '../../../lib/records/storage-moves.ts';
import { moveOfKey, storageMoveKey } from '../../../lib/store/row-keys/storage-moves.ts';
import { encodeCursor, type Position } from '../../../lib/store/table/cursor.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { person, scimGroup } from '../../harness/scim.ts';
import { type Answer, request } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';
import { report, smallRunner } from '../../harness/small-runner.ts';
import { storeOf, type Who } from '../../harness/world.ts';

const { service, world, ok, someone } = ownWorld();

/** Rows of each list, more than a page of two. */
const MANY = 3;
const times = Array.from({ length: MANY }, (_, i) => i + 1);
/** Bytes and UTF-16 units sort them differently. */
const LETTERS = ['é', '😀', 'ｗ'];
const names = ['rocket', 'tada', 'heart'];

/** What stands in the paths of the lists. */
const at: Record<string, string | number> = {};
let people: { id: number; token: string }[];

const byPerson = async (i: number, method: string, path: string, json?: object) => {
  const { token } = people[i]!;
  const answer = await service.call(method, path, { token, ...(json === undefined ? {} : { json }) });
  expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
  return answer.body;
};

beforeAll(async () => {
  people = await Promise.all(times.map(() => someone()));
  const own = await ok('owner', 'POST', '/groups', { name: 'rows', path: 'rows', visibility: 'public' });
  at['group'] = own.id;
  const inGroup = { namespace_id: own.id, visibility: 'public', initialize_with_readme: true };
  const project = await ok('owner', 'POST', '/projects', { name: 'rows', ...inGroup });
  at['project'] = project.id;
  at['owner'] = world.ids['owner']!;
  await ok('owner', 'PUT', `/projects/${project.id}`, { request_access_enabled: true });
  await ok('owner', 'PUT', `/groups/${own.id}`, { request_access_enabled: true });
  const path = `/projects/${project.id}`;
  await containers(own.id, inGroup);
  await relations(own.id, path);
  await conversations(own.id, path);
  await code(path);
  await ci(path);
  await administration(project.id, own.id);
  await settled();
}, 600_000);

async function containers(group: number, inGroup: object): Promise<void> {
  for (const i of times) {
    const made = { name: `p${i}`, path: `p${i}` };
    const { id } = await ok('owner', 'POST', '/projects', { ...inGroup, ...made });
    await ok('stranger', 'POST', `/projects/${id}/star`);
    await ok('owner', 'POST', '/groups', {
      name: `Grüße ${i}`,
      path: `below-${i}`,
      parent_id: group,
      visibility: 'public',
    });
    const personal = await ok('owner', 'POST', '/projects', { name: `own ${i}`, visibility: 'public' });
    await ok('owner', 'POST', `/projects/${personal.id}/share`, { group_id: group, group_access: 20 });
    const actions = [{ action: 'create', file_path: 'a', content: 'a' }];
    const commit = { branch: 'main', commit_message: 'a', actions };
    await ok('owner', 'POST', `/projects/${id}/repository/commits`, commit);
    if (i < 3) await ok('owner', 'POST', `/projects/${id}/members`, member('reporter'));
  }
  for (const i of times.slice(0, 2)) {
    const { id } = await ok('owner', 'POST', '/groups', { name: `top ${i}`, path: `top-${i}` });
    await ok('owner', 'POST', `/groups/${id}/members`, member('reporter'));
  }
}

const member = (who: Who) => ({ user_id: world.ids[who], access_level: 20 });

async function relations(group: number, path: string): Promise<void> {
  for (const [i, { id }] of people.entries()) {
    await byPerson(i, 'POST', `/groups/${group}/access_requests`);
    await byPerson(i, 'POST', `${path}/access_requests`);
    await byPerson(i, 'POST', `${path}/star`);
    await byPerson(i, 'POST', `/users/${at['owner']}/follow`);
    await byPerson(i, 'POST', `${path}/fork`, { path: `fork-${i}`, name: `fork ${i}` });
    await ok('owner', 'POST', `/users/${id}/follow`);
    await ok('owner', 'POST', `${path}/labels`, { name: `ｆ ${LETTERS[i]}`, color: '#112233' });
    // About as many bytes as a key has of a title.
    const name = `g${i}${'😀'.repeat(249 + i)}`;
    await ok('owner', 'POST', `/groups/${group}/labels`, { name, color: '#112233' });
    await ok('owner', 'POST', `${path}/milestones`, { title: `p${i}` });
    await ok('owner', 'POST', `/groups/${group}/milestones`, { title: `g${i}` });
  }
  for (const who of ['guest', 'reporter', 'developer', 'maintainer'] as const)
    await ok('owner', 'POST', `${path}/members`, member(who));
}

/** Comments of all people, each in a discussion of their own, and awards. @returns the id of a note */
async function discussed(path: string, awarded = path): Promise<number> {
  for (const i of times.keys()) await byPerson(i, 'POST', `${path}/notes`, { body: `Text ${i}` });
  const { id } = await byPerson(0, 'POST', `${path}/notes`, { body: 'Awarded' });
  for (const name of names)
    for (const place of [awarded, `${awarded}/notes/${id}`])
      await ok('owner', 'POST', `${place}/award_emoji`, { name });
  return id;
}

async function conversations(group: number, path: string): Promise<void> {
  const issue = `${path}/issues/${(await ok('owner', 'POST', `${path}/issues`, { title: 'Issue' })).iid}`;
  at['issueNote'] = await discussed(issue);
  const actions = [{ action: 'create', file_path: 'b', content: 'b' }];
  const commit = { branch: 'side', start_branch: 'main', commit_message: 'side', actions };
  at['sha'] = (await ok('owner', 'POST', `${path}/repository/commits`, commit)).id;
  const branches = { source_branch: 'side', target_branch: 'main' };
  await ok('owner', 'POST', `${path}/merge_requests`, { title: 'Proposal', ...branches });
  const proposal = `${path}/merge_requests/1`;
  at['proposalNote'] = await discussed(proposal);
  const milestones: { id: number }[] = await ok('owner', 'GET', `${path}/milestones`);
  const labels: { name: string }[] = await ok('owner', 'GET', `${path}/labels`);
  for (const subject of [issue, proposal]) {
    await ok('owner', 'PUT', subject, { add_labels: labels.map(({ name }) => name).join(',') });
    await ok('owner', 'PUT', subject, { remove_labels: labels[0]!.name });
    for (const { id } of milestones) await ok('owner', 'PUT', subject, { milestone_id: id });
    for (const state_event of ['close', 'reopen', 'close'])
      await ok('owner', 'PUT', subject, { state_event });
  }
  for (const weight of times) await ok('owner', 'PUT', issue, { weight });
  const files = [{ file_path: 'a.txt', content: 'text' }];
  const json = { title: 'Snippet', visibility: 'public', files };
  at['snippet'] = (await ok('owner', 'POST', `${path}/snippets`, json)).id;
  at['snippetNote'] = await discussed(`${path}/snippets/${at['snippet']}`);
  for (const i of times) {
    const epic = await ok('owner', 'POST', `/groups/${group}/epics`, { title: `Epic ${i}` });
    at['epic'] = epic.id;
    at['epicIid'] = epic.iid;
    const { iid } = await ok('owner', 'POST', `${path}/issues`, { title: `To do ${i}` });
    await ok('owner', 'POST', `${path}/issues/${iid}/todo`);
  }
  const epics = `/groups/${group}/epics`;
  at['epicNote'] = await discussed(`${epics}/${at['epic']}`, `${epics}/${at['epicIid']}`);
}

async function code(path: string): Promise<void> {
  const commit = `${path}/repository/commits/${at['sha']}`;
  for (const i of times) {
    await ok('owner', 'POST', `${commit}/comments`, { note: `Comment ${i}` });
    await ok('owner', 'POST', `${path}/statuses/${at['sha']}`, { state: 'success', name: `s${i}` });
    const deployment = { environment: `e${i}`, sha: at['sha'], ref: 'side', tag: false, status: 'success' };
    await ok('owner', 'POST', `${path}/deployments`, deployment);
    const file = `${path}/packages/generic/tool/1.${i}/tool.bin`;
    const sent = await service.call('PUT', file, { token: world.tokens['owner']!, raw: 'tool' });
    expect(sent.status).toBe(201);
    await ok('owner', 'POST', `${path}/deploy_tokens`, { name: `t${i}`, scopes: ['read_repository'] });
  }
}

async function ci(path: string): Promise<void> {
  const content = times.map((i) => `job ${i}: { script: [x] }`).join('\n');
  const actions = [{ action: 'create', file_path: '.gitlab-ci.yml', content }];
  await ok('owner', 'POST', `${path}/repository/commits`, { branch: 'main', commit_message: 'ci', actions });
  await settled();
  const { runners_token: ofProject } = await ok('owner', 'GET', path);
  const { runners_token: ofGroup } = await ok('owner', 'GET', `/groups/${at['group']}`);
  const busy = await smallRunner(service, ofProject);
  at['runner'] = busy.id;
  for (const _ of times) {
    const { status, body } = await busy.take();
    expect(status).toBe(201);
    await report(service, body, 'success');
  }
  for (const token of [ofProject, ofGroup]) for (const _ of times) await smallRunner(service, token);
}

async function administration(project: number, group: number): Promise<void> {
  for (const i of times) await ok('administrator', 'POST', '/topics', { name: `t${i}`, title: `Topic ${i}` });
  const { table } = storeOf();
  for (const [kind, id] of [
    ['project', project],
    ['group', group],
    ['snippet', at['snippet']],
  ] as const)
    for (const each of times) await moved(table, kind, Number(id), each);
  const errors = `/projects/${project}/error_tracking`;
  await ok('owner', 'PUT', `${errors}/settings`, { active: true, integrated: true });
  const { public_key: key } = await ok('owner', 'POST', `${errors}/client_keys`);
  for (const i of times) {
    const event = { exception: { values: [{ type: `Error${i}`, value: 'x' }] }, platform: 'node' };
    const raw = `{"event_id":"0123456789abcdef0123456789abcdef"}\n{"type":"event"}\n${JSON.stringify(event)}`;
    const to = `/error_tracking/collector/api/${project}/envelope/?sentry_key=${key}`;
    expect((await service.call('POST', to, { raw })).status).toBe(200);
  }
  const sso = await scimGroup(service, world.tokens['owner']!, 'provided');
  at['sso'] = sso.id;
  for (const i of times) expect((await sso.agent('POST', '/Users', person(`p${i}`))).status).toBe(201);
}

async function moved(
  table: ReturnType<typeof storeOf>['table'],
  kind: MovedKind,
  subjectId: number,
  id: number,
): Promise<void> {
  const about = { source: 'default', destination: 'cold', createdAt: '2026-11-20T00:00:00.000Z' };
  await table.put({
    put: { ...storageMoveKey(kind, id), kind, id, subjectId, state: 'finished', ...about },
  });
  await table.put({ put: { ...moveOfKey({ kind, id: subjectId }, id) } });
}

interface Asked {
  readonly who?: Who;
  /** Path and query with names of {@link at} in braces. */
  readonly path: string;
  /** Fewest rows that are there. */
  readonly least?: number;
}

const PROJECT = '/projects/{project}';
const GROUP = '/groups/{group}';
const NOTED: Record<string, string> = {
  [`${PROJECT}/issues/1`]: 'issueNote',
  [`${PROJECT}/merge_requests/1`]: 'proposalNote',
  [`${PROJECT}/snippets/{snippet}`]: 'snippetNote',
};

/** For each list of rows what is asked of it, by the pattern of its path. */
const LISTS: Record<string, readonly (string | Asked)[]> = {
  '/deploy_tokens': [{ who: 'administrator', path: '/deploy_tokens' }],
  '/personal_access_tokens': [{ who: 'administrator', path: '/personal_access_tokens' }],
  '/group_repository_storage_moves': [{ who: 'administrator', path: '/group_repository_storage_moves' }],
  '/project_repository_storage_moves': [{ who: 'administrator', path: '/project_repository_storage_moves' }],
  '/snippet_repository_storage_moves': [{ who: 'administrator', path: '/snippet_repository_storage_moves' }],
  '/groups/:id/repository_storage_moves': [
    { who: 'administrator', path: `${GROUP}/repository_storage_moves` },
  ],
  '/projects/:id/repository_storage_moves': [
    { who: 'administrator', path: `${PROJECT}/repository_storage_moves` },
  ],
  '/snippets/:snippet_id/repository_storage_moves': [
    { who: 'administrator', path: '/snippets/{snippet}/repository_storage_moves' },
  ],
  '/groups/:id/access_requests': [`${GROUP}/access_requests`],
  '/groups/:id/descendant_groups': [
    `${GROUP}/descendant_groups`,
    `${GROUP}/descendant_groups?order_by=id&sort=desc`,
  ],
  '/groups/:id/subgroups': [
    `${GROUP}/subgroups`,
    `${GROUP}/subgroups?order_by=path&sort=desc`,
    { who: 'anonymous', path: `${GROUP}/subgroups?order_by=id` },
    `${GROUP}/subgroups?search=below`,
  ],
  '/groups/:id/epics': [
    `${GROUP}/epics`,
    `${GROUP}/epics?order_by=updated_at&sort=asc`,
    `${GROUP}/epics?order_by=title`,
  ],
  '/groups/:id/labels': [`${GROUP}/labels`, `${GROUP}/labels?search=g`],
  '/groups/:id/milestones': [`${GROUP}/milestones`, `${GROUP}/milestones?state=active`],
  '/groups/:id/projects': [
    `${GROUP}/projects`,
    `${GROUP}/projects?order_by=name&sort=asc`,
    `${GROUP}/projects?order_by=last_activity_at`,
    `${GROUP}/projects?order_by=id&sort=asc&visibility=public`,
    `${GROUP}/projects?search=p`,
    { who: 'anonymous', path: `${GROUP}/projects` },
  ],
  '/groups/:id/projects/shared': [`${GROUP}/projects/shared`],
  '/groups/:id/runners': [`${GROUP}/runners`],
  '/groups/:id/saml/identities': ['/groups/{sso}/saml/identities'],
  '/namespaces': [
    '/namespaces',
    { who: 'administrator', path: '/namespaces' },
    { who: 'administrator', path: '/namespaces?search=below' },
  ],
  '/projects/:id/access_requests': [`${PROJECT}/access_requests`],
  '/projects/:id/alerts/:alert_iid/notes': [],
  '/projects/:id/deployments': [
    `${PROJECT}/deployments`,
    `${PROJECT}/deployments?order_by=updated_at&sort=desc`,
    `${PROJECT}/deployments?status=success`,
  ],
  '/projects/:id/error_tracking/errors': [
    `${PROJECT}/error_tracking/errors`,
    `${PROJECT}/error_tracking/errors?status=unresolved&sort=asc`,
  ],
  '/projects/:id/forks': [`${PROJECT}/forks`, `${PROJECT}/forks?order_by=name`],
  '/projects/:id/labels': [`${PROJECT}/labels`, `${PROJECT}/labels?include_ancestor_groups=false`],
  '/projects/:id/milestones': [
    `${PROJECT}/milestones`,
    `${PROJECT}/milestones?include_parent_milestones=true`,
    `${PROJECT}/milestones?iids[]=1&iids[]=2&iids[]=3`,
  ],
  '/projects/:id/packages': [
    `${PROJECT}/packages`,
    `${PROJECT}/packages?order_by=version&sort=desc`,
    `${PROJECT}/packages?order_by=name`,
  ],
  '/projects/:id/repository/commits/:sha/comments': [`${PROJECT}/repository/commits/{sha}/comments`],
  '/projects/:id/repository/commits/:sha/discussions': [`${PROJECT}/repository/commits/{sha}/discussions`],
  '/projects/:id/repository/commits/:sha/statuses': [
    `${PROJECT}/repository/commits/{sha}/statuses`,
    `${PROJECT}/repository/commits/{sha}/statuses?all=true&ref=side`,
  ],
  '/projects/:id/runners': [`${PROJECT}/runners`, `${PROJECT}/runners?type=project_type`],
  '/projects/:id/starrers': [`${PROJECT}/starrers`, `${PROJECT}/starrers?search=someone`],
  '/projects/:id/users': [`${PROJECT}/users`],
  '/runners': ['/runners', '/runners?status=not_connected'],
  '/runners/:id/jobs': ['/runners/{runner}/jobs', '/runners/{runner}/jobs?status=success&sort=asc'],
  '/runners/all': [{ who: 'administrator', path: '/runners/all' }],
  '/todos': ['/todos', '/todos?action=marked'],
  '/topics': [
    { who: 'administrator', path: '/topics' },
    { who: 'administrator', path: '/topics?search=topic' },
    { who: 'administrator', path: '/topics?without_projects=true' },
  ],
  '/user/activities': [{ who: 'administrator', path: '/user/activities' }],
  '/users/:id/followers': ['/users/{owner}/followers'],
  '/users/:id/following': ['/users/{owner}/following'],
  '/users/:id/memberships': [
    { who: 'administrator', path: '/users/{reporter}/memberships' },
    { who: 'administrator', path: '/users/{reporter}/memberships?type=Project', least: 3 },
  ],
  '/users/:user_id/contributed_projects': ['/users/{owner}/contributed_projects'],
  '/users/:user_id/projects': ['/users/{owner}/projects', '/users/{owner}/projects?order_by=name'],
  '/users/:user_id/starred_projects': ['/users/{stranger}/starred_projects'],
  '/groups/:id/epics/:epic_id/discussions': [`${GROUP}/epics/{epic}/discussions`],
  '/groups/:id/epics/:epic_id/notes': [`${GROUP}/epics/{epic}/notes`],
  '/groups/:id/epics/:epic_iid/award_emoji': [`${GROUP}/epics/{epicIid}/award_emoji`],
  '/groups/:id/epics/:epic_iid/notes/:note_id/award_emoji': [
    `${GROUP}/epics/{epicIid}/notes/{epicNote}/award_emoji`,
  ],
  ...Object.fromEntries(Object.entries(NOTED).flatMap(([path, note]) => ofNoted(path, note))),
};

/** The lists of something that is talked about. */
function ofNoted(path: string, note: string): [string, readonly (string | Asked)[]][] {
  const [kind, id] = path.includes('issues')
    ? ['issues', ':issue_iid']
    : path.includes('merge_requests')
      ? ['merge_requests', ':merge_request_iid']
      : ['snippets', ':snippet_id'];
  const pattern = `/projects/:id/${kind}/${id}`;
  const list = (name: string): [string, string[]] => [`${pattern}/${name}`, [`${path}/${name}`]];
  const notes = ['', '?sort=asc', '?order_by=updated_at', '?activity_filter=only_comments'];
  const events = kind === 'snippets' ? [] : ['label', 'milestone', 'state'];
  return [
    [`${pattern}/notes`, notes.map((query) => `${path}/notes${query}`)],
    list('discussions'),
    list('award_emoji'),
    [`${pattern}/notes/:note_id/award_emoji`, [`${path}/notes/{${note}}/award_emoji`]],
    ...(kind === 'snippets' ? [] : [list('participants')]),
    ...[...events, ...(kind === 'issues' ? ['weight'] : [])].map((name) => list(`resource_${name}_events`)),
    ...(kind === 'issues'
      ? [[`${pattern}/resource_iteration_events`, []] as [string, readonly string[]]]
      : []),
  ];
}

const filled = (path: string) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => String(at[name] ?? world.ids[name]));
const nextOf = ({ headers }: Answer): string | undefined =>
  /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
const opened = (who: Who, url: string) => {
  const token = world.tokens[who];
  return request(url, 'GET', { headers: token === undefined ? {} : { 'PRIVATE-TOKEN': token } });
};

/** What all pages hold, by the links to the next one. */
async function followed(who: Who, first: string, perPage: number): Promise<unknown[]> {
  const found: unknown[] = [];
  for (let url: string | undefined = first; url !== undefined; ) {
    const answer: Answer = await opened(who, url);
    expect([url, answer.status, answer.headers.get('x-total')]).toEqual([url, 200, null]);
    expect(answer.body.length).toBeLessThanOrEqual(perPage);
    found.push(...answer.body);
    url = nextOf(answer);
    if (found.length > 500) throw new Error(`${first} does not end`);
  }
  return found;
}

/** What tells one from another; the rest may change while they are read. */
const nameOf = (item: Answer['body']): unknown =>
  item?.id ?? item?.user?.id ?? item?.username ?? item?.extern_uid ?? item;

const PATTERNS = allEndpoints.filter(({ keyset }) => keyset?.rows).map(({ path }) => path);

test('each list of rows is walked here', () => {
  expect(Object.keys(LISTS).toSorted()).toEqual(PATTERNS.toSorted());
});

describe.each(PATTERNS.filter((pattern) => (LISTS[pattern] ?? []).length > 0))('%s', (pattern) => {
  test.each((LISTS[pattern] ?? []).map((one) => (typeof one === 'string' ? { path: one } : one)))(
    '$path by keyset: the whole list, once, as by number',
    async ({ who = 'owner', path, least = MANY }: Asked) => {
      const url = `${service.url}/api/v4${filled(path)}${path.includes('?') ? '&' : '?'}`;
      const whole = (await opened(who, `${url}per_page=100`)).body;
      expect(whole.length).toBeGreaterThanOrEqual(least);
      for (const perPage of [2, whole.length]) {
        const found = await followed(who, `${url}pagination=keyset&per_page=${perPage}`, perPage);
        expect(found.map(nameOf)).toEqual(whole.map(nameOf));
      }
      const byNumber = await opened(who, `${url}per_page=2`);
      expect(byNumber.headers.get('x-page')).toBe('1');
      expect(nextOf(byNumber)).toContain('page=2');
      expect(nextOf(byNumber)).not.toContain('cursor');
    },
  );
});

const nameTextOf = (item: Answer['body']): string => JSON.stringify(nameOf(item));

/** A cursor of any text, with the digest that it should have. */
const signed = (position: string): string => {
  const digest = createHash('sha256').update(`"rows"\n${position}`).digest('base64url').slice(0, 16);
  return Buffer.from(digest + position).toString('base64url');
};

const PLACES: readonly Position[] = [
  ...['', '~', '\u0000', '\uffff', '😀', '000000000001', '2026-01-01T00:00:00.000Z#000000000001'].flatMap(
    (sort) => [-1, Number.MAX_SAFE_INTEGER].map((id) => ({ sort, id })),
  ),
  ...['project', 'group'].map((sort) => ({ sort, id: Number.MIN_SAFE_INTEGER })),
  ...[999, 1000, 1001].map((length) => ({ sort: 'x'.repeat(length), id: 1 })),
  { sort: '\ud83d', id: 1 },
];
/** Cursors that no list has told. */
const MADE_UP: readonly string[] = [
  ...PLACES.map((place) => encodeCursor('rows', place)),
  ...['', '[]', '{}', 'null', '[1,1]', '["x"]', '["x",null]', '["x",1.5]', '["x",1e400]', '["x",1]]'].map(
    signed,
  ),
  ...['', '.', '%ff', '%00', 'x', 'AAAA', encodeCursor('other', { sort: '', id: 1 }), 'A'.repeat(5000)],
  Buffer.from([...Buffer.from(signed('["x",1]'), 'base64url'), 0xff, 0xfe]).toString('base64url'),
];

describe('a cursor that is made up, or of another list, is refused or leads to rows of the list alone', () => {
  /** One request to each list, with the names of all that it holds. */
  const asked = async () => {
    const lists = PATTERNS.flatMap((pattern) => (LISTS[pattern] ?? []).slice(0, 1));
    const each = lists.map((one) => ({
      who: 'owner' as Who,
      ...(typeof one === 'string' ? { path: one } : one),
    }));
    return Promise.all(
      each.map(async ({ who, path }) => {
        const url = `${service.url}/api/v4${filled(path)}?per_page=`;
        const whole: Answer['body'][] = (await opened(who, `${url}100`)).body;
        const next = nextOf(await opened(who, `${url}1&pagination=keyset`));
        return { who, url, names: whole.map(nameTextOf), cursor: new URL(next!).searchParams.get('cursor')! };
      }),
    );
  };
  /** Of cursors that differ in numbers and letters alone, one. */
  const shapeOf = (cursor: string) =>
    Buffer.from(cursor, 'base64url')
      .toString()
      .slice(16)
      .replace(/\d+/g, '0')
      .replace(/"[0 a-z]*"/, '""');

  test('in all lists', async () => {
    const lists = await asked();
    const told = new Map(lists.map(({ cursor }) => [shapeOf(cursor), cursor]));
    expect(told.size).toBeGreaterThan(10);
    for (const { who, url, names } of lists)
      for (const cursor of [...MADE_UP, ...told.values()]) {
        const given = `${url}100&pagination=keyset&cursor=${cursor}`;
        const { status, body } = await opened(who, given);
        expect([200, 400], `${status} of ${given}`).toContain(status);
        const others =
          status === 400 ? [] : body.map(nameTextOf).filter((name: string) => !names.includes(name));
        expect(others, given).toEqual([]);
      }
  });

  test('in lists of other people, whose cursors lead to nothing of theirs', async () => {
    const lists = await asked();
    for (const { url, cursor } of lists) {
      const without = await opened('stranger', `${url}100`);
      const given = await opened('stranger', `${url}100&pagination=keyset&cursor=${cursor}`);
      // What no row of this caller's list can be is refused.
      expect([without.status, 400], url).toContain(given.status);
      if (given.status !== 200) continue;
      const names = without.body.map(nameTextOf);
      expect(
        given.body.map(nameTextOf).filter((name: string) => !names.includes(name)),
        url,
      ).toEqual([]);
    }
  });
});
