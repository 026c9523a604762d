/**
 * Throttles of the settings, against the functions themselves: requests come from whatever address a row says, which
 * behind the gateway is the one that the gateway saw.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { fetch as files } from '../../../functions/files.ts';
import { fetch as git } from '../../../functions/git.ts';
import { fetch as groups } from '../../../functions/groups.ts';
import { fetch as issues } from '../../../functions/issues.ts';
import { fetch as keys } from '../../../functions/keys.ts';
import { fetch as meta } from '../../../functions/meta.ts';
import { fetch as projects } from '../../../functions/projects.ts';
import { fetch as search } from '../../../functions/search.ts';
import { fetch as users } from '../../../functions/users.ts';
import { apiDeps } from '../../../lib/api/endpoint.ts';
import type { Fetch } from '../../../lib/http/function.ts';
import { RoundTrips } from '../../harness/round-trips.ts';
import { type Service, startService } from '../../harness/service.ts';
import { changeSettings } from '../../harness/settings.ts';

let service: Service;
let trips: RoundTrips;
let open: number;
let group: number;
/** Ten minutes after a full hour, so that no window turns by itself. */
const start = Math.floor(Date.now() / 3_600_000) * 3_600_000 + 600_000;
let clock = start;

beforeAll(async () => {
  service = await startService({ background: false });
  const owner = await service.user('owner');
  const made = await service.call('POST', '/projects', {
    token: owner.token,
    json: { name: 'open', visibility: 'public', initialize_with_readme: true },
  });
  open = made.body.id;
  const grouped = await service.call('POST', '/groups', {
    token: owner.token,
    json: { name: 'open', path: 'open-group', visibility: 'public' },
  });
  group = grouped.body.id;
  for (let n = 0; n < 40; n++) pool.push(await service.user(`somebody${n}`));
  trips = RoundTrips.of(service.host);
  Object.assign(deps(), apiDeps({ ...deps(), now: () => new Date(clock) }));
});
afterAll(() => service.stop());
beforeEach(() => {
  clock = start;
});
afterEach(async () => {
  service.host.dynamo.faults.clear();
  await changeSettings(service, {
    ...Object.fromEntries(THROTTLES.map((name) => [`throttle_${name}_enabled`, false])),
    rate_limiting_response_text: '',
  });
});

const THROTTLES = [
  ...['unauthenticated', 'authenticated'].flatMap((who) =>
    ['api', 'files_api', 'packages_api', 'deprecated_api'].map((kind) => `${who}_${kind}`),
  ),
  ...['unauthenticated', 'authenticated_web', 'authenticated_git_lfs', 'protected_paths'],
];
const enable = (names: readonly string[], limit = 2, seconds = 3600) =>
  changeSettings(
    service,
    Object.fromEntries(
      names.flatMap((name) => [
        [`throttle_${name}_enabled`, true],
        [`throttle_${name}_requests_per_period`, limit],
        [`throttle_${name}_period_in_seconds`, seconds],
      ]),
    ),
  );

interface Who {
  readonly token?: string;
  readonly address?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
}

let addresses = 0;
/** One that nobody had before. */
const address = () => `10.1.${++addresses >> 8}.${addresses & 255}`;
/** Created before any limit is on, since creating them is counted too. */
const pool: { id: number; username: string; token: string }[] = [];
const nextUser = () => pool.pop()!;

async function ask(area: Fetch, line: string, { token, address: from = address(), headers, json }: Who = {}) {
  const [method = 'GET', path = '/'] = line.split(' ');
  const response = await area(
    new Request(`${service.url}${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { 'PRIVATE-TOKEN': token }),
        ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    }),
    { sourceIp: from, baseUrl: service.url },
  );
  return { status: response.status, headers: response.headers, text: await response.text() };
}
const statuses = async (times: number, asking: () => Promise<{ status: number }>) => {
  const found: number[] = [];
  for (let n = 0; n < times; n++) found.push((await asking()).status);
  return found;
};

const basic = (token: string) => ({
  headers: { authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}` },
});

