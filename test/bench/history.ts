import { commitGraphBuilder } from '../../lib/git/commit-graph/build.ts';
import { History } from '../../lib/git/history.ts';
import type { Oid } from '../../lib/git/oid.ts';
import { memoryAccess } from '../../lib/git/pack/content.ts';
import { PackCache } from '../../lib/git/pack/pack-cache.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import { parseCommitLinks } from '../../lib/git/parse.ts';
import type { DerivedFile, ObjectDatabase } from '../../lib/git/ports.ts';
import { entryAtPath } from '../../lib/git/tree/entry.ts';
import type { RawPath } from '../../lib/git/tree/path.ts';
import { packsOf } from '../git/repository-files.ts';
import { git, lines } from './git.ts';
import { knownRefs } from './known-refs.ts';
import { median, medians } from './measure.ts';
import type { Report } from './report.ts';
import type { Subject } from './subjects.ts';

const EVERYTHING = 1_000_000;

interface Question {
  readonly name: string;
  readonly runs: number;
  readonly ask: (history: History) => Promise<string>;
  readonly git: () => string;
}

/**
 * History queries with and without a commit-graph. Each walk starts without cached commits; blocks are cached unless
 * the label says cold. git uses no commit-graph.
 */
export async function measureHistory(report: Report, subject: Subject): Promise<void> {
  const { name, directory } = subject;
  const without = packsOf(directory);
  const begun = performance.now();
  const withGraph = await graphed(without, directory);
  const ours = performance.now() - begun;
  const theirs = await median(1, () =>
    git(directory, '-c', 'core.commitGraph=false', 'log', '--name-only', '--format=', '--all'),
  );
  report.row({
    subject: name,
    operation: 'commit-graph, git log --name-only',
    unit: 'ms',
    ours,
    git: theirs,
  });
  const store = (database: ObjectDatabase) =>
    new PackStore(database, { cache: new PackCache({ blockBytes: 512 << 20 }) });
  const [plain, graph] = [store(without), store(withGraph)];
  for (const question of await questions(plain, directory)) {
    const { runs, ask } = question;
    const row = { subject: name, unit: 'ms' } as const;
    const before = await medians(runs, () => ask(new History(plain)), question.git);
    report.row({ ...row, operation: `${question.name}, plain`, ...before });
    const after = await medians(runs, () => ask(new History(graph)), question.git);
    report.row({ ...row, operation: `${question.name}, commit-graph`, ...after });
    const cold = await median(Math.min(runs, 3), () => ask(new History(store(withGraph))));
    const coldBefore = await median(Math.min(runs, 3), () => ask(new History(store(without))));
    report.row({ ...row, operation: `${question.name}, cold, plain`, ours: coldBefore });
    report.row({ ...row, operation: `${question.name}, cold, commit-graph`, ours: cold });
    const right = question.git();
    report.check(`${name}: ${question.name}, plain`, (await ask(new History(plain))) === right);
    report.check(`${name}: ${question.name}, commit-graph`, (await ask(new History(graph))) === right);
  }
}

/** The same repository with a commit-graph in memory. */
async function graphed(database: ObjectDatabase, directory: string): Promise<ObjectDatabase> {
  const { content } = (await commitGraphBuilder.build({
    store: new PackStore(database),
    refs: knownRefs(directory),
    packs: await database.listPacks(),
    deadline: Number.POSITIVE_INFINITY,
    stopsAt: Number.POSITIVE_INFINITY,
  }))!;
  const { bytes, size, checksumsCrc } = content as { bytes: Uint8Array; size: number; checksumsCrc: number };
  const provenance = { packs: [], objects: 0, note: '' };
  const file: DerivedFile = {
    kind: 'commit-graph',
    id: 'graph',
    size,
    checksumsCrc,
    provenance,
    location: directory,
  };
  return {
    ...database,
    derived: {
      current: (kind) => (kind === 'commit-graph' ? file : undefined),
      open: () => memoryAccess(bytes),
    },
  };
}

