/** What proposing, merging, rebasing and approving are refused with, and in which order refusals come. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';
import { type Pushed, pushedProject } from '../repository/pushed-project.ts';

const { service, world, as, ok, join } = ownWorld();

const commit = (branch: string, from: string, changes: string) =>
  `commit refs/heads/${branch}\ncommitter C <c@example.com> 1600000000 +0000\ndata ${branch.length}\n${branch}\n` +
  `${from === '' ? '' : `from refs/heads/${from}\n`}${changes}\n`;
const file = (name: string, text: string, mode = '100644') =>
  `M ${mode} inline ${name}\ndata ${text.length}\n${text}\n`;

/** `topic` and `rival` change a line in two ways; `behind` has nothing that `main` lacks, `other` no common commit. */
const STORY = [
  commit('main', '', file('a.txt', '1\n2\n3\n')),
  commit('topic', 'main', file('a.txt', '1\ntwo\n3\n')),
  commit('rival', 'main', file('a.txt', '1\nzwei\n3\n')),
  commit('other', '', file('o.txt', 'o\n')),
].join('');

const pushes: Pushed[] = [];
async function project(settings: object = {}): Promise<string> {
  const owner = { username: 'owner', token: world.tokens.owner! };
  const pushed = await pushedProject(service, owner, `statuses-${pushes.length}`, (git) => {
    git.feed(STORY, 'fast-import', '--quiet');
    git.git('branch', 'behind', 'main');
  });
  pushes.push(pushed);
  const path = `/projects/${pushed.id}`;
  await join(path);
  if (Object.keys(settings).length > 0) await ok('owner', 'PUT', path, settings);
  return path;
}
afterAll(() => {
  for (const { git } of pushes) git[Symbol.dispose]();
});

/** The status of an answer and what it says. */
async function told(who: Who, method: string, path: string, json?: object): Promise<[number, unknown]> {
  const { status, body } = await as(who, method, path, json);
  return [status, status < 300 ? undefined : body];
}
async function propose(path: string, source_branch: string, more: object = {}): Promise<string> {
  const json = { title: source_branch, source_branch, target_branch: 'main', ...more };
  return `${path}/merge_requests/${(await ok('owner', 'POST', `${path}/merge_requests`, json)).iid}`;
}

describe('proposing', () => {
  let path = '';
  let without = '';
  let empty = '';
  let hidden = 0;
  let own = 0;
  let fork = '';
  let alien = '';
  beforeAll(async () => {
    path = await project();
    own = Number(path.split('/').at(-1));
    await propose(path, 'rival');
    without = await project({ merge_requests_access_level: 'disabled' });
    const fresh = async (who: Who, json: object) => (await ok(who, 'POST', '/projects', json)).id;
    empty = `/projects/${await fresh('owner', { name: 'empty' })}`;
    hidden = await fresh('administrator', { name: 'hidden', visibility: 'private' });
    const forked = async (at: string, name: string) => {
      const { id } = await ok('stranger', 'POST', `${at}/fork`, { name, path: name });
      await settled();
      return `/projects/${id}`;
    };
    fork = await forked(path, 'kin');
    alien = await forked(path, 'alien');
    await ok('stranger', 'DELETE', `${alien}/fork`);
  });

  const same = { source_branch: 'main', target_branch: 'main', title: 't' };
  const topic = { ...same, source_branch: 'topic' };
  type Row = [string, () => [who: Who, at: string, json: object], number, unknown];
  const rows: Row[] = [
    [
      'without a title',
      () => ['owner', path, { ...topic, title: undefined }],
      400,
      { error: 'title is missing' },
    ],
    [
      'with a blank title',
      () => ['owner', path, { ...topic, title: ' ' }],
      400,
      { message: { title: ["can't be blank"] } },
    ],
    [
      'without branches',
      () => ['owner', path, { title: 't' }],
      400,
      { error: 'source_branch is missing, target_branch is missing' },
    ],
    [
      'of a branch to itself',
      () => ['owner', path, same],
      422,
      { message: ["You can't use same project/branch for source and target"] },
    ],
    [
      'of what is proposed',
      () => ['owner', path, { ...topic, source_branch: 'rival' }],
      409,
      { message: ['Another open merge request already exists for this source branch: !1'] },
    ],
    [
      'to a project that is not related',
      () => ['owner', path, { ...topic, target_project_id: Number(empty.split('/').at(-1)) }],
      422,
      { message: ['Source project is not a fork of the target project'] },
    ],
    [
      'to the source of a fork that is one no more',
      () => ['stranger', alien, { ...topic, target_project_id: own }],
      422,
      { message: ['Source project is not a fork of the target project'] },
    ],
    [
      'to a project that one does not see',
      () => ['stranger', fork, { ...topic, target_project_id: hidden }],
      403,
      { message: '403 Forbidden' },
    ],
    [
      'to a project that is not there',
      () => ['stranger', fork, { ...topic, target_project_id: 99_999_999 }],
      403,
      { message: '403 Forbidden' },
    ],
    ['by who may not push to the source', () => ['reporter', path, topic], 403, { message: '403 Forbidden' }],
    ['by a stranger', () => ['stranger', path, topic], 403, { message: '403 Forbidden' }],
    ['by nobody', () => ['anonymous', path, topic], 401, { message: '401 Unauthorized' }],
    ['where there are none', () => ['owner', without, topic], 403, { message: '403 Forbidden' }],
    [
      'of a branch that is not there',
      () => ['owner', path, { ...topic, source_branch: 'none' }],
      400,
      { message: { source_branch: ['does not exist'] } },
    ],
    [
      'to a branch that is not there',
      () => ['owner', path, { ...topic, target_branch: 'none' }],
      400,
      { message: { target_branch: ['does not exist'] } },
    ],
    [
      'of no name of a branch',
      () => ['owner', path, { ...topic, source_branch: 'a..b', target_branch: 'x y' }],
      400,
      { message: { source_branch: ['is invalid'], target_branch: ['is invalid'] } },
    ],
    [
      'in a project without commits',
      () => ['owner', empty, topic],
      400,
      { message: { source_branch: ['does not exist'] } },
    ],
    ['of nothing new', () => ['owner', path, { ...topic, source_branch: 'behind' }], 201, undefined],
    ['without a common commit', () => ['owner', path, { ...topic, source_branch: 'other' }], 201, undefined],
    ['from a fork', () => ['stranger', fork, { ...topic, target_project_id: own }], 201, undefined],
  ];
  test.each(rows)('%s', async (_, asked, status, body) => {
    const [who, at, json] = asked();
    expect(await told(who, 'POST', `${at}/merge_requests`, json)).toEqual([status, body]);
  });
});

