/** Rate limits of single actions: the configured number, who is counted, and the answer beyond it. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { apiDeps } from '../../../lib/api/endpoint.ts';
import { type Service, startService } from '../../harness/service.ts';
import { changeSettings } from '../../harness/settings.ts';

let service: Service;
let project: number;
let other: number;
let sha: string;
let blob: string;
let large: string;
/** A little after a window of every length began. */
let clock = Math.floor(Date.now() / 3_600_000) * 3_600_000 + 5_000;
const pool: { id: number; username: string; token: string }[] = [];
const nextUser = () => pool.pop()!;

const REFUSAL = {
  message: { error: 'This endpoint has been requested too many times. Try again later.' },
};

beforeAll(async () => {
  service = await startService({ background: false });
  const token = service.rootToken;
  for (let n = 0; n < 20; n++) pool.push(await service.user(`somebody${n}`));
  const make = async (name: string) => {
    const made = await service.call('POST', '/projects', { token, json: { name, visibility: 'public' } });
    const write = await service.call('POST', `/projects/${made.body.id}/repository/commits`, {
      token,
      json: {
        branch: 'main',
        commit_message: 'files',
        actions: [
          { action: 'create', file_path: 'a.txt', content: name },
          { action: 'create', file_path: 'b.txt', content: 'b' },
          {
            action: 'create',
            file_path: 'large.bin',
            encoding: 'base64',
            content: Buffer.alloc(10 * 1024 ** 2 + 1, name).toString('base64'),
          },
          {
            action: 'create',
            file_path: 'not-large.bin',
            encoding: 'base64',
            content: Buffer.alloc(10 * 1024 ** 2, name).toString('base64'),
          },
        ],
      },
    });
    expect(write.status, JSON.stringify(write.body)).toBe(201);
    return { id: made.body.id as number, sha: write.body.id as string };
  };
  ({ id: project, sha } = await make('one'));
  ({ id: other } = await make('other'));
  const tree = await service.call('GET', `/projects/${project}/repository/tree`, { token });
  const idOf = (path: string) => tree.body.find((entry: { path: string }) => entry.path === path).id;
  [blob, large] = [idOf('a.txt'), idOf('large.bin')];
  Object.assign(deps(), apiDeps({ ...deps(), now: () => new Date(clock) }));
});
afterAll(() => service.stop());
afterEach(() =>
  changeSettings(service, {
    raw_blob_request_limit: 300,
    notes_create_limit: 300,
    notes_create_limit_allowlist: '',
    users_get_by_id_limit: 300,
    users_get_by_id_limit_allowlist: '',
    search_rate_limit: 30,
    project_import_limit: 6,
  }),
);

interface Action {
  readonly setting: string;
  readonly seconds: number;
  readonly status: number;
  /** A fresh subject each time it is called. */
  readonly asked: () => () => Promise<{ status: number; body: unknown }>;
}
const get = (path: string, token?: string) => service.call('GET', path, token === undefined ? {} : { token });
let files = 0;

const ACTIONS: Readonly<Record<string, Action>> = {
  'a note on a commit, per user': {
    setting: 'notes_create_limit',
    seconds: 60,
    status: 201,
    asked: () => {
      const { token } = nextUser();
      return () =>
        service.call('POST', `/projects/${project}/repository/commits/${sha}/comments`, {
          token,
          json: { note: 'said' },
        });
    },
  },
  'a user by id, per caller': {
    setting: 'users_get_by_id_limit',
    seconds: 600,
    status: 200,
    asked: () => {
      const { token } = nextUser();
      return () => get('/users/1', token);
    },
  },
  'a search, per user': {
    setting: 'search_rate_limit',
    seconds: 60,
    status: 200,
    asked: () => {
      const { token } = nextUser();
      return () => get('/search?scope=projects&search=one', token);
    },
  },
  'an import, per user': {
    setting: 'project_import_limit',
    seconds: 60,
    status: 201,
    asked: () => {
      const { token } = nextUser();
      return () =>
        service.call('POST', '/projects', {
          token,
          json: { name: `imported${++files}`, import_url: 'https://example.com/a/b.git' },
        });
    },
  },
  'a raw file, per project and path': {
    setting: 'raw_blob_request_limit',
    seconds: 60,
    status: 200,
    asked: () => {
      const path = ['a.txt', 'b.txt', 'not-large.bin'][files++ % 3]!;
      const id = [project, other][Math.floor((files - 1) / 3) % 2]!;
      return () => get(`/projects/${id}/repository/files/${path}/raw?ref=main`);
    },
  },
  'a raw blob, per project and blob': {
    setting: 'raw_blob_request_limit',
    seconds: 60,
    status: 200,
    asked: () => {
      clock += 60_000;
      return () => get(`/projects/${project}/repository/blobs/${blob}/raw`);
    },
  },
};

