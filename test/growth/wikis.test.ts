/** A wiki of ten thousand pages is listed and read in as many round trips as one of a hundred, and changed in two more. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GitCli, withToken } from '../clients/git-cli.ts';
import { forgetEverything } from '../harness/aws-calls.ts';
import { RoundTrips } from '../harness/round-trips.ts';
import { type Service, startService } from '../harness/service.ts';

const [FEW, MANY] = [100, 10_000];

const git = new GitCli();
let service: Service;
let trips: RoundTrips;
let token: string;

interface Cost {
  readonly trips: number;
  readonly rows: number;
  readonly total: string | null;
}
const ACTIONS: Readonly<
  Record<string, { readonly method: string; readonly path: string; readonly json?: object }>
> = {
  'the list of pages': { method: 'GET', path: '?per_page=20' },
  'a page in the middle of the list': { method: 'GET', path: '?per_page=20&page=3' },
  'the list of pages with their texts': { method: 'GET', path: '?per_page=20&with_content=1' },
  'a page': { method: 'GET', path: '/pages%2Fpage-000050' },
  'a page that is changed': { method: 'PUT', path: '/pages%2Fpage-000051', json: { content: 'changed' } },
  'a page that is written': { method: 'POST', path: '', json: { title: 'pages/new', content: 'new' } },
};
const few = new Map<string, Cost>();
const many = new Map<string, Cost>();

beforeAll(async () => {
  service = await startService({ background: false });
  trips = RoundTrips.of(service.host);
  ({ token } = await service.user('owner'));
  for (const [name, pages, costs] of [
    ['few', FEW, few],
    ['many', MANY, many],
  ] as const) {
    const { body } = await service.call('POST', '/projects', { token, json: { name } });
    await pushWiki(name, pages);
    for (const [action, asked] of Object.entries(ACTIONS)) costs.set(action, await costOf(body.id, asked));
  }
}, 300_000);
afterAll(async () => {
  await service.stop();
  git[Symbol.dispose]();
});

/** A large directory is in blocks of the pack that are not those of its pages; on a busy machine one is waited for by itself. */
const OTHER_BLOCKS = 3;

describe('the round trips are as few for', () => {
  test.each(Object.entries(ACTIONS))('%s', (action, { method }) => {
    const more = method === 'GET' ? 0 : OTHER_BLOCKS;
    expect(many.get(action)!.trips).toBeLessThanOrEqual(few.get(action)!.trips + more);
  });
});

test('all pages are counted, and a page of the list has twenty', () => {
  const [{ rows: fewRows, total: fewPages }, { rows: manyRows, total: manyPages }] = [few, many].map(
    (costs) => costs.get('the list of pages')!,
  ) as [Cost, Cost];
  expect([fewRows, fewPages]).toEqual([20, String(FEW)]);
  expect([manyRows, manyPages]).toEqual([20, String(MANY)]);
});

/** Writes all pages in one commit, and pushes it. */
async function pushWiki(name: string, pages: number): Promise<void> {
  const file = (n: number) => {
    const text = `Page ${n}\n`;
    return `M 100644 inline pages/page-${String(n).padStart(6, '0')}.md\ndata ${text.length}\n${text}`;
  };
  const header = 'commit refs/heads/main\ncommitter A <a@example.com> 1767225600 +0000\ndata 5\npages\n';
  const input = header + Array.from({ length: pages }, (_, n) => file(n)).join('');
  await git.ok(git.home, 'init', '--quiet', '-b', 'main', name);
  const imported = await git.run(['fast-import', '--quiet'], { cwd: git.path(name), input });
  if (imported.code !== 0) throw new Error(imported.stderr);
  await git.ok(
    git.path(name),
    'push',
    '--quiet',
    withToken(service.url, `owner/${name}.wiki`, token),
    'main',
  );
}

/** Asks with an empty memory. */
async function costOf(project: number, { method, path, json }: (typeof ACTIONS)[string]): Promise<Cost> {
  forgetEverything();
  const { trips: taken, value } = await trips.of(() =>
    service.call(method, `/projects/${project}/wikis${path}`, { token, ...(json && { json }) }),
  );
  if (value.status >= 300)
    throw new Error(`${method} ${path}: ${value.status} ${JSON.stringify(value.body)}`);
  const rows = Array.isArray(value.body) ? value.body.length : 1;
  return { trips: taken.length, rows, total: value.headers.get('x-total') };
}
