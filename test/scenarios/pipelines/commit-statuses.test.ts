import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { type Scenario, scenarios } from '../../harness/scenarios.ts';
import { expectSchema } from '../../harness/schemas.ts';
import type { Answer } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';
import { ask, type Who } from '../../harness/world.ts';
import { codeWrites, READERS, seedCode, VISIBILITIES } from '../repository/code-audience.ts';
import { piped } from './piped.ts';

const { service, world } = ownWorld();
beforeAll(async () => {
  await seedCode(world);
});

let projects = 0;
interface Made {
  readonly id: number;
  readonly sha: string;
  report(who: Who, json: object, sha?: string): Promise<Answer>;
  list(query?: string, who?: Who): Promise<Answer>;
  commit(who?: Who): Promise<Answer>;
}
/** A public project of the owner's with one commit on `main` and `work`, the maintainer and the developer in it. */
async function project(more: object = {}): Promise<Made> {
  const json = { name: `of statuses ${projects++}`, visibility: 'public', ...more };
  const { id } = (await ask(world, 'owner', 'POST', '/projects', json)).body;
  for (const [who, access_level] of [
    ['maintainer', 40],
    ['developer', 30],
    ['reporter', 20],
  ] as const)
    await ask(world, 'owner', 'POST', `/projects/${id}/members`, { user_id: world.ids[who], access_level });
  const sha = await commitTo(id, 'main', 'a');
  await ask(world, 'owner', 'POST', `/projects/${id}/repository/branches`, { branch: 'work', ref: 'main' });
  return {
    id,
    sha,
    report: (who, body, of = sha) => ask(world, who, 'POST', `/projects/${id}/statuses/${of}`, body),
    list: (query = '', who = 'reporter') =>
      ask(world, who, 'GET', `/projects/${id}/repository/commits/${sha}/statuses${query}`),
    commit: (who = 'reporter') => ask(world, who, 'GET', `/projects/${id}/repository/commits/${sha}`),
  };
}
async function commitTo(id: number, branch: string, file: string, more: object = {}): Promise<string> {
  const { body } = await ask(world, 'owner', 'POST', `/projects/${id}/repository/commits`, {
    branch,
    commit_message: file,
    actions: [{ action: 'create', file_path: file, content: file }],
    ...more,
  });
  return body.id;
}

const refusal = (event: string, from: string) =>
  `Cannot transition status via :${event} from :${from} (Reason(s): Status cannot transition via "${event}")`;
const ids = ({ body }: Answer) => body.map(({ id }: { id: number }) => id);

describe('permission on commit statuses', () => {
  const readers = VISIBILITIES.map(
    (visibility): Scenario => ({
      request: `GET /projects/{${visibility}}/repository/commits/main/statuses`,
      as: { ...READERS[visibility], anonymous: 401, read_api: 200, read_user: 403, read_repository: 403 },
      hides: visibility === 'private' ? ['sesame'] : [],
    }),
  );
  scenarios(
    () => world,
    [
      ...codeWrites('POST', '/statuses/main', { state: 'success', description: 'sesame' }, { status: 201 }),
      ...readers,
      // The default branch is protected: what it came to is told by those who may change it.
      {
        request: 'POST /projects/{public}/statuses/main',
        json: { state: 'success', ref: 'main' },
        as: { developer: 403, maintainer: 201 },
      },
    ],
  );

  test('are for members only where builds are private', async () => {
    for (const setting of [{ builds_access_level: 'private' }, { public_builds: false }]) {
      const made = await project(setting);
      expect((await made.report('developer', { state: 'success', ref: 'work' })).status).toBe(201);
      for (const [who, status] of [
        ['stranger', 403],
        ['reporter', 200],
      ] as const) {
        const last = status === 200 ? { status: 'success' } : null;
        expect((await made.list('', who)).status).toBe(status);
        const { body } = await made.commit(who);
        expect([who, body.status]).toEqual([who, last === null ? null : 'success']);
        if (last === null) expect(body.last_pipeline).toBeNull();
        else expect(body.last_pipeline).toMatchObject(last);
      }
    }
    const off = await project({ builds_access_level: 'disabled' });
    expect((await off.report('owner', { state: 'success' })).status).toBe(403);
    expect((await off.list('', 'owner')).status).toBe(403);
  });
});