const NOT_ALLOWED = [405, { message: '405 Method Not Allowed' }];
const UNMERGEABLE = [406, { message: 'Branch cannot be merged' }];
const UNAUTHORIZED = [401, { message: '401 Unauthorized' }];
const OTHER_HEAD = { sha: 'f'.repeat(40) };
const differs = (at: string) => async () => [
  409,
  { message: `SHA does not match HEAD of source branch: ${(await ok('owner', 'GET', at)).sha}` },
];

describe('merging', () => {
  interface Stuck {
    readonly source?: string;
    readonly more?: object;
    readonly settings?: object;
    /** What becomes of it before it is merged. */
    readonly begin?: (path: string, mr: string) => Promise<unknown>;
  }
  const close = (_: string, mr: string) => ok('owner', 'PUT', mr, { state_event: 'close' });
  const talk = (_: string, mr: string) => ok('reporter', 'POST', `${mr}/discussions`, { body: 'Why?' });
  const deleted = (branch: string) => (path: string) =>
    ok('owner', 'DELETE', `${path}/repository/branches/${branch}`);
  const resolved = { only_allow_merge_if_all_discussions_are_resolved: true };
  const conflicting = async (path: string) => {
    const actions = [{ action: 'update', file_path: 'a.txt', content: '1\nzwei\n3\n' }];
    await ok('owner', 'POST', `${path}/repository/commits`, { branch: 'main', commit_message: 'x', actions });
  };
  const stuck: Record<string, Stuck> = {
    ready: {},
    'ready, to a branch that is not protected': { more: { target_branch: 'behind' } },
    closed: { begin: close },
    'closed, in conflict': {
      begin: async (path, mr) => {
        await close(path, mr);
        await conflicting(path);
      },
    },
    merged: { begin: (_, mr) => ok('owner', 'PUT', `${mr}/merge`) },
    'a draft': { more: { title: 'Draft: topic' } },
    'a draft, in conflict': { more: { title: '[Draft] topic' }, begin: conflicting },
    'discussed, in conflict': {
      settings: resolved,
      begin: async (path, mr) => {
        await talk(path, mr);
        await conflicting(path);
      },
    },
    'discussed, where that may be': { begin: talk },
    archived: { begin: (path) => ok('owner', 'POST', `${path}/archive`) },
    'to a branch that Developers merge into': { begin: protectedFor(30) },
    'to a branch that nobody merges into': { begin: protectedFor(0) },
    'without its pipeline': { settings: { only_allow_merge_if_pipeline_succeeds: true } },
    'without approvals': {
      begin: (path) => ok('owner', 'POST', `${path}/approvals`, { approvals_before_merge: 1 }),
    },
    approved: {
      begin: async (path, mr) => {
        await ok('owner', 'POST', `${path}/approvals`, { approvals_before_merge: 1 });
        await ok('developer', 'POST', `${mr}/approve`);
      },
    },
    'without its target': { source: 'topic', more: { target_branch: 'behind' }, begin: deleted('behind') },
    'in conflict': { begin: conflicting },
    'without commits': { source: 'behind' },
    'without a common commit': { source: 'other' },
    'to be rebased': {
      settings: { merge_method: 'ff' },
      begin: async (path) => {
        const actions = [{ action: 'create', file_path: 'm.txt', content: 'm' }];
        const json = { branch: 'main', commit_message: 'x', actions };
        await ok('owner', 'POST', `${path}/repository/commits`, json);
      },
    },
  };
  function protectedFor(merge_access_level: number) {
    return async (path: string) => {
      await ok('owner', 'DELETE', `${path}/protected_branches/main`);
      const levels = { push_access_level: 0, merge_access_level };
      await ok('owner', 'POST', `${path}/protected_branches`, { name: 'main', ...levels });
    };
  }
  const later = { merge_when_pipeline_succeeds: true };
  type Expected = readonly unknown[] | 'other head';
  const rows: [of: string, who: Who, json: object, expected: Expected][] = [
    // First of all: who may merge into the target.
    ['closed, in conflict', 'developer', OTHER_HEAD, UNAUTHORIZED],
    ['merged', 'reporter', {}, UNAUTHORIZED],
    ['ready', 'developer', {}, UNAUTHORIZED],
    ['ready', 'anonymous', {}, UNAUTHORIZED],
    ['archived', 'owner', {}, UNAUTHORIZED],
    ['to a branch that nobody merges into', 'owner', {}, UNAUTHORIZED],
    ['to a branch that Developers merge into', 'reporter', {}, UNAUTHORIZED],
    ['to a branch that Developers merge into', 'developer', {}, [200, undefined]],
    // Then whether people are done with it.
    ['closed, in conflict', 'maintainer', OTHER_HEAD, NOT_ALLOWED],
    ['closed', 'maintainer', {}, NOT_ALLOWED],
    ['merged', 'maintainer', {}, NOT_ALLOWED],
    ['a draft', 'maintainer', {}, NOT_ALLOWED],
    ['a draft, in conflict', 'maintainer', OTHER_HEAD, NOT_ALLOWED],
    ['discussed, in conflict', 'maintainer', OTHER_HEAD, NOT_ALLOWED],
    ['without its pipeline', 'maintainer', OTHER_HEAD, NOT_ALLOWED],
    ['without its pipeline', 'maintainer', later, NOT_ALLOWED],
    ['ready', 'maintainer', later, NOT_ALLOWED],
    ['without approvals', 'maintainer', OTHER_HEAD, NOT_ALLOWED],
    ['without its target', 'maintainer', OTHER_HEAD, NOT_ALLOWED],
    // Then its commits.
    ['in conflict', 'maintainer', OTHER_HEAD, UNMERGEABLE],
    ['without commits', 'maintainer', OTHER_HEAD, UNMERGEABLE],
    ['without a common commit', 'maintainer', OTHER_HEAD, UNMERGEABLE],
    ['to be rebased', 'maintainer', OTHER_HEAD, UNMERGEABLE],
    // Then the head that the merger has seen.
    ['ready', 'maintainer', OTHER_HEAD, 'other head'],
    ['ready', 'maintainer', {}, [200, undefined]],
    ['ready, to a branch that is not protected', 'reporter', {}, UNAUTHORIZED],
    ['ready, to a branch that is not protected', 'developer', {}, [200, undefined]],
    ['discussed, where that may be', 'maintainer', {}, [200, undefined]],
    ['approved', 'maintainer', {}, [200, undefined]],
  ];
  const made = new Map<string, Promise<string>>();
  const stuckAs = (name: string): Promise<string> => {
    const { source = 'topic', more, settings, begin } = stuck[name]!;
    const make = async () => {
      const path = await project(settings);
      const mr = await propose(path, source, more);
      await begin?.(path, mr);
      return mr;
    };
    made.set(name, made.get(name) ?? make());
    return made.get(name)!;
  };
  test.each(rows)('one that is %s, as %s, with %j', async (name, who, json, expected) => {
    const mr = await stuckAs(name);
    const wanted = expected === 'other head' ? await differs(mr)() : expected;
    expect(await told(who, 'PUT', `${mr}/merge`, json)).toEqual(wanted);
  });
  test('one that is not there, or hidden', async () => {
    const path = await project();
    const absent = [404, { message: '404 Not found' }];
    expect(await told('maintainer', 'PUT', `${path}/merge_requests/77/merge`)).toEqual(absent);
    await ok('owner', 'PUT', path, { visibility: 'private' });
    const hidden = [404, { message: '404 Project Not Found' }];
    expect(await told('stranger', 'PUT', `${path}/merge_requests/77/merge`)).toEqual(hidden);
  });
});