describe('each throttle covers its own requests and counts each subject separately', () => {
  type Row = readonly [
    name: string,
    setting: string,
    area: () => Fetch,
    line: () => string,
    status: number,
    other: readonly [area: () => Fetch, line: () => string],
  ];
  const one = () => `GET /api/v4/projects/${open}`;
  const file = () => `GET /api/v4/projects/${open}/repository/files/README.md?ref=main`;
  const whole = () => `GET /api/v4/groups/${group}`;
  const part = () => `GET /api/v4/groups/${group}?with_projects=false`;
  const refs = () => 'GET /owner/open.git/info/refs?service=git-upload-pack';
  const lfs = () => 'POST /owner/open.git/info/lfs/objects/batch';
  const packages = () => `GET /api/v4/projects/${open}/packages/generic/a`;

  const strangers: readonly Row[] = [
    ['unauthenticated_api', 'unauthenticated_api', () => projects, one, 200, [() => git, refs]],
    ['unauthenticated_files_api', 'unauthenticated_files_api', () => files, file, 200, [() => projects, one]],
    [
      'unauthenticated_deprecated_api',
      'unauthenticated_deprecated_api',
      () => groups,
      whole,
      200,
      [() => groups, part],
    ],
    [
      'unauthenticated_packages_api',
      'unauthenticated_packages_api',
      () => projects,
      packages,
      404,
      [() => projects, one],
    ],
    ['unauthenticated_web', 'unauthenticated', () => git, refs, 200, [() => projects, one]],
    ['unauthenticated_web', 'unauthenticated', () => meta, () => 'GET /', 200, [() => projects, one]],
    [
      'unauthenticated_protected_paths',
      'protected_paths',
      () => users,
      () => 'POST /users/password',
      422,
      [() => users, () => 'GET /users/password/edit'],
    ],
  ];
  test.each(strangers)('for %s by address', async (name, setting, area, line, status, [otherArea, other]) => {
    await enable([setting]);
    const from = address();
    expect(await statuses(2, () => ask(area(), line(), { address: from }))).not.toContain(429);
    const refused = await ask(area(), line(), { address: from });
    expect([refused.status, refused.headers.get('ratelimit-name')]).toEqual([429, `throttle_${name}`]);
    // Another address, another kind of request, and a signed-in user at the same address.
    expect((await ask(area(), line())).status).not.toBe(429);
    expect((await ask(otherArea(), other(), { address: from })).status).not.toBe(429);
    const { token } = nextUser();
    if (status !== 422) expect((await ask(area(), line(), { address: from, token })).status).toBe(status);
  });

  const signedIn: readonly Row[] = [
    ['authenticated_api', 'authenticated_api', () => projects, one, 200, [() => git, refs]],
    ['authenticated_files_api', 'authenticated_files_api', () => files, file, 200, [() => projects, one]],
    [
      'authenticated_deprecated_api',
      'authenticated_deprecated_api',
      () => groups,
      whole,
      200,
      [() => groups, part],
    ],
    [
      'authenticated_packages_api',
      'authenticated_packages_api',
      () => projects,
      packages,
      404,
      [() => projects, one],
    ],
    ['authenticated_web', 'authenticated_web', () => git, refs, 200, [() => projects, one]],
    ['authenticated_git_lfs', 'authenticated_git_lfs', () => git, lfs, 422, [() => git, refs]],
    [
      'authenticated_protected_paths_api',
      'protected_paths',
      () => users,
      () => 'POST /api/v4/session',
      404,
      [() => users, () => 'GET /api/v4/user'],
    ],
  ];
  test.each(signedIn)('for %s by user', async (name, setting, area, line, status, [otherArea, other]) => {
    await enable([setting]);
    const [ada, bob] = [nextUser(), nextUser()];
    const as = (token: string) => (area() === git ? basic(token) : { token });
    // Wherever they come from.
    expect(await statuses(2, () => ask(area(), line(), as(ada.token)))).toEqual([status, status]);
    const refused = await ask(area(), line(), as(ada.token));
    expect([refused.status, refused.headers.get('ratelimit-name')]).toEqual([429, `throttle_${name}`]);
    expect((await ask(area(), line(), as(bob.token))).status).toBe(status);
    const asOther = otherArea() === git ? basic(ada.token) : { token: ada.token };
    expect((await ask(otherArea(), other(), asOther)).status).not.toBe(429);
    if (setting !== 'protected_paths') expect((await ask(area(), line())).status).not.toBe(429);
  });
});

