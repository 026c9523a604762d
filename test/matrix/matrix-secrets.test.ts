/**
 * What a caller may not know of shows nowhere: a hidden thing answers like one that never was, byte for byte, and
 * lists, counts and searches are the same with it and without. That no answer of the matrix holds its words is looked
 * at by the matrix itself.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allEndpoints, apiDocument } from '../../lib/api/all.ts';
import { mayBeAnonymous } from '../../lib/http/access.ts';
import { type Answer, type Service, startService } from '../harness/service.ts';
import { type Column, done, type Fixtures, MARKS, makeFixtures, type Names } from './fixtures.ts';
import { type Row, readRows } from './rows.ts';
import { send } from './run.ts';

let service: Service;
let fixtures: Fixtures;
/** A group and a project of the stranger's own. */
let own: Names;
beforeAll(async () => {
  service = await startService({ background: false });
  fixtures = await makeFixtures(service);
  const made = async (path: string, json: unknown) =>
    done(await service.call('POST', path, { token: fixtures.tokens.strg!, json }), path);
  const group = await made('/groups', { name: 'own', path: 'own', visibility: 'public' });
  const project = await made('/projects', { name: 'own', initialize_with_readme: true });
  own = { group: group.id, project: project.id, sha: (await tipOf(project.id)).id };
});
afterAll(() => service.stop());

const tipOf = async (project: number) =>
  (
    await service.call('GET', `/projects/${project}/repository/commits/HEAD`, {
      token: fixtures.tokens.strg!,
    })
  ).body;

/** An id and a path that name nothing, as long as those that do. */
const NOBODY = 9_999_999;
const NOWORD = 'zorblx';

/** What must be the same: everything but what each answer has of its own, and the word or id that was asked for. */
function told({ status, headers, body }: Answer, asked?: string | number): string {
  if (status === 0) throw new Error(String(body));
  const kept = [...headers].filter(
    ([name]) => !/^(x-request-id|x-runtime|date|etag|content-length)$/.test(name),
  );
  const text = JSON.stringify({ status, body, headers: kept });
  if (asked === undefined) return text;
  // An id is told back in links, and in sentences about it.
  if (typeof asked === 'number') return text.replace(new RegExp(`(?<==| id:)${asked}(?=[&> ])`, 'g'), '*');
  return text.replaceAll(asked, '*').replaceAll(decodeURIComponent(asked), '*');
}

const rows = readRows();
const nameOf = (endpoint: { method: string; path: string }) =>
  `${endpoint.method} ${endpoint.path.replaceAll('*', ':')}`;

describe('a hidden subject answers like an absent one', () => {
  const about = allEndpoints.filter(({ access }) => access.kind === 'project' || access.kind === 'group');
  test.each(about.map((endpoint) => [nameOf(endpoint), endpoint] as const))(
    'to %s',
    async (name, endpoint) => {
      const row = rows.find((each) => each.endpoint === name);
      if (row === undefined) return;
      // The subject is the first; what else has its number keeps it.
      const [before = '', ...behind] = row.path.replace('{new}', '{id}').split('{id}');
      const path = `${before}{id}${behind.join('{self}')}`;
      const json = row.json?.replaceAll('{id}', '{self}');
      const kind = endpoint.access.kind === 'project' ? 'projects' : 'groups';
      const cases: [Column, 'private' | 'internal'][] = [
        ['anon', 'private'],
        ['strg', 'private'],
        ['extn', 'internal'],
      ];
      for (const [column, visibility] of cases) {
        const names = { ...fixtures.names, ...fixtures[kind][visibility], n: 0, new: 0 } as Record<
          string,
          string | number
        >;
        // Nobody is told anything before they sign in.
        if (column === 'anon' && !mayBeAnonymous(endpoint.access)) continue;
        const as = (id: string | number) =>
          send(fixtures, column, { ...row, path, json }, { ...names, id, self: names['id']! });
        const ids = [
          names['id']!,
          NOBODY,
          ...(column === 'strg'
            ? [names['path']!, String(names['path']).replaceAll(MARKS[visibility], NOWORD)]
            : []),
        ];
        const [hidden, ...others] = await Promise.all(ids.map(as));
        expect([column, hidden!.status]).toEqual([column, 404]);
        for (const other of others) expect(told(other), column).toBe(told(hidden!));
      }
    },
  );
});