describe('a report of a commit status', () => {
  test('creates the status, and a pipeline on the first branch', async () => {
    const made = await project();
    expect((await made.commit()).body).toMatchObject({ status: null, last_pipeline: null });
    expect((await made.list()).body).toEqual([]);
    const { status, body } = await made.report('maintainer', { state: 'pending' });
    expect(status).toBe(201);
    const author = (await ask(world, 'maintainer', 'GET', `/users/${world.ids['maintainer']}`)).body;
    expect(body).toEqual({
      id: expect.any(Number),
      sha: made.sha,
      ref: 'main',
      status: 'pending',
      name: 'default',
      target_url: null,
      description: null,
      created_at: expect.any(String),
      started_at: null,
      finished_at: null,
      allow_failure: false,
      coverage: null,
      author: {
        id: author.id,
        username: 'maintainer',
        name: author.name,
        state: 'active',
        avatar_url: null,
        web_url: `${service.url}/maintainer`,
      },
    });
    const commit = (await made.commit()).body;
    expectSchema('commit/detail', commit);
    expect(commit.status).toBe('pending');
    expect(commit.last_pipeline).toEqual({
      id: expect.any(Number),
      iid: 1,
      project_id: made.id,
      sha: made.sha,
      ref: 'main',
      status: 'pending',
      source: 'external',
      created_at: expect.any(String),
      updated_at: expect.any(String),
      web_url: expect.stringMatching(/\/-\/pipelines\/\d+$/),
    });
  });

  test('accepts every field; a later report adds to it', async () => {
    const made = await project();
    const all = {
      state: 'running',
      ref: 'work',
      context: 'coverage',
      description: 'under way',
      coverage: 10.5,
      target_url: 'https://ci.example.com/1',
    };
    const first = (await made.report('developer', all)).body;
    expect(first).toMatchObject({
      ref: 'work',
      name: 'coverage',
      status: 'running',
      description: 'under way',
      coverage: 10.5,
      target_url: 'https://ci.example.com/1',
      started_at: expect.any(String),
      finished_at: null,
    });
    const second = (
      await made.report('developer', {
        state: 'success',
        name: 'coverage',
        context: 'x',
        ref: 'work',
        coverage: '90',
      })
    ).body;
    expect(second).toEqual({ ...first, status: 'success', coverage: 90, finished_at: expect.any(String) });
    expect((await made.list()).body).toEqual([second]);
    // An ended one is replaced, and by nothing of it.
    const third = (await made.report('developer', { state: 'failed', name: 'coverage', ref: 'work' })).body;
    expect(third).toMatchObject({ coverage: null, description: null, started_at: null });
    expect(third.id).toBeGreaterThan(first.id);
    expect(ids(await made.list())).toEqual([third.id]);
    expect(ids(await made.list('?all=true'))).toEqual([first.id, third.id]);
    expect((await made.commit()).body.last_pipeline).toMatchObject({ ref: 'work', status: 'failed', iid: 1 });
  });

  test('has a coverage of any size that the table holds', async () => {
    const made = await project();
    const report = async (coverage: unknown) => {
      const { status, body } = await made.report('owner', { state: 'success', coverage });
      return [status, body.coverage ?? body.error];
    };
    for (const large of ['99999999999999999999999', '1e300', -1e300])
      expect(await report(large)).toEqual([400, 'coverage is invalid']);
    expect(await report('1e-300')).toEqual([201, 0]);
    expect(await report(-9007199254740991)).toEqual([201, -9007199254740991]);
  });

  test('by another user replaces one that is under way', async () => {
    const made = await project();
    const first = (await made.report('maintainer', { state: 'running' })).body;
    const second = (await made.report('owner', { state: 'running' })).body;
    expect(second.id).not.toBe(first.id);
    expect(ids(await made.list())).toEqual([second.id]);
    expect((await made.report('owner', { state: 'success' })).body.id).toBe(second.id);
    // A status that another replaced cannot be changed any more.
    expect((await made.report('maintainer', { state: 'success' })).body.id).toBeGreaterThan(second.id);
    expect((await made.commit()).body.status).toBe('success');
  });
});

