import { isUtf8 } from 'node:buffer';
import type { LogQuery } from '../../lib/git/history.ts';
import type { Oid } from '../../lib/git/oid.ts';
import { parseCommit } from '../../lib/git/parse.ts';
import { parseTrailers } from '../../lib/git/trailers.ts';
import { encodePath } from '../../lib/git/tree/path.ts';
import type { Sample } from './agreement.ts';
import { git, lines } from './git.ts';

const EVERYTHING = 1_000_000;

/** Logs in all their forms, merge bases, ancestry, authors, trailers. */
export async function agreeOnHistory(sample: Sample): Promise<void> {
  await logs(sample);
  await pathLogs(sample);
  await pairs(sample);
  await containing(sample);
  await authors(sample);
  await trailers(sample);
}

async function sameLog(sample: Sample, operation: string, query: LogQuery, args: string[]): Promise<void> {
  const found = await sample.history.log({ ...query, limit: EVERYTHING });
  const expected = lines(sample.directory, 'rev-list', ...args);
  sample.compare(operation, found.map(({ oid }) => oid).join() === expected.join());
}

async function logs(sample: Sample): Promise<void> {
  const { head, commits } = sample;
  const log = (query: Partial<LogQuery>, ...args: string[]) =>
    sameLog(sample, 'logs', { tips: [head], ...query }, [...args, head]);
  await log({});
  await log({ firstParent: true }, '--first-parent');
  await log({ order: 'topo' }, '--topo-order');
  const dates = sample.pick(commits, 6).map((oid) => committed(sample, oid));
  for (const [i, date] of dates.entries()) {
    await log({ since: date }, `--since=${date}`);
    await log({ until: date }, `--until=${date}`);
    const [since, until] = [dates[5]!, dates[5 - i]!].sort((a, b) => a - b) as [number, number];
    await log({ since, until, firstParent: true }, `--since=${since}`, `--until=${until}`, '--first-parent');
  }
  const tips = sample.pick(commits, sample.few);
  for (const [i, exclude] of tips.entries()) {
    const tip = tips[(i * 7 + 3) % tips.length]!;
    await sameLog(sample, 'logs of ranges', { tips: [tip], exclude: [exclude] }, [`${exclude}..${tip}`]);
    const topo = { tips: [tip, head], exclude: [exclude], order: 'topo' } as const;
    await sameLog(sample, 'logs of ranges', topo, ['--topo-order', tip, head, `^${exclude}`]);
  }
}

const committed = ({ directory }: Sample, oid: Oid): number =>
  Number(git(directory, 'show', '-s', '--format=%ct', oid).toString());

async function pathLogs(sample: Sample): Promise<void> {
  const { head, directory, commits } = sample;
  const folders = lines(directory, 'ls-tree', '-r', '-d', '--name-only', head).filter((path) =>
    /^[\w./-]+$/.test(path),
  );
  for (const path of [...sample.pick(sample.files, sample.few), ...sample.pick(folders, sample.few / 4)]) {
    const query = { tips: [head], path: encodePath(path)! };
    await sameLog(sample, 'logs of paths', query, [head, '--', path]);
    const last = await sample.history.lastCommitForPath(head, query.path);
    sample.compare(
      'last commits of paths',
      last?.oid === lines(directory, 'rev-list', '-n1', head, '--', path)[0],
    );
  }
  const old = commits[commits.length >> 1]!;
  for (const path of sample.pick(sample.files, sample.few / 4)) {
    const query = { tips: [head], exclude: [old], path: encodePath(path)!, firstParent: true };
    await sameLog(sample, 'logs of paths', query, ['--first-parent', `${old}..${head}`, '--', path]);
  }
}