async function questions(store: PackStore, directory: string): Promise<Question[]> {
  const run = (...args: string[]) => git(directory, ...args).toString();
  const head = run('rev-parse', 'HEAD').trim() as Oid;
  const tags = lines(
    directory,
    'for-each-ref',
    '--format=%(refname) %(*objectname) %(objectname)',
    'refs/tags',
  )
    .map((line) => line.split(' ').filter(Boolean) as [string, Oid])
    .filter(([, oid]) => run('cat-file', '-t', oid).trim() === 'commit');
  const merges = lines(directory, 'rev-list', '--first-parent', '--merges', '-n50', head);
  const side = run('rev-parse', `${merges.at(-1)}^2`).trim() as Oid;
  const main = run('rev-parse', `${merges[0]}^1`).trim() as Oid;
  const old = run('rev-list', '--max-parents=0', head).trim().split('\n')[0] as Oid;
  const files = lines(directory, 'ls-tree', '-r', '--name-only', head).filter((path) =>
    /^[\w./-]+$/.test(path),
  );
  const path = files[Math.floor((files.length * 3) / 8)] as RawPath;
  const folder = path.slice(0, Math.max(0, path.lastIndexOf('/'))) as RawPath;
  const entry = await store.run((objects) =>
    entryAtPath(objects, parseCommitLinks(objects.read(head).data).tree, path),
  );
  const log = (query: object) => async (history: History) =>
    (await history.log({ tips: [head], limit: EVERYTHING, ...query })).map(({ oid }) => `${oid}\n`).join('');
  const revList =
    (...args: string[]) =>
    () =>
      run('rev-list', ...args);
  return [
    { name: '20 commits', runs: 9, ask: log({ limit: 20 }), git: revList('-n20', head) },
    {
      name: 'topological 20',
      runs: 5,
      ask: log({ limit: 20, order: 'topo' }),
      git: revList('--topo-order', '-n20', head),
    },
    { name: 'whole log', runs: 3, ask: log({}), git: revList(head) },
    { name: 'log of a file', runs: 3, ask: log({ path }), git: revList(head, '--', path) },
    {
      name: 'log of a folder',
      runs: 3,
      ask: log({ path: folder || path }),
      git: revList(head, '--', folder || path),
    },
    {
      name: 'last commit of a file',
      runs: 3,
      ask: async (history) => `${(await history.lastCommitForPath(head, path))?.oid}\n`,
      git: revList('-n1', head, '--', path),
    },
    {
      name: 'blame',
      runs: 3,
      ask: async (history) => String((await history.blame(head, { path, entry: entry! })).length > 0),
      git: () => String(run('blame', '--porcelain', head, '--', path).length > 0),
    },
    {
      name: 'merge base',
      runs: 5,
      ask: async (history) =>
        (await history.mergeBases(main, [side]))
          .map(({ oid }) => `${oid}\n`)
          .sort()
          .join(''),
      git: () =>
        lines(directory, 'merge-base', '--all', main, side)
          .map((oid) => `${oid}\n`)
          .sort()
          .join(''),
    },
    {
      name: 'ancestor: the root',
      runs: 3,
      ask: async (history) => String(await history.isAncestor(old, head)),
      git: () => String(run('merge-base', '--is-ancestor', old, head) === ''),
    },
    {
      name: 'tags merged',
      runs: 3,
      ask: async (history) => {
        const merged = await history.merged(
          tags.map(([, oid]) => oid),
          side,
        );
        return tags
          .filter((_, i) => merged[i])
          .map(([ref]) => `${ref}\n`)
          .join('');
      },
      git: () =>
        lines(directory, 'for-each-ref', '--format=%(refname)', `--merged=${side}`, 'refs/tags')
          // Tags of tags are left out.
          .filter((ref) => tags.some(([known]) => known === ref))
          .map((ref) => `${ref}\n`)
          .join(''),
    },
  ];
}
