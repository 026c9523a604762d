import type { Oid } from '../../lib/git/oid.ts';
import { PackCache } from '../../lib/git/pack/pack-cache.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import type { RefDatabase } from '../../lib/git/ref-database.ts';
import { GitRepository } from '../../lib/git/repository.ts';
import { packsOf } from '../git/repository-files.ts';
import { git, lines } from './git.ts';
import { benchClone, benchIndexPack } from './git-pack.ts';
import { measureHistory } from './history.ts';
import { medians } from './measure.ts';
import type { Report } from './report.ts';
import type { Subject } from './subjects.ts';

/** With fewer objects, git's start-up time would dominate. */
const LARGE = 200_000;
const EVERYTHING = 1_000_000;

/** The Git library in this process, over the repository's pack, compared with git as a process. */
export async function measureEngine(report: Report, subject: Subject): Promise<void> {
  const { directory } = subject;
  const objects = packsOf(directory);
  const count = (await objects.listPacks()).reduce((sum, pack) => sum + pack.objectCount, 0);
  const newStore = () => new PackStore(objects, { cache: new PackCache({ blockBytes: 512 << 20 }) });
  const warm = newStore();
  // Refs are not needed: commits are named by id.
  const repository = (store = warm) =>
    new GitRepository({ objects, refs: undefined as unknown as RefDatabase, store });
  const head = git(directory, 'rev-parse', 'HEAD').toString().trim() as Oid;
  await coldTree(report, subject, () => repository(newStore()), head);
  await trees(report, subject, repository, head);
  await history(report, subject, repository, head);
  await pathLogs(report, subject, repository, head);
  await packs(report, subject, count > LARGE);
  await measureHistory(report, subject);
}

/** Without cache, except that of the operating system. */
async function coldTree(
  report: Report,
  { name, directory }: Subject,
  open: () => GitRepository,
  head: Oid,
): Promise<void> {
  const list = () => open().listTree(head, { recursive: true, limit: EVERYTHING });
  const times = await medians(5, list, () => git(directory, 'ls-tree', '-r', head));
  report.row({ subject: name, operation: 'ls-tree -r, cold', unit: 'ms', ...times, target: 2.5 });
}

async function trees(report: Report, subject: Subject, open: () => GitRepository, head: Oid): Promise<void> {
  const { name, directory } = subject;
  const list = async () => (await open().listTree(head, { recursive: true, limit: EVERYTHING }))!;
  const { ours, git: theirs } = await medians(9, list, () => git(directory, 'ls-tree', '-r', head));
  report.row({ subject: name, operation: 'ls-tree -r', unit: 'ms', ours, git: theirs, target: 1 });
  const files = (await list()).entries.filter((entry) => entry.type !== 'tree');
  report.check(
    `${name}: ls-tree -r`,
    files.map((entry) => entry.id).join() ===
      lines(directory, 'ls-tree', '-r', '--format=%(objectname)', head).join(),
  );

  const { path } = files[files.length >> 1]!;
  const read = async () => {
    const repository = open();
    return (await repository.readBlob((await repository.entryAt(head, path))!.id))!;
  };
  const times = await medians(15, read, () => git(directory, 'cat-file', '-p', `${head}:${path}`));
  report.row({ subject: name, operation: 'file at a path', unit: 'ms', ...times, target: 1 });
  const content = git(directory, 'cat-file', '-p', `${head}:${path}`);
  report.check(`${name}: file at a path`, Buffer.compare(content, await read()) === 0);
}

async function history(
  report: Report,
  subject: Subject,
  open: () => GitRepository,
  head: Oid,
): Promise<void> {
  const { name, directory } = subject;
  const page = () => open().log({ tips: [head], limit: 20 });
  const pageTimes = await medians(15, page, () => git(directory, 'log', '--format=raw', '-n20', head));
  report.row({ subject: name, operation: 'page of 20 commits', unit: 'ms', ...pageTimes, target: 1 });

  const whole = () => open().history.log({ tips: [head], limit: EVERYTHING });
  const wholeTimes = await medians(3, whole, () => git(directory, 'rev-list', head));
  report.row({ subject: name, operation: 'whole log', unit: 'ms', ...wholeTimes, target: 1.5 });
  const ids = (await whole()).map((commit) => commit.oid);
  report.check(`${name}: whole log`, ids.join() === lines(directory, 'rev-list', head).join());

  // A branch that was merged some time ago, and a newer commit of the main line.
  const merges = lines(directory, 'rev-list', '--first-parent', '--merges', '-n50', head);
  const side = git(directory, 'rev-parse', `${merges.at(-1)}^2`)
    .toString()
    .trim() as Oid;
  const main = git(directory, 'rev-parse', `${merges[0]}^1`).toString().trim() as Oid;
  const base = () => open().history.mergeBases(main, [side]);
  const baseTimes = await medians(7, base, () => git(directory, 'merge-base', '--all', main, side));
  report.row({ subject: name, operation: 'merge base', unit: 'ms', ...baseTimes, target: 1.5 });
  report.check(
    `${name}: merge base`,
    (await base())
      .map((commit) => commit.oid)
      .sort()
      .join() === lines(directory, 'merge-base', '--all', main, side).sort().join(),
  );
}

/** The full logs of some files and directories. */
async function pathLogs(
  report: Report,
  subject: Subject,
  open: () => GitRepository,
  head: Oid,
): Promise<void> {
  const { name, directory } = subject;
  const all = lines(directory, 'ls-tree', '-r', '-t', '--name-only', head).filter((path) =>
    /^[\w./-]+$/.test(path),
  );
  const paths = [1, 3, 5, 7].map((eighth) => all[Math.floor((all.length * eighth) / 8)]!);
  const ratios: { ours: number; git: number }[] = [];
  let right = true;
  for (const path of paths) {
    const log = () => open().log({ tips: [head], path, limit: EVERYTHING });
    ratios.push(await medians(1, log, () => git(directory, 'rev-list', head, '--', path)));
    const ids = (await log()).map((commit) => commit.oid);
    right &&= ids.join() === lines(directory, 'rev-list', head, '--', path).join();
  }
  ratios.sort((a, b) => a.ours / a.git - b.ours / b.git);
  const row = { subject: name, unit: 'ms' } as const;
  report.row({ ...row, operation: 'log of a path', ...ratios[1]!, target: 2 });
  report.row({ ...row, operation: 'log of a path, worst of four', ...ratios[3]!, target: 3.5 });
  report.check(`${name}: log of a path`, right);
}

/** CPU time of all threads, which other load on the machine affects less. */
async function packs(report: Report, { name, directory }: Subject, large: boolean): Promise<void> {
  const index = await benchIndexPack(directory);
  const row = { subject: name, unit: 'ms' } as const;
  const target = large ? 1 : 3;
  report.row({
    ...row,
    operation: 'index-pack --strict, CPU',
    ours: index.ours.cpu,
    git: index.git.cpu,
    target,
  });
  report.check(`${name}: the index is git's own, byte for byte`, index.check === 'index identical');
  for (const { operation, ours, git: theirs, check } of await benchClone(directory)) {
    const isPack = operation.startsWith('pack');
    const goal = operation === 'pack of a full clone, warm' ? { target: 2 } : {};
    report.row({ ...row, operation: `${operation}, CPU`, ours: ours.cpu, git: theirs.cpu, ...goal });
    const [count, gitCount] = /^(\d+) objects, git (\d+)$/.exec(check)?.slice(1) ?? [];
    if (!isPack) report.check(`${name}: ${operation}`, count !== undefined && count === gitCount);
  }
}