async function pairs(sample: Sample): Promise<void> {
  const picked = sample.pick(sample.commits, sample.many);
  for (const [i, one] of picked.entries()) {
    const other = picked[(i * 13 + 5) % picked.length]!;
    const bases = (await sample.history.mergeBases(one, [other])).map(({ oid }) => oid).sort();
    const expected = mergeBases(sample, '--all', one, other).sort();
    sample.compare('merge bases', bases.join() === expected.join());
    sample.compare('ancestry', (await sample.history.isAncestor(other, one)) === expected.includes(other));
  }
  for (let i = 0; i + 2 < picked.length; i += 6) {
    const three = picked.slice(i, i + 3);
    const bases = (await sample.history.commonAncestors(three)).map(({ oid }) => oid).sort();
    const expected = mergeBases(sample, '--octopus', '--all', ...three).sort();
    sample.compare('merge bases', bases.join() === expected.join());
  }
}

/** git's exit status tells that there is none. */
function mergeBases({ directory }: Sample, ...args: string[]): string[] {
  try {
    return lines(directory, 'merge-base', ...args);
  } catch {
    return [];
  }
}

async function containing(sample: Sample): Promise<void> {
  const refs = lines(sample.directory, 'for-each-ref', '--format=%(refname)').flatMap(
    (name): [Oid, string][] => {
      try {
        return [[lines(sample.directory, 'rev-parse', '--verify', `${name}^{commit}`)[0] as Oid, name]];
      } catch {
        // A tag of another object type.
        return [];
      }
    },
  );
  for (const commit of sample.pick(sample.commits, sample.few)) {
    const flags = await sample.history.containing(
      refs.map(([oid]) => oid),
      commit,
    );
    const names = refs.filter((_, i) => flags[i]).map(([, name]) => name);
    const expected = lines(sample.directory, 'for-each-ref', '--contains', commit, '--format=%(refname)');
    sample.compare('refs that contain a commit', names.sort().join() === expected.sort().join());
    const merged = await sample.history.merged(
      refs.map(([oid]) => oid),
      commit,
    );
    const reached = refs.filter((_, i) => merged[i]).map(([, name]) => name);
    const theirs = lines(sample.directory, 'for-each-ref', '--merged', commit, '--format=%(refname)');
    sample.compare('refs merged into a commit', reached.sort().join() === theirs.sort().join());
  }
}

/** The counts of `git shortlog -sne`, with addresses compared case-insensitively. */
async function authors(sample: Sample): Promise<void> {
  for (const tip of sample.pick(sample.commits, 4)) {
    const expected = new Map<string, number>();
    const log = git(
      sample.directory,
      '-c',
      'log.mailmap=false',
      'log',
      '--no-merges',
      '--format=%an <%ae>',
      tip,
    );
    for (const raw of log.toString('latin1').split('\n')) {
      const bytes = Buffer.from(raw, 'latin1');
      // git passes on bytes that are not UTF-8 unchanged if no encoding is declared.
      const line = isUtf8(bytes) ? bytes.toString() : raw;
      const at = line.lastIndexOf(' <');
      if (at < 0) continue;
      const key = line.slice(0, at) + line.slice(at).toLowerCase();
      expected.set(key, (expected.get(key) ?? 0) + 1);
    }
    const found = await sample.history.authors(tip);
    let same = 0;
    for (const { name, email, commits } of found) {
      if (expected.get(`${name} <${email.toLowerCase()}>`) === commits) same++;
    }
    sample.compare('contributors', true, { same, all: Math.max(found.length, expected.size) });
  }
}

async function trailers(sample: Sample): Promise<void> {
  const format = '--format=%x1e%(trailers:only,unfold)%x1f';
  const log = git(sample.directory, 'log', format, sample.head).toString();
  const expected = log
    .split('\x1e')
    .slice(1)
    .map((part) => part.slice(0, part.lastIndexOf('\x1f')));
  for (const n of sample.pick(
    Array.from(sample.commits, (_, i) => i),
    10 * sample.many,
  )) {
    const { data } = await sample.store.read(sample.commits[n]!);
    const { message } = parseCommit(data);
    const found = parseTrailers(message).map(({ key, value }) => `${key}: ${value}`);
    sample.compare('trailers', found.join('\n') === expected[n]!.trim());
  }
}