describe('hidden objects named beside the subject of a request answer like absent ones', () => {
  /** `{x}`: the hidden thing, or one that is not there. */
  const cases: readonly (readonly [string, 'projects' | 'groups', string, string?])[] = [
    ['GET', 'groups', '/namespaces/{x}'],
    ['GET', 'groups', '/namespaces/anything/exists?parent_id={x}'],
    ['POST', 'groups', '/projects', '{"name": "new", "namespace_id": {x}}'],
    ['POST', 'groups', '/groups', '{"name": "new", "path": "new", "parent_id": {x}}'],
    ['POST', 'groups', '/groups/{group}/transfer', '{"group_id": {x}}'],
    ['POST', 'groups', '/groups/{group}/share', '{"group_id": {x}, "group_access": 10}'],
    ['DELETE', 'groups', '/groups/{group}/share/{x}'],
    ['POST', 'groups', '/projects/{project}/fork', '{"namespace_id": {x}}'],
    ['POST', 'projects', '/projects/{project}/fork/{x}'],
    ['GET', 'projects', '/projects/{project}/repository/compare?from=HEAD&to=HEAD&from_project_id={x}'],
    [
      'POST',
      'projects',
      '/projects/{project}/repository/commits',
      '{"branch": "new", "start_branch": "main", "start_project": {x}, "commit_message": "x", "actions": []}',
    ],
  ];
  for (const [method, kind, path, json] of cases) {
    test(`${method} ${path}`, async () => {
      const as = (x: string | number) => send(fixtures, 'strg', { method, path, json }, { ...own, x });
      const { id } = fixtures[kind].private;
      expect(told(await as(id!), Number(id))).toBe(told(await as(NOBODY), NOBODY));
    });
  }

  test.each([
    ['GET', '/personal_access_tokens/{x}'],
    ['DELETE', '/personal_access_tokens/{x}'],
  ] as const)('%s %s of another user', async (method, path) => {
    const as = (x: string | number) => send(fixtures, 'strg', { method, path, json: undefined }, { x });
    expect(told(await as(fixtures.names['pawn_token']!))).toBe(told(await as(NOBODY)));
  });
});

const READERS = ['anon', 'strg', 'gust'] as const satisfies Column[];

/** One row for each GET, about what is public. */
const reads = allEndpoints
  .filter(({ method }) => method === 'GET')
  .flatMap((endpoint) => {
    const row = rows.find((each) => each.endpoint === nameOf(endpoint));
    return row === undefined ? [] : [{ endpoint, row, name: nameOf(endpoint) }];
  });