describe.each(Object.keys(ACTIONS))('the rate limit of the action %s', (name) => {
  const { setting, seconds, status, asked } = ACTIONS[name]!;
  const statuses = async (times: number, ask: () => Promise<{ status: number }>) => {
    const found: number[] = [];
    for (let n = 0; n < times; n++) found.push((await ask()).status);
    return found;
  };

  test('admits the configured number in a window, and again in the next', async () => {
    await changeSettings(service, { [setting]: 2 });
    const [ask, elsewhere] = [asked(), name.startsWith('a raw blob') ? undefined : asked()];
    expect(await statuses(2, ask)).toEqual([status, status]);
    const { status: refused, body } = await ask();
    expect([refused, body]).toEqual([429, REFUSAL]);
    if (elsewhere !== undefined) expect((await elsewhere()).status).toBe(status);
    clock += seconds * 1000;
    expect(await statuses(3, ask)).toEqual([status, status, 429]);
  });

  test('is off at zero', async () => {
    await changeSettings(service, { [setting]: 0 });
    expect(await statuses(4, asked())).toEqual([status, status, status, status]);
  });

  test('admits exactly the limit of simultaneous requests', async () => {
    await changeSettings(service, { [setting]: 3 });
    clock += seconds * 1000;
    const ask = asked();
    const found = await Promise.all(Array.from({ length: 12 }, () => ask().then(({ status }) => status)));
    expect(found.filter((each) => each === status)).toHaveLength(3);
    expect(found.filter((each) => each === 429)).toHaveLength(9);
  });
});

describe('the rate limit on looking up users exempts', () => {
  test.each([
    ['users_get_by_id_limit', 'a user by id, per caller'],
    ['notes_create_limit', 'a note on a commit, per user'],
  ])('users on the allow list of %s', async (setting, action) => {
    const spared = pool.at(-1)!;
    await changeSettings(service, {
      [setting]: 1,
      [`${setting}_allowlist`]: [spared.username.toUpperCase(), 'nobody'],
    });
    const { status, asked } = ACTIONS[action]!;
    const [ask, others] = [asked(), asked()];
    expect([await ask(), await ask(), await ask()].map((answer) => answer.status)).toEqual([
      status,
      status,
      status,
    ]);
    expect([await others(), await others()].map((answer) => answer.status)).toEqual([status, 429]);
  });

  test('administrators', async () => {
    await changeSettings(service, { users_get_by_id_limit: 1 });
    for (let n = 0; n < 3; n++) expect((await get('/users/1', service.rootToken)).status).toBe(200);
    // Who may not look is told so, and not counted.
    for (let n = 0; n < 3; n++) expect((await get('/users/1')).status).toBe(403);
  });
});

describe('the rate limit on blobs above 10 MB', () => {
  test('admits five a minute per project over all blobs and callers; smaller blobs are unlimited', async () => {
    clock += 60_000;
    const of = (id: number, sha: string) => get(`/projects/${id}/repository/blobs/${sha}`);
    const tree = await get(`/projects/${other}/repository/tree`);
    const elsewhere = tree.body.find((entry: { path: string }) => entry.path === 'large.bin').id;
    for (let n = 0; n < 5; n++)
      expect((await get(`/projects/${project}/repository/blobs/${large}${n % 2 ? '/raw' : ''}`)).status).toBe(
        200,
      );
    for (const suffix of ['', '/raw']) {
      const { status, body } = await get(`/projects/${project}/repository/blobs/${large}${suffix}`);
      expect([status, body]).toEqual([429, REFUSAL]);
    }
    expect((await of(other, elsewhere)).status).toBe(200);
    const own = await get(`/projects/${project}/repository/tree`);
    const notLarge = own.body.find((entry: { path: string }) => entry.path === 'not-large.bin').id;
    expect((await of(project, notLarge)).status).toBe(200);
    expect((await of(project, blob)).status).toBe(200);
  });
});