test('rebasing, canceling and trying out', async () => {
  const path = await project();
  const mr = await propose(path, 'topic');
  const rebase = (who: Who) => told(who, 'PUT', `${mr}/rebase`);
  const cancel = (who: Who) => told(who, 'POST', `${mr}/cancel_merge_when_pipeline_succeeds`);
  expect(await rebase('reporter')).toEqual([
    403,
    { message: '403 Forbidden - Cannot push to source branch' },
  ]);
  expect(await cancel('developer')).toEqual(UNAUTHORIZED);
  expect(await cancel('maintainer')).toEqual([406, { message: '406 Not Acceptable' }]);
  expect(await told('reporter', 'PUT', `${path}/merge_requests/77/rebase`)).toEqual([
    404,
    { message: '404 Not found' },
  ]);
  await ok('owner', 'PUT', mr, { state_event: 'close' });
  expect(await rebase('developer')).toEqual(NOT_ALLOWED);
  expect(await told('reporter', 'GET', `${mr}/merge_ref`)).toEqual([
    400,
    { message: 'Merge request is not mergeable' },
  ]);
  await ok('owner', 'DELETE', `${path}/repository/branches/topic`);
  expect(await rebase('developer')).toEqual([
    403,
    { message: '403 Forbidden - Source branch does not exist' },
  ]);
  expect(await told('owner', 'PUT', mr, { state_event: 'reopen' })).toEqual([
    422,
    { message: ['Source branch "topic" does not exist'] },
  ]);
});