const namesFor = (row: Row): Names => ({
  ...fixtures.names,
  ...(/^\/(groups|namespaces)\//.test(row.path) ? fixtures.groups.public : fixtures.projects.public),
});

const withQuery = (path: string, query: string) => `${path}${path.includes('?') ? '&' : '?'}${query}`;

describe('totals and pages count only what the caller can see', () => {
  const lists = reads.filter(({ endpoint }) => endpoint.paginate !== undefined);
  test.each(lists.map((each) => [each.name, each] as const))('for %s', async (_, { endpoint, row }) => {
    const get = (column: Column, query: string) =>
      send(fixtures, column, { ...row, path: withQuery(row.path, query) }, namesFor(row));
    for (const column of READERS) {
      if (endpoint.paginate !== 'keyset') {
        const whole = await get(column, 'per_page=100');
        if (whole.status !== 200) continue;
        const total = whole.headers.get('x-total');
        const listed: unknown[] = [...whole.body];
        for (let page = 2; listed.length === 100 * (page - 1); page++) {
          listed.push(...(await get(column, `per_page=100&page=${page}`)).body);
        }
        if (total !== null) expect([column, Number(total)]).toEqual([column, listed.length]);
        const pages: unknown[] = [];
        if (column !== 'strg') continue;
        for (let page = 1; page <= Math.ceil(listed.length / 2) + 1; page++) {
          const answer = await get(column, `per_page=2&page=${page}`);
          if (answer.body.length < 2) expect(pages.length + answer.body.length).toBe(listed.length);
          pages.push(...answer.body);
        }
        expect([column, pages]).toEqual([column, listed]);
      }
      if (endpoint.paginate !== 'offset' && column === 'strg') {
        const order = endpoint.keyset?.orderBy?.[0];
        let query: string | undefined = `pagination=keyset&per_page=1${order ? `&order_by=${order}` : ''}`;
        for (let steps = 0; query !== undefined && steps < 50; steps++) {
          const answer = await get(column, query);
          if (answer.status !== 200) break;
          const link = answer.headers.get('link');
          // A page with nothing on it would be one of things that are not shown.
          if (link !== null) expect([column, query, answer.body.length]).toEqual([column, query, 1]);
          const next: string | undefined = /<[^>]*\?([^>]*)>; rel="next"/.exec(link ?? '')?.[1];
          query = next?.replace(/(^|&)id=[^&]*/, '');
        }
      }
    }
  });
});

describe('searches and filters find nothing hidden', () => {
  const documented = apiDocument().paths as unknown as Record<
    string,
    Record<string, { parameters?: readonly Parameter[] }>
  >;
  interface Parameter {
    readonly name: string;
    readonly in: string;
    readonly schema: { readonly type?: string; readonly enum?: unknown; readonly format?: string };
  }
  const searches = reads.flatMap(({ endpoint, row, name }) => {
    const path = endpoint.path.replace(/[:*](\w+)/g, '{$1}');
    const operation = documented[path]?.['get'];
    if (operation === undefined) throw new Error(`the document has no GET ${path}`);
    return (operation.parameters ?? [])
      .filter((parameter) => parameter.in === 'query' && !row.path.includes(`${parameter.name}=`))
      .flatMap((parameter): [string, Row, string, 'text' | 'id'][] => {
        const { type, enum: values, format } = parameter.schema;
        if (type === 'boolean') return [];
        if (/^user_ids?/.test(parameter.name)) return [];
        if (/_ids?(\[\])?$|groups(\[\])?$/.test(parameter.name)) return [[name, row, parameter.name, 'id']];
        const isText =
          (type === 'string' && values === undefined && format === undefined) || type === 'array';
        return isText && endpoint.paginate !== undefined ? [[name, row, parameter.name, 'text']] : [];
      });
  });

  test('and the tables list at least one of them', () => {
    const names = searches.map(([name, , parameter]) => `${name} ${parameter}`);
    expect(names).toEqual(
      expect.arrayContaining(['GET /projects search', 'GET /groups search', 'GET /users search']),
    );
  });

  test.each(searches.map(([name, row, parameter, kind]) => [name, parameter, row, kind] as const))(
    'in %s: %s',
    async (_, parameter, row, kind) => {
      const get = (column: Column, value: string | number) => {
        const path = withQuery(row.path, `${encodeURIComponent(parameter)}=${value}`);
        return send(fixtures, column, { ...row, path }, namesFor(row));
      };
      const same = async (column: Column, absent: string | number, ...hidden: (string | number)[]) => {
        const expected = told(await get(column, absent), absent);
        for (const one of hidden)
          expect(told(await get(column, one), one), `${column}: ${one}`).toBe(expected);
      };
      const [project, group] = [fixtures.projects.private, fixtures.groups.private];
      if (kind === 'id') return same('strg', NOBODY, project['id']!, group['id']!);
      await same('anon', NOWORD, MARKS.private, MARKS.internal);
      await same('extn', NOWORD, MARKS.internal);
      await same('strg', NOWORD, MARKS.private, MARKS.invited);
      const path = String(project['path']);
      await same('strg', path.replaceAll(MARKS.private, NOWORD), path);
    },
  );
});