describe('the state', () => {
  const STATES = ['pending', 'running', 'success', 'failed', 'canceled'] as const;
  test('of a status follows the permitted transitions, for every pair of states', async () => {
    const made = await project();
    for (const from of STATES)
      for (const to of STATES) {
        const name = `${from} ${to}`;
        const first = await made.report('owner', { state: from, name });
        const before = (await made.list(`?name=${encodeURIComponent(name)}`)).body;
        const then = await made.report('owner', { state: to, name, description: 'then' });
        const event = to === 'pending' ? 'enqueue' : 'run';
        const stuck =
          (from === 'pending' && to === 'pending') ||
          (from === 'running' && ['pending', 'running'].includes(to));
        if (stuck) {
          expect([name, then.status, then.body]).toEqual([name, 400, { message: refusal(event, from) }]);
          expect((await made.list(`?name=${encodeURIComponent(name)}`)).body).toEqual(before);
        } else {
          expect([name, then.status, then.body.status]).toEqual([name, 201, to]);
          expect(then.body.id === first.body.id).toBe(from === 'pending' || from === 'running');
        }
      }
  });

  /** What a pipeline comes to, as the product's documentation of statuses has it. */
  function whole(states: readonly string[]): string | null {
    const only = (...some: string[]) => states.every((state) => some.includes(state));
    if (states.length === 0) return null;
    if (only('success')) return 'success';
    if (only('canceled', 'success')) return 'canceled';
    if (only('pending')) return 'pending';
    if (states.some((state) => state === 'running' || state === 'pending')) return 'running';
    return 'failed';
  }
  test('of a pipeline follows from its statuses after any sequence of reports', async () => {
    const report = fc.record({
      state: fc.constantFrom(...STATES),
      name: fc.constantFrom('a', 'b', 'c'),
      who: fc.constantFrom('owner' as const, 'maintainer' as const),
    });
    for (const reports of fc.sample(fc.array(report, { minLength: 6, maxLength: 9 }), {
      seed: 7,
      numRuns: 3,
    })) {
      const made = await project();
      for (const { who, ...json } of reports) {
        await made.report(who, json);
        const listed = (await made.list()).body as { name: string; status: string }[];
        expect(new Set(listed.map(({ name }) => name)).size).toBe(listed.length);
        const { status, last_pipeline } = (await made.commit()).body;
        expect([status, last_pipeline.iid]).toEqual([whole(listed.map((one) => one.status)), 1]);
      }
    }
  });
});

describe('pipelines of commit statuses', () => {
  test('are one per ref; reports without a ref go to the newest', async () => {
    const made = await project();
    const main = (await made.report('owner', { state: 'success', ref: 'main' })).body;
    const tag = (await made.report('owner', { state: 'failed', ref: 'v9' })).body;
    const next = (await made.report('owner', { state: 'running', name: 'next' })).body;
    expect([main.ref, tag.ref, next.ref]).toEqual(['main', 'v9', 'v9']);
    const { last_pipeline } = (await made.commit()).body;
    expect(last_pipeline).toMatchObject({ ref: 'v9', iid: 2, status: 'running' });
    const again = (await made.report('owner', { state: 'pending', ref: 'main' })).body;
    expect(again.id).not.toBe(main.id);
    // The newest by its making.
    expect((await made.commit()).body.last_pipeline).toMatchObject({ id: last_pipeline.id });
    const of = (more: object) => made.report('owner', { state: 'success', name: 'by id', ...more });
    expect((await of({ pipeline_id: last_pipeline.id })).body.ref).toBe('v9');
    const missing = { message: '404 Pipeline for pipeline_id, sha and ref Not Found' };
    for (const more of [
      { pipeline_id: last_pipeline.id, ref: 'main' },
      { pipeline_id: 999_999 },
      { pipeline_id: -1 },
    ]) {
      const answer = await of(more);
      expect([answer.status, answer.body]).toEqual([404, missing]);
    }
    const other = await commitTo(made.id, 'work', 'b');
    const elsewhere = await made.report('owner', { state: 'success', pipeline_id: last_pipeline.id }, other);
    expect([elsewhere.status, elsewhere.body]).toEqual([404, missing]);
    expect((await made.report('owner', { state: 'success' }, other)).body.ref).toBe('work');
  });

  test('exist for commits that no branch contains', async () => {
    const made = await project();
    const sha = await commitTo(made.id, 'brief', 'b', { start_branch: 'main' });
    await ask(world, 'owner', 'DELETE', `/projects/${made.id}/repository/branches/brief`);
    const lost = await made.report('owner', { state: 'success' }, sha);
    expect([lost.status, lost.body]).toEqual([404, { message: '404 References for commit Not Found' }]);
    expect((await made.report('owner', { state: 'success', ref: 'brief' }, sha)).status).toBe(201);
    // From now on it needs none.
    const { repositoryId } = (await world.store.projects.get(made.id))!;
    expect((await world.store.pinnedCommits.snapshot(repositoryId, [sha as never])).unpinned).toEqual([]);
  });
});

