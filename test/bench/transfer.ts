import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { git, gitBeside, lines } from './git.ts';
import type { HostProcess } from './host.ts';
import { type HttpBackend, startHttpBackend } from './http-backend.ts';
import { median } from './measure.ts';
import type { Report } from './report.ts';
import type { Subject } from './subjects.ts';

const TARGET = 2.5;

/**
 * Pushes a repository and clones it again, with stock git over HTTP, to the host and to git's own server.
 * Leaves the repository in the host, at `root/<subject>`.
 */
export async function transfer(report: Report, host: HostProcess, subject: Subject): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lemnos-bench-git-'));
  const peer = await startHttpBackend(folder);
  try {
    await push(report, host, peer, folder, subject);
    await clone(report, host, peer, folder, subject);
  } finally {
    await peer.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes the host's `root/<project>` and pushes a repository to it. @returns the milliseconds of the push */
export async function pushed(host: HostProcess, { directory }: Subject, project: string): Promise<number> {
  const branch = git(directory, 'symbolic-ref', '--short', 'HEAD').toString().trim();
  await host.call('POST', '/projects', { name: project, path: project, default_branch: branch });
  return median(1, () => send(directory, host.remote(project)));
}

const send = (directory: string, url: string) =>
  gitBeside(directory, 'push', '--quiet', url, 'refs/heads/*:refs/heads/*', 'refs/tags/*:refs/tags/*');

async function push(
  report: Report,
  host: HostProcess,
  peer: HttpBackend,
  folder: string,
  subject: Subject,
): Promise<void> {
  const { name, directory, runs } = subject;
  const branch = git(directory, 'symbolic-ref', '--short', 'HEAD').toString().trim();
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let run = runs - 1; run >= 0; run--) {
    // The last push goes to the repository that is cloned.
    const project = run === 0 ? name : `${name}-${run}`;
    ours.push(await pushed(host, subject, project));
    if (run > 0) await host.call('DELETE', `/projects/root%2F${project}`);

    git(folder, 'init', '--quiet', '--bare', `--initial-branch=${branch}`, `${project}.git`);
    git(join(folder, `${project}.git`), 'config', 'http.receivepack', 'true');
    theirs.push(await median(1, () => send(directory, `${peer.url}/${project}.git`)));
    if (run > 0) rmSync(join(folder, `${project}.git`), { recursive: true });
  }
  report.row({
    subject: name,
    operation: 'push',
    ours: least(ours),
    git: least(theirs),
    unit: 'ms',
    target: TARGET,
  });
  const refs = lines(host.remote(name) && directory, 'ls-remote', host.remote(name)).sort();
  report.check(`${name}: refs after the push`, same(refs, lines(directory, 'ls-remote', directory).sort()));
}

async function clone(
  report: Report,
  host: HostProcess,
  peer: HttpBackend,
  folder: string,
  { name, directory, runs }: Subject,
): Promise<void> {
  const fetch = async (url: string, to: string) => {
    rmSync(join(folder, to), { recursive: true, force: true });
    await gitBeside(folder, 'clone', '--quiet', '--bare', url, to);
  };
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let run = 0; run < runs; run++) {
    ours.push(await median(1, () => fetch(host.remote(name), 'ours')));
    theirs.push(await median(1, () => fetch(`${peer.url}/${name}.git`, 'theirs')));
  }
  report.row({
    subject: name,
    operation: 'full clone',
    ours: least(ours),
    git: least(theirs),
    unit: 'ms',
    target: TARGET,
  });
  const refs = (of: string) => lines(of, 'for-each-ref', '--format=%(objectname) %(objecttype) %(refname)');
  report.check(`${name}: refs of the clone`, same(refs(join(folder, 'ours')), refs(directory)));
  report.check(`${name}: HEAD of the clone`, head(join(folder, 'ours')) === head(directory));
  report.check(`${name}: git fsck of the clone`, isSound(join(folder, 'ours')));
  report.check(
    `${name}: the clone holds what git's own holds, no more`,
    objects(join(folder, 'ours')) === objects(join(folder, 'theirs')),
  );
}

const least = (times: readonly number[]) => Math.min(...times);
const same = (one: readonly string[], other: readonly string[]) => one.join('\n') === other.join('\n');
const head = (directory: string) => git(directory, 'symbolic-ref', 'HEAD').toString();
const objects = (directory: string) =>
  /in-pack: (\d+)/.exec(git(directory, 'count-objects', '-v').toString())?.[1];

function isSound(directory: string): boolean {
  try {
    git(directory, 'fsck', '--full', '--no-dangling');
    return true;
  } catch (error) {
    process.stdout.write(`${basename(directory)}: ${String(error)}\n`);
    return false;
  }
}