test('a rebase is refused while another is under way', async () => {
  const path = await project();
  const mr = await propose(path, 'topic');
  const { iid, project_id: projectId } = await ok('owner', 'GET', mr);
  const { mergeRequests } = world.store;
  const around = { rootId: 1, labelTitles: new Map<number, string>() };
  const record = (await mergeRequests.get({ projectId, iid }))!;
  const rebase = { id: 'x', at: new Date().toISOString(), userId: world.ids['owner']! };
  await mergeRequests.update(record, { rebase }, around);
  expect(await told('owner', 'PUT', `${mr}/rebase`)).toEqual([
    409,
    {
      message:
        'Failed to enqueue the rebase operation, possibly due to a long-lived transaction. Try again later.',
    },
  ]);
  expect(await told('owner', 'PUT', `${mr}/merge`)).toEqual(UNMERGEABLE);
  const { rebase_in_progress } = await ok('owner', 'GET', `${mr}?include_rebase_in_progress=true`);
  expect(rebase_in_progress).toBe(true);
});

test('changing and deleting', async () => {
  const path = await project();
  const mr = await propose(path, 'topic');
  for (const [who, json, expected] of [
    ['developer', { title: '' }, [400, { error: 'title is empty' }]],
    ['developer', { title: null }, [400, { error: 'title is empty' }]],
    ['developer', { target_branch: '' }, [400, { error: 'target_branch is empty' }]],
    ['developer', { target_branch: 'none' }, [400, { message: { target_branch: ['does not exist'] } }]],
    [
      'developer',
      { target_branch: 'topic' },
      [422, { message: ["You can't use same project/branch for source and target"] }],
    ],
    ['reporter', { title: 'Mine' }, [403, { message: '403 Forbidden' }]],
    ['stranger', { title: 'Mine' }, [403, { message: '403 Forbidden' }]],
  ] as const)
    expect(await told(who, 'PUT', mr, json), JSON.stringify(json)).toEqual(expected);
  const { status, body } = await as('developer', 'PUT', mr, {});
  expect([status, body.error]).toEqual([
    400,
    expect.stringContaining('at least one parameter must be provided'),
  ]);
  expect(await told('maintainer', 'DELETE', mr)).toEqual([403, { message: '403 Forbidden' }]);
  expect(await told('owner', 'DELETE', mr)).toEqual([204, undefined]);
  expect(await told('owner', 'DELETE', mr)).toEqual([404, { message: '404 Not found' }]);
});