test('have their statuses listed with filters, order and pages', async () => {
  const made = await project();
  const all: { id: number; name: string; ref: string }[] = [];
  for (const [name, ref] of [
    ['a', 'main'],
    ['b', 'main'],
    ['a', 'work'],
    ['a', 'main'],
    ['é/c', 'work'],
    ['b', 'main'],
    ['a', 'main'],
  ])
    all.push((await made.report('owner', { state: 'success', name, ref })).body);
  const at = (...places: number[]) => places.map((place) => all[place]!.id);
  for (const [query, expected] of [
    ['', at(2, 4, 5, 6)],
    ['?all=1', at(0, 1, 2, 3, 4, 5, 6)],
    ['?ref=main', at(5, 6)],
    ['?ref=main&all=true', at(0, 1, 3, 5, 6)],
    ['?ref=', at(2, 4, 5, 6)],
    ['?name=a', at(2, 6)],
    ['?name=a&ref=work', at(2)],
    [`?name=${encodeURIComponent('é/c')}`, at(4)],
    ['?name=A', []],
    ['?stage=external', at(2, 4, 5, 6)],
    ['?stage=test', []],
    ['?per_page=3', at(2, 4, 5)],
    ['?per_page=3&page=2', at(6)],
    ['?per_page=3&page=3', []],
    ['?all=true&per_page=3&page=2', at(3, 4, 5)],
    ['?name=a&all=true&per_page=2&page=2', at(3, 6)],
  ] as const) {
    const answer = await made.list(query);
    expect([query, answer.status, ids(answer)]).toEqual([query, 200, expected]);
  }
  for (const [query, total] of [
    ['', '4'],
    ['?all=true&per_page=2', '7'],
    ['?name=a&all=true&per_page=1', '4'],
  ])
    expect((await made.list(query)).headers.get('x-total')).toBe(total);
  const bad = await made.list('?all=perhaps');
  expect([bad.status, bad.body]).toEqual([400, { error: 'all is invalid' }]);
  const none = await ask(world, 'owner', 'GET', `/projects/${made.id}/repository/commits/nope/statuses`);
  expect([none.status, none.body]).toEqual([404, { message: '404 Commit Not Found' }]);
});

describe('invalid commit statuses', () => {
  let made: Made;
  beforeAll(async () => {
    made = await project();
  });
  const scheme = ['is blocked: Only allowed schemes are http, https'];
  const long = ['is too long (maximum is 255 characters)'];
  test.each<[string, object, number, object]>([
    ['no state', {}, 400, { error: 'state is missing' }],
    ['a state that is none', { state: 'skipped' }, 400, { error: 'state does not have a valid value' }],
    ['coverage', { state: 'success', coverage: 'most' }, 400, { error: 'coverage is invalid' }],
    ['pipeline', { state: 'success', pipeline_id: 'x' }, 400, { error: 'pipeline_id is invalid' }],
    ['no address', { state: 'success', target_url: 'invalid url' }, 400, { message: { target_url: scheme } }],
    [
      'a scheme',
      { state: 'success', target_url: 'javascript://x/%0aalert(1)' },
      400,
      { message: { target_url: scheme } },
    ],
    [
      'lengths',
      {
        state: 'success',
        name: 'n'.repeat(256),
        ref: 'r'.repeat(256),
        description: 'd'.repeat(256),
        target_url: `http://x/${'t'.repeat(250)}`,
      },
      400,
      { message: { name: long, ref: long, description: long, target_url: long } },
    ],
    [
      'blanks',
      { state: 'success', name: '', ref: ' ' },
      400,
      { message: { name: ["can't be blank"], ref: ["can't be blank"] } },
    ],
    ['NUL', { state: 'success', name: 'a\0' }, 400, { error: 'name is invalid' }],
  ])('are refused: %s', async (_, json, status, body) => {
    const answer = await made.report('owner', json);
    expect([answer.status, answer.body]).toEqual([status, body]);
    expect((await made.list()).body).toEqual([]);
  });

  test('do not include names, descriptions and refs of the maximum length', async () => {
    const text = '😀'.repeat(255);
    const { status, body } = await made.report('owner', {
      state: 'success',
      name: text,
      description: text,
      ref: text,
    });
    expect([status, body.name, body.ref]).toEqual([201, text, text]);
  });

  test('on an absent commit are 404', async () => {
    for (const sha of ['nope', '0'.repeat(40)]) {
      const answer = await made.report('owner', { state: 'success' }, sha);
      expect([answer.status, answer.body]).toEqual([404, { message: '404 Commit Not Found' }]);
    }
  });
});

