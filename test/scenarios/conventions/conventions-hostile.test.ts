import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allEndpoints } from '../../../lib/api/all.ts';
import { document } from '../../../lib/http/openapi.ts';
import { type Answer, type Service, startService } from '../../harness/service.ts';

let service: Service;
let owner: { id: number; token: string };
let project: number;
beforeAll(async () => {
  service = await startService();
  owner = await service.user('owner');
  const made = await service.call('POST', '/projects', { token: owner.token, json: { name: 'target' } });
  project = made.body.id;
});
afterAll(() => service.stop());

/** What JSON can carry and no parameter expects. */
const HOSTILE: readonly unknown[] = [
  null,
  '',
  ' ',
  true,
  0,
  -1,
  1.5,
  1e300,
  2 ** 53 + 2,
  '9223372036854775808',
  'NaN',
  'x'.repeat(70_000),
  '\ud800',
  'a\u0000b',
  '\u202e\u0301💥\r\n<>',
  '../../etc/passwd',
  '2021-02-30',
  '0000-00-00T00:00:00Z',
  [],
  [[]],
  [null, {}, '\ud800'],
  ['x'.repeat(70_000)],
  {},
  { a: { b: { c: 1 } } },
  { __proto__: 1, constructor: 2, $gt: '' },
];

/** Areas whose endpoints take what users type; those of repositories have hostile scenarios of their own. */
const TRIED = new Set([
  ...['users', 'projects', 'members', 'groups', 'tokens'],
  ...['keys', 'project-relations', 'custom-attributes', 'search'],
]);

const described = document(
  allEndpoints.filter(({ area }) => TRIED.has(area)),
  {
    title: '',
    version: '',
    serverUrl: '',
  },
);
interface Case {
  readonly method: string;
  readonly path: string;
  readonly names: readonly string[];
}
const cases: Case[] = Object.entries(described.paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, operation]) => {
    const query = operation.parameters
      .filter((one) => one.in === 'query')
      .map((one) => one.name.replace('[]', ''));
    const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema.properties ?? {};
    return { method: method.toUpperCase(), path, names: [...new Set([...query, ...Object.keys(body)])] };
  }),
);

let made = 0;
/** What makes a request good, so that one bad parameter is all that is wrong. */
function good(): Record<string, unknown> {
  const name = `n${++made}`;
  return {
    name,
    username: name,
    email: `${name}@example.com`,
    force_random_password: true,
    scopes: ['api'],
    user_id: String(made + 1_000_000),
    access_level: 10,
  };
}

/** Whom or what an endpoint is about: of its own, since some values are good, and it may be gone then. */
async function subjectOf(path: string): Promise<number> {
  if (!path.includes('id}')) return 0;
  const name = `s${++made}`;
  const [, kind = 'users'] = /^\/(projects|groups)\/\{id\}/.exec(path) ?? [];
  const { body } = await service.call('POST', `/${kind}`, {
    token: kind === 'users' ? service.rootToken : owner.token,
    json: { ...good(), name, path: name },
  });
  return body.id;
}

const fine = ({ status }: Answer) => status < 500;

describe.each(cases.filter(({ names }) => names.length > 0))('$method $path', ({ method, path, names }) => {
  test('answers hostile parameter values without a server error', async () => {
    const address = path.replace(/\{(?:user_)?id\}/, String(await subjectOf(path)));
    const sent = names.flatMap((name, index) =>
      // Parameters of long lists share the values among them.
      HOSTILE.filter((_, n) => names.length < 12 || (n + index) % 8 === 0).map((value) => ({ name, value })),
    );
    for (let n = 0; n < sent.length; n += 16) {
      await Promise.all(
        sent.slice(n, n + 16).map(async ({ name, value }) => {
          const answer =
            method === 'GET' || method === 'DELETE'
              ? await service.call(method, `${address}?${queryOf(name, value)}`, { token: service.rootToken })
              : await service.call(method, address, {
                  token: service.rootToken,
                  json: { ...good(), [name]: value },
                });
          const shown = JSON.stringify(value)?.slice(0, 60);
          expect([name, shown, answer.status, fine(answer)]).toEqual([name, shown, answer.status, true]);
        }),
      );
    }
  });
});

/** As Rack would carry it; what cannot stand in an address comes as its replacement. */
function queryOf(name: string, value: unknown): string {
  const encode = (text: string) => encodeURIComponent(text.toWellFormed().slice(0, 6000));
  if (Array.isArray(value)) {
    return value
      .map((item) => `${name}[]=${encode(typeof item === 'string' ? item : JSON.stringify(item))}`)
      .join('&');
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([key, member]) => `${name}[${encode(key)}]=${encode(JSON.stringify(member))}`)
      .join('&');
  }
  return value === null ? name : `${name}=${encode(String(value))}`;
}

test('the service works unchanged after hostile requests', async () => {
  const { status, body } = await service.call('GET', `/projects/${project}`, { token: owner.token });
  expect([status, body.path_with_namespace]).toEqual([200, 'owner/target']);
  expect(Object.getPrototypeOf({})).toBe(Object.prototype);
  expect(({} as Record<string, unknown>)['a']).toBeUndefined();
});
