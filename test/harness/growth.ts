import { random } from '../git/history-fixture.ts';
import { type Pushed, pushedProject } from '../scenarios/repository/pushed-project.ts';
import { forgetEverything } from './aws-calls.ts';
import type { RoundTrips } from './round-trips.ts';
import type { Service } from './service.ts';

/** A repository of that many commits on its `main`, and that many branches besides. */
export interface Size {
  readonly commits: number;
  readonly branches: number;
}

/** What a request costs: round trips, and kilobytes that the table and the bucket sent. */
interface Cost {
  readonly trips: number;
  readonly table: number;
  readonly bucket: number;
  readonly milliseconds: number;
}

export interface Grown {
  readonly size: Size;
  /** By operation: with nothing in memory, and at the next request of the kind. */
  readonly costs: Readonly<Record<string, { readonly cold: Cost; readonly warm: Cost }>>;
}

/** Makes a repository of that size by a push and measures what requests to it cost. */
export async function measureAt(
  service: Service,
  trips: RoundTrips,
  owner: { readonly username: string; readonly token: string },
  size: Size,
): Promise<Grown> {
  const name = `grown-${size.commits}-${size.branches}`;
  const { repository } = await pushedProject(service, owner, name, (git) => fill(git, size));
  const { token } = owner;
  const send = async (method: string, path: string, json?: unknown) => {
    const { status, body } = await service.call(method, `${repository}${path}`, { token, json });
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
  };
  let files = 0;
  const operations: Readonly<Record<string, () => Promise<void>>> = {
    file: () => send('GET', '/files/folder%2Ffile7.txt/raw?ref=main'),
    tree: () => send('GET', '/tree?ref=main&path=folder'),
    'page of commits': () => send('GET', '/commits?ref_name=main'),
    branch: () => send('GET', '/branches/branch-0'),
    'page of branches': () => send('GET', '/branches?per_page=10'),
    'page of branches in the middle': () =>
      send('GET', `/branches?per_page=5&page=${Math.ceil(size.branches / 10)}`),
    'page of branches by keyset': () =>
      send('GET', '/branches?per_page=10&pagination=keyset&page_token=branch-4'),
    'commit by the API': () =>
      send('POST', '/commits', {
        branch: 'branch-0',
        commit_message: 'New',
        actions: [{ action: 'create', file_path: `new-${files++}.txt`, content: 'new\n' }],
      }),
  };
  const measure = async (work: () => Promise<void>): Promise<Cost> => {
    const { trips: taken, bytes } = await trips.of(work);
    const begun = performance.now();
    await work();
    const milliseconds = performance.now() - begun;
    return { trips: taken.length, table: bytes.D / 1024, bucket: bytes.S / 1024, milliseconds };
  };
  const costs: Record<string, { cold: Cost; warm: Cost }> = {};
  for (const [operation, work] of Object.entries(operations)) {
    forgetEverything();
    costs[operation] = { cold: await measure(work), warm: await measure(work) };
  }
  return { size, costs };
}

/** One line for each operation. */
export const shownGrowth = ({ size, costs }: Grown): string =>
  Object.entries(costs)
    .map(([operation, { cold, warm }]) => {
      const told = ({ trips, table, bucket, milliseconds }: Cost) =>
        `${trips} trips, ${table.toFixed(1)} + ${bucket.toFixed(1)} KB, ${milliseconds.toFixed(0)} ms`;
      const where = `${size.commits} commits, ${size.branches} branches: ${operation}`;
      return `${where.padEnd(52)} cold ${told(cold)}; warm ${told(warm)}`;
    })
    .join('\n');

/** The same files whatever the size, so that a tree is as large at its end. */
function fill(git: Pushed['git'], { commits, branches }: Size): void {
  const next = random(11);
  const word = () => next(2 ** 30).toString(36);
  const parts: string[] = [];
  for (let i = 1; i <= commits; i++) {
    const content = Array.from({ length: 150 }, word).join(' ');
    const who = `committer A <a@example.com> ${1_600_000_000 + i * 60} +0000`;
    const parent = i === 1 ? '' : `from :${i - 1}\n`;
    parts.push(
      `commit refs/heads/main\nmark :${i}\n${who}\ndata 2\nm\n${parent}` +
        `M 100644 inline folder/file${i % 20}.txt\ndata ${content.length}\n${content}\n`,
    );
  }
  for (let i = 0; i < branches; i++) parts.push(`reset refs/heads/branch-${i}\nfrom :${commits}\n\n`);
  git.feed(parts.join(''), 'fast-import', '--quiet');
}