describe('the rate limit’s answer', () => {
  test('gives the limit and when to retry, only when the limit is exceeded', async () => {
    await enable(['unauthenticated_api'], 3, 3600);
    const from = address();
    const let_in = await ask(meta, 'GET /api/v4/projects', { address: from });
    for (const [name] of let_in.headers) expect(name).not.toMatch(/^ratelimit|^retry-after/);
    await statuses(2, () => ask(projects, 'GET /api/v4/projects', { address: from }));
    const refused = await ask(projects, 'GET /api/v4/projects', { address: from });
    const reset = start - 600_000 + 3_600_000;
    expect(refused.text).toBe('Retry later');
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      'content-type': 'text/plain',
      'ratelimit-limit': '1',
      'ratelimit-name': 'throttle_unauthenticated_api',
      'ratelimit-observed': '4',
      'ratelimit-remaining': '0',
      'ratelimit-reset': String(reset / 1000),
      'ratelimit-resettime': new Date(reset).toUTCString(),
      'retry-after': '3000',
    });
    const head = await ask(projects, 'HEAD /api/v4/projects', { address: from });
    expect([head.status, head.text, head.headers.get('retry-after')]).toEqual([429, '', '3000']);
  });

  test('has the text that the administrator configured', async () => {
    await enable(['unauthenticated_api'], 1);
    await changeSettings(service, { rate_limiting_response_text: 'Später wieder' });
    const from = address();
    const [, second] = [
      await ask(projects, 'GET /api/v4/projects', { address: from }),
      await ask(projects, 'GET /api/v4/projects', { address: from }),
    ];
    expect(second.text).toBe('Später wieder');
  });

  test('comes before any other error', async () => {
    await enable(['unauthenticated_api', 'authenticated_api'], 1);
    const from = address();
    const { token } = nextUser();
    for (const who of [{ address: from }, { token }]) {
      await ask(meta, 'GET /api/v4/nothing', who);
      for (const line of [
        'GET /api/v4/nothing',
        'GET /api/v4/projects/nobody%2Fnothing',
        'PATCH /api/v4/projects',
      ])
        expect([line, (await ask(projects, line, who)).status]).toEqual([line, 429]);
      expect((await ask(projects, 'POST /api/v4/projects', { ...who, json: { path: [] } })).status).toBe(429);
    }
  });

  test('ends with the window', async () => {
    await enable(['unauthenticated_api'], 1, 60);
    const from = address();
    const once = () => ask(projects, 'GET /api/v4/projects', { address: from });
    expect(await statuses(2, once)).toEqual([200, 429]);
    clock += 59_999;
    expect((await once()).status).toBe(429);
    clock += 1;
    expect(await statuses(2, once)).toEqual([200, 429]);
  });

  test('follows a change of the limit at once', async () => {
    await enable(['unauthenticated_api'], 1);
    const from = address();
    const once = () => ask(projects, 'GET /api/v4/projects', { address: from });
    expect(await statuses(5, once)).toEqual([200, 429, 429, 429, 429]);
    await enable(['unauthenticated_api'], 3);
    expect(await statuses(3, once)).toEqual([200, 200, 429]);
    await changeSettings(service, { throttle_unauthenticated_api_enabled: false });
    expect(await statuses(3, once)).toEqual([200, 200, 200]);
  });
});