describe('simultaneous commit statuses', () => {
  test('of one name: one is created, the others get an error', async () => {
    const made = await project();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => made.report('owner', { state: 'running', name: 'one' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(400)]);
    expect((await made.list('?all=true')).body.length).toBe(1);
  });

  test('of different names join one pipeline', async () => {
    const made = await project();
    const people = ['owner', 'maintainer', 'administrator'] as const;
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        made.report(people[i % 3]!, { state: i === 7 ? 'failed' : 'success', name: `n${i % 6} ${i % 3}` }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect((await made.list('?all=true')).body.length).toBe(12);
    const listed = (await made.list()).body as { status: string }[];
    const { last_pipeline } = (await made.commit()).body;
    expect(last_pipeline.iid).toBe(1);
    expect(last_pipeline.status).toBe(
      listed.some(({ status }) => status === 'failed') ? 'failed' : 'success',
    );
  });
});

test('commit statuses are deleted with their project', async () => {
  const made = await project();
  await made.report('owner', { state: 'success' });
  await ask(world, 'owner', 'DELETE', `/projects/${made.id}`);
  const left = () => world.store.pipelines.newest(made.id, made.sha);
  await expect.poll(left).toBeUndefined();
});

describe('jobs of the commit', () => {
  const CONFIG = `
    stages: [build, test]
    make: { stage: build, script: [x] }
    check: { stage: test, script: [x], allow_failure: true }`;

  test('are listed among the statuses that were reported, by id and through the filters', async () => {
    const made = await piped(world, CONFIG);
    const list = async (query = '') =>
      (await made.call('GET', `/repository/commits/${made.sha}/statuses${query}`)).body;
    const names = async (query = '') => (await list(query)).map(({ name }: { name: string }) => name);
    await made.call('POST', `/statuses/${made.sha}`, { state: 'success', name: 'outside', ref: 'main' });
    expect(await names()).toEqual(['make', 'check', 'outside']);
    const [make, check] = await list();
    expect(make).toMatchObject({
      sha: made.sha,
      ref: 'main',
      status: 'pending',
      target_url: expect.stringMatching(new RegExp(`/-/jobs/${make.id}$`)),
      description: null,
      allow_failure: false,
      author: { username: 'owner' },
    });
    expect(check).toMatchObject({ status: 'created', allow_failure: true });
    expect(await names('?stage=build')).toEqual(['make']);
    expect(await names('?stage=external')).toEqual(['outside']);
    expect(await names('?name=check')).toEqual(['check']);
    expect(await names('?ref=main')).toEqual(['make', 'check', 'outside']);
    expect(await names('?ref=other')).toEqual([]);
    const second = await made.call('GET', `/repository/commits/${made.sha}/statuses?per_page=2&page=2`);
    expect(second.body.map(({ name }: { name: string }) => name)).toEqual(['outside']);
    expect(second.headers.get('x-total')).toBe('3');
  });

  test('are listed once, and with all those that were repeated on demand', async () => {
    const made = await piped(world, CONFIG);
    const [{ id: pipeline }] = await made.pipelines();
    await made.end(pipeline, 'make', 'failed');
    await made.call('POST', `/pipelines/${pipeline}/retry`);
    await settled();
    const statuses = async (query = '') =>
      (await made.call('GET', `/repository/commits/${made.sha}/statuses${query}`)).body.map(
        ({ name, status }: Record<string, string>) => `${name} ${status}`,
      );
    expect(await statuses()).toEqual(['check created', 'make pending']);
    expect(await statuses('?all=true')).toEqual(['make failed', 'check created', 'make pending']);
  });
});
