import type { Oid } from '../../lib/git/oid.ts';
import { git, lines } from './git.ts';
import { timeGit } from './git-pack.ts';
import type { HostProcess } from './host.ts';
import { median, medians } from './measure.ts';
import { commitBefore } from './operations.ts';
import type { Report } from './report.ts';
import type { Subject } from './subjects.ts';

const MERGES = 10;
/** CPU time of the host for a merge, beyond that of git for its tree alone. */
const TARGET = 300;
const CHANGED_FILES = 200;
/** Ratio to `git diff`. */
const CHANGES_TARGET = 1.5;

/** Merges of the history made again by merge requests of the host's `root/<subject>`, each in one request. */
export async function mergeRequests(
  report: Report,
  host: HostProcess,
  { name, directory }: Subject,
): Promise<void> {
  const project = `/projects/root%2F${name}`;
  const treeOf = (ours: string, theirs: string) =>
    lines(directory, 'merge-tree', '--write-tree', ours, theirs)[0]!;
  const merges: [ours: string, theirs: string][] = [];
  for (const line of lines(
    directory,
    'rev-list',
    '--merges',
    '--max-parents=2',
    '--parents',
    '-n200',
    'HEAD',
  )) {
    const [, ours, theirs] = line.split(' ');
    if (merges.length < MERGES && isClean(directory, ours!, theirs!)) merges.push([ours!, theirs!]);
  }
  const proposals: string[] = [];
  for (const [i, [ours, theirs]] of merges.entries()) {
    const branch = (of: string, sha: string) =>
      host.call('POST', `${project}/repository/branches?branch=${of}-${i}&ref=${sha}`);
    await branch('bench-ours', ours);
    await branch('bench-theirs', theirs);
    const branches = { source_branch: `bench-theirs-${i}`, target_branch: `bench-ours-${i}` };
    const made = await host.call('POST', `${project}/merge_requests`, { title: `Merge ${i}`, ...branches });
    proposals.push(`${project}/merge_requests/${((await made.json()) as { iid: number }).iid}`);
  }
  const commits: string[] = [];
  await host.untilIdle();
  const before = host.cpuTime();
  const times: number[] = [];
  for (const path of proposals)
    times.push(
      await median(1, async () => {
        const merged = await host.call('PUT', `${path}/merge`);
        commits.push(((await merged.json()) as { merge_commit_sha: string }).merge_commit_sha);
      }),
    );
  const after = host.cpuTime();
  const ofGit = merges.map((sides) => timeGit(['-C', directory, 'merge-tree', '--write-tree', ...sides]));
  const row = { subject: name, unit: 'ms' } as const;
  report.row({
    ...row,
    operation: 'merge in one request',
    ours: mean(times),
    git: mean(ofGit.map(({ wall }) => wall)),
  });
  if (before !== undefined && after !== undefined) {
    const cpu = (after - before) / merges.length;
    const cpuOfGit = mean(ofGit.map((each) => each.cpu));
    report.row({ ...row, operation: 'merge in one request: CPU', ours: cpu, git: cpuOfGit });
    const onTop = Math.max(0, cpu - cpuOfGit);
    report.row({ ...row, operation: 'merge in one request: CPU on top', ours: onTop, target: TARGET });
  }
  const same: boolean[] = [];
  for (const [i, [one, other]] of merges.entries()) {
    const shown = await host.call('GET', `${project}/repository/tree?ref=${commits[i]}&per_page=100`);
    const entries = (await shown.json()) as { id: string }[];
    const expected = lines(directory, 'ls-tree', treeOf(one, other)).map((line) => line.split(/\s/)[2]);
    same.push(
      entries.length === Math.min(100, expected.length) && entries.every(({ id }) => expected.includes(id)),
    );
  }
  report.check(`${name}: trees of merges in one request`, same.length > 0 && same.every((each) => each));
}

/** The changes of 200 files or more, as a merge request of the host's `root/<subject>` shows them. */
export async function changesOfMergeRequest(
  report: Report,
  host: HostProcess,
  { name, directory }: Subject,
): Promise<void> {
  const project = `/projects/root%2F${name}`;
  const head = lines(directory, 'rev-parse', 'HEAD')[0] as Oid;
  const before = commitBefore(directory, head, CHANGED_FILES);
  const [source_branch, target_branch] = ['bench-changed', 'bench-before'];
  await host.call('POST', `${project}/repository/branches?branch=${source_branch}&ref=${head}`);
  await host.call('POST', `${project}/repository/branches?branch=${target_branch}&ref=${before}`);
  const made = await host.call('POST', `${project}/merge_requests`, {
    ...{ title: 'Changes', source_branch, target_branch },
  });
  const { iid } = (await made.json()) as { iid: number };
  const changes = async () => {
    const shown = await host.call('GET', `${project}/merge_requests/${iid}/changes?access_raw_diffs=true`);
    return ((await shown.json()) as { changes: unknown[] }).changes.length;
  };
  const gits = () => git(directory, 'diff', '-M', before, head);
  report.row({
    ...{ subject: name, operation: 'changes of 200 files or more', unit: 'ms', target: CHANGES_TARGET },
    ...(await medians(7, changes, gits)),
  });
  const expected = lines(directory, 'diff', '-M', '--name-only', before, head).length;
  report.check(`${name}: files of a merge request`, (await changes()) === expected);
}

const mean = (times: readonly number[]) => times.reduce((sum, each) => sum + each, 0) / times.length;

function isClean(directory: string, ours: string, theirs: string): boolean {
  try {
    git(directory, 'merge-tree', '--write-tree', ours, theirs);
    return lines(directory, 'rev-list', '-n1', `${ours}..${theirs}`).length > 0;
  } catch {
    return false;
  }
}