describe('rate limits count', () => {
  test('a user’s requests over all areas and tokens together', async () => {
    const ada = nextUser();
    const made = await service.call('POST', `/users/${ada.id}/personal_access_tokens`, {
      token: service.rootToken,
      json: { name: 'second', scopes: ['api'] },
    });
    await enable(['authenticated_api'], 3);
    expect((await ask(users, 'GET /api/v4/user', { token: ada.token })).status).toBe(200);
    expect((await ask(projects, 'GET /api/v4/projects', { token: made.body.token })).status).toBe(200);
    expect((await ask(keys, 'GET /api/v4/user/keys', { token: ada.token })).status).toBe(200);
    expect((await ask(search, 'GET /api/v4/search?scope=users&search=a', { token: ada.token })).status).toBe(
      429,
    );
  });

  test('sudo requests for the administrator', async () => {
    const [ada, root] = [nextUser(), await service.user('root2', { admin: true })];
    const sudoer = await service.call('POST', `/users/${root.id}/personal_access_tokens`, {
      token: service.rootToken,
      json: { name: 'sudo', scopes: ['api', 'sudo'] },
    });
    await enable(['authenticated_api'], 2);
    const asAda = { token: sudoer.body.token, headers: { sudo: ada.username } };
    expect(await statuses(3, () => ask(users, 'GET /api/v4/user', asAda))).toEqual([200, 200, 429]);
    expect((await ask(users, 'GET /api/v4/user', { token: ada.token })).status).toBe(200);
  });

  test.each(['glpat-nobody-has-this-one', 'revoked', 'expired'])(
    'a bad credential as anonymous: %s',
    async (kind) => {
      let token = kind;
      if (kind !== 'glpat-nobody-has-this-one') {
        const ada = nextUser();
        token = ada.token;
        if (kind === 'revoked') await service.call('DELETE', '/personal_access_tokens/self', { token });
        else {
          const soon = new Date(start + 86_400_000).toISOString().slice(0, 10);
          const made = await service.call('POST', `/users/${ada.id}/personal_access_tokens`, {
            token: service.rootToken,
            json: { name: 'short', scopes: ['api'], expires_at: soon },
          });
          expect(made.status).toBe(201);
          token = made.body.token;
          clock += 3 * 86_400_000;
        }
      }
      await enable(['unauthenticated_api'], 2);
      const from = address();
      expect(await statuses(3, () => ask(users, 'GET /api/v4/user', { token, address: from }))).toEqual([
        401, 401, 429,
      ]);
      // A good one from there is not theirs to lose.
      const bob = nextUser();
      expect((await ask(users, 'GET /api/v4/user', { token: bob.token, address: from })).status).toBe(200);
    },
  );

  test.each([
    ['a route that is none', 'GET /api/v4/nothing'],
    ['parameters that are wrong', 'GET /api/v4/projects?per_page=x'],
    ['what only users are told', 'GET /api/v4/user'],
    ['a method that is none', 'PATCH /api/v4/projects'],
  ])('requests that fail before authentication: %s', async (_, line) => {
    await enable(['unauthenticated_api', 'authenticated_api'], 2);
    const from = address();
    expect((await statuses(3, () => ask(projects, line, { address: from })))[2]).toBe(429);
    const { token } = nextUser();
    if (!line.endsWith('/user'))
      expect((await statuses(3, () => ask(projects, line, { token })))[2]).toBe(429);
  });

  test('no CORS preflights', async () => {
    await enable(['unauthenticated_api'], 1);
    const from = address();
    const preflight = () => ask(projects, 'OPTIONS /api/v4/projects', { address: from });
    expect(await statuses(3, preflight)).toEqual([204, 204, 204]);
    expect((await ask(projects, 'GET /api/v4/projects', { address: from })).status).toBe(200);
  });

  test('an IPv6 network as one address, and ignore addresses that the caller claims', async () => {
    await enable(['unauthenticated_api'], 1);
    const from = (text: string) => ask(projects, 'GET /api/v4/projects', { address: text });
    expect((await from('2001:db8:7:1::1')).status).toBe(200);
    expect((await from('2001:db8:7:1:aaaa::2')).status).toBe(429);
    expect((await from('2001:db8:7:2::1')).status).toBe(200);
    const behind = address();
    const told = (other: string) => ({
      address: behind,
      headers: { 'x-forwarded-for': other, forwarded: other },
    });
    expect((await ask(projects, 'GET /api/v4/projects', told('1.2.3.4'))).status).toBe(200);
    expect((await ask(projects, 'GET /api/v4/projects', told('1.2.3.5'))).status).toBe(429);
  });
});

