import { git, lines } from './git.ts';
import type { HostProcess } from './host.ts';
import { median, medians } from './measure.ts';
import type { Report } from './report.ts';
import type { Subject } from './subjects.ts';

const RUNS = 15;
const FILE_TARGET = 3;

/** API reads over HTTP from the host with `root/<subject>`, compared with git as a process. */
export async function apiReads(report: Report, host: HostProcess, subject: Subject): Promise<void> {
  const { name, directory } = subject;
  const base = `/projects/root%2F${name}/repository`;
  const answerOf = (path: string) => host.call('GET', `${base}${path}`);
  const read = async (path: string) => (await answerOf(path)).arrayBuffer();
  const row = async (operation: string, path: string, args: readonly string[], target?: number) => {
    const times = await medians(
      RUNS,
      () => read(path),
      () => git(directory, ...args),
    );
    report.row({
      subject: name,
      operation,
      unit: 'ms',
      ...times,
      ...(target === undefined ? {} : { target }),
    });
  };

  const files = lines(directory, 'ls-tree', '-r', '--name-only', 'HEAD').filter((path) =>
    /^[\w./-]+$/.test(path),
  );
  const path = files[Math.floor(files.length / 2)]!;
  const file = `/files/${encodeURIComponent(path)}?ref=HEAD`;
  report.row({
    subject: name,
    operation: 'GET file, the first time',
    ours: await median(1, () => read(file)),
    unit: 'ms',
  });
  await row('GET file', file, ['cat-file', '-p', `HEAD:${path}`], FILE_TARGET);
  await row('GET raw file', file.replace('?', '/raw?'), ['cat-file', '-p', `HEAD:${path}`], FILE_TARGET);
  await row('GET 20 commits', '/commits', ['log', '--format=raw', '-n20', 'HEAD'], FILE_TARGET);
  await row('GET tree', '/tree?per_page=100', ['ls-tree', 'HEAD'], FILE_TARGET);
  await row('GET tree, recursive, page of 100', '/tree?recursive=true&per_page=100', [
    'ls-tree',
    '-r',
    'HEAD',
  ]);
  await row('GET 20 commits of a file', `/commits?path=${path}`, [
    'log',
    '--format=raw',
    '-n20',
    'HEAD',
    '--',
    path,
  ]);

  const raw = Buffer.from(await read(file.replace('?', '/raw?')));
  report.check(`${name}: ${path} over the API`, raw.equals(git(directory, 'cat-file', '-p', `HEAD:${path}`)));
  const ids = async (query: string) =>
    ((await (await answerOf(`/commits?${query}`)).json()) as { id: string }[]).map(({ id }) => id).join();
  report.check(
    `${name}: 20 commits over the API`,
    (await ids('')) === lines(directory, 'log', '--format=%H', '-n20', 'HEAD').join(),
  );
  report.check(
    `${name}: 20 commits of ${path} over the API`,
    (await ids(`path=${path}`)) === lines(directory, 'log', '--format=%H', '-n20', 'HEAD', '--', path).join(),
  );
  const listed = (await (await answerOf('/tree?per_page=100')).json()) as { id: string; name: string }[];
  const entries = lines(directory, 'ls-tree', 'HEAD').map((line) => line.split(/\s/)[2]);
  report.check(
    `${name}: tree over the API`,
    listed.length === Math.min(100, entries.length) && listed.every(({ id }) => entries.includes(id)),
  );
}