describe('the cost of rate limits', () => {
  /** What was asked of the table, one round trip after the other; `count`: one more of a throttle. */
  const calls = async (asking: () => Promise<{ status: number }>) => {
    const { value, calls: told } = await trips.of(asking);
    const named = told.map((trip) =>
      trip.map(({ operation, subject }) => (/^RATE#throttle/.test(subject) ? 'count' : operation)),
    );
    return { status: value.status, calls: named };
  };
  const flat = (of: { calls: readonly (readonly string[])[] }) => of.calls.flat();

  test('is nothing while all are off', async () => {
    const { token } = nextUser();
    for (const who of [{}, { token }])
      expect(flat(await calls(() => ask(projects, `GET /api/v4/projects/${open}`, who)))).not.toContain(
        'count',
      );
  });

  test('is one write in parallel with a request’s reads, and no extra round trip', async () => {
    const asking = (who: Who) => calls(() => ask(projects, `GET /api/v4/projects/${open}`, who));
    const ada = nextUser();
    await asking({ token: ada.token });
    const before = [await asking({}), await asking({ token: ada.token })];
    await enable(['unauthenticated_api', 'authenticated_api'], 100);
    const after = [await asking({}), await asking({ token: ada.token })];
    expect(after.map(({ calls }) => calls.length)).toEqual(before.map(({ calls }) => calls.length));
    expect(after.map((of) => flat(of).length - flat(before[after.indexOf(of)]!).length)).toEqual([1, 1]);
    // A stranger's beside the first reads; a user's beside the second, when the token told who they are.
    expect(after[0]!.calls[0]).toContain('count');
    expect(after[1]!.calls[1]).toContain('count');
  });

  test('is no token read for a flood from one address, and nothing at all once the block is cached', async () => {
    await enable(['unauthenticated_api'], 2);
    const from = address();
    const once = () => calls(() => ask(projects, `GET /api/v4/projects/${open}`, { address: from }));
    const first = await trips.of(() => ask(projects, `GET /api/v4/projects/${open}`, { address: from }));
    for (const { subject } of first.calls.flat()) expect(subject).not.toMatch(/TOKEN/);
    await once();
    for (let n = 0; n < 5; n++) expect(await once()).toEqual({ status: 429, calls: [] });
    // Not where the last page of a list ended, either.
    const page = `GET /api/v4/projects/${open}/issues?page=2`;
    expect(await calls(() => ask(issues, page, { address: from }))).toEqual({ status: 429, calls: [] });
    const ada = nextUser();
    await enable(['authenticated_api'], 1);
    const hers = () => calls(() => ask(projects, `GET /api/v4/projects/${open}`, { token: ada.token }));
    await hers();
    // Who it is has to be read.
    expect(await hers()).toMatchObject({ status: 429, calls: { length: 1 } });
  });

  test('is no failure when the table fails: requests are admitted, and do not wait for many attempts', async () => {
    await enable(['unauthenticated_api'], 1);
    let attempts = 0;
    service.host.dynamo.faults.onRequest = ({ operation }) => {
      if (operation !== 'UpdateItem') return undefined;
      attempts++;
      return { fail: 'throughput-exceeded' };
    };
    const from = address();
    const once = () => ask(projects, 'GET /api/v4/projects', { address: from });
    expect(await statuses(3, once)).toEqual([200, 200, 200]);
    expect(attempts).toBeGreaterThan(0);
    expect(attempts).toBeLessThanOrEqual(9);
  });

  test('admits exactly the limit of a hundred simultaneous requests', async () => {
    await enable(['unauthenticated_api', 'authenticated_api'], 40);
    const from = address();
    const { token } = nextUser();
    for (const who of [{ address: from }, { token }]) {
      const found = await Promise.all(
        Array.from({ length: 100 }, () => ask(users, 'GET /api/v4/user', who).then(({ status }) => status)),
      );
      expect(found.filter((status) => status !== 429)).toHaveLength(40);
    }
  });
});
