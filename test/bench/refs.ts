/**
 * `npm run bench refs`: time and memory for a repository with a million branches (or `BENCH_REFS`). The host, its
 * embedded table and the client share this process, so its memory is that of all of them; git is a separate process.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { type Oid, ZERO_OID } from '../../lib/git/oid.ts';
import type { RefName } from '../../lib/git/refname.ts';
import { FLUSH, pkt } from '../../lib/git/wire/pkt-line.ts';
import { createStore } from '../../lib/store/store.ts';
import { forgetEverything } from '../harness/aws-calls.ts';
import { RoundTrips } from '../harness/round-trips.ts';
import { startService } from '../harness/service.ts';
import { pushedProject } from '../scenarios/repository/pushed-project.ts';

const SLICE = 100_000;
/** Branches on pages that are read point to an existing commit, the others to distinct random ids. */
const isLookedAt = (n: number) => (n + 200) % 50_000 < 500;
const run = promisify(execFile);
const short = (n: number) => `topic/${n.toString().padStart(7, '0')}`;

export async function manyRefs(): Promise<void> {
  const wanted = Number(process.env['BENCH_REFS'] ?? 1_000_000);
  const service = await startService({ background: false });
  const scratch = mkdtempSync(join(tmpdir(), 'lemnos-refs-'));
  try {
    const ada = await service.user('ada');
    const { id, repository, git } = await pushedProject(service, ada, 'many', (git) => {
      const who = (i: number) => `committer A <a@example.com> ${1_600_000_000 + i * 60} +0000\ndata 2\nm\n`;
      const commit = (i: number) =>
        `commit refs/heads/main\n${who(i)}M 100644 inline f${i % 10}\ndata 4\n${1000 + i}\n`;
      git.feed(Array.from({ length: 100 }, (_, i) => commit(i)).join('\n'), 'fast-import', '--quiet');
    });
    const store = createStore();
    const { repositoryId } = (await store.projects.get(id))!;
    const open = () => store.repositories.open(repositoryId);
    const tip = (await open().get(['refs/heads/main' as RefName])).get('refs/heads/main' as RefName)!;
    const env = {
      PATH: process.env['PATH'],
      HOME: scratch,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
    };
    const cli = (...args: string[]) => run('git', args, { cwd: git.directory, env, maxBuffer: 2 ** 30 });
    const url = service.url.replace('://', `://ada:${ada.token}@`).concat('/ada/many.git');
    const trips = RoundTrips.of(service.host);

    const measured = async (name: string, work: () => Promise<unknown>) => {
      forgetEverything();
      globalThis.gc?.();
      const before = process.memoryUsage().rss;
      let peak = before;
      const watch = setInterval(() => {
        peak = Math.max(peak, process.memoryUsage().rss);
      }, 50);
      const begun = performance.now();
      const { trips: taken, bytes } = await trips.of(work);
      const seconds = (performance.now() - begun) / 1000;
      clearInterval(watch);
      const mb = (n: number) => Math.round(n / 2 ** 20);
      process.stdout.write(
        `${name.padEnd(44)} ${seconds.toFixed(2)} s, ${taken.length} trips, ${(bytes.D / 1024).toFixed(0)} KB of the table, ` +
          `memory ${mb(before)} → ${mb(peak)} MB\n`,
      );
    };
    for (let from = 0; from < wanted; from += SLICE) {
      const updates = Array.from({ length: Math.min(SLICE, wanted - from) }, (_, i) => ({
        name: `refs/heads/${short(from + i)}` as RefName,
        from: ZERO_OID as Oid,
        to: isLookedAt(from + i)
          ? tip.oid
          : (createHash('sha1')
              .update(`${from + i}`)
              .digest('hex') as Oid),
        committed: 1_600_000_000 + from + i,
      }));
      await measured(`${updates.length} more, after ${from}`, () => open().compareAndSwap(updates));
    }
    const get = async (path: string) => {
      const { status } = await service.call('GET', `${repository}${path}`, { token: ada.token });
      if (status !== 200) throw new Error(`${path}: ${status}`);
    };
    const middle = short(wanted >> 1);
    await measured('page of branches', () => get('/branches'));
    await measured('page of branches at 50,000', () => get('/branches?per_page=100&page=501'));
    await measured('page of branches by keyset', () =>
      get(`/branches?pagination=keyset&page_token=${middle}`),
    );
    await measured('page of branches by time', () => get('/branches?sort=updated_desc'));
    await measured('search for one', () => get(`/branches?search=${middle}`));
    await measured('search that many match', () => get('/branches?search=topic'));
    await measured('one branch', () => get(`/branches/${encodeURIComponent(middle)}`));
    await measured('new branch', () =>
      service.call('POST', `${repository}/branches`, {
        token: ada.token,
        json: { branch: 'new', ref: 'main' },
      }),
    );
    await measured('git ls-remote', () => cli('ls-remote', url));
    await measured('git ls-remote of one', () => cli('ls-remote', url, `refs/heads/${middle}`));
    await measured('git clone --single-branch', () =>
      cli('clone', '--quiet', '--bare', '--single-branch', '--branch', middle, url, join(scratch, 'one')),
    );
    await cli('branch', 'pushed', 'main~1');
    await measured('git push of one branch', () => cli('push', '--quiet', url, 'pushed'));
    // git's client takes a second per thousand refs of the server and per thousand refs it creates.
    const push = async (count: number) => {
      const answer = await fetch(`${service.url}/ada/many.git/git-receive-pack`, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-git-receive-pack-request',
          authorization: `Basic ${Buffer.from(`ada:${ada.token}`).toString('base64')}`,
        },
        body: Readable.toWeb(Readable.from(commands(count, tip.oid))) as unknown as BodyInit,
        duplex: 'half',
      } as RequestInit);
      const report = await answer.text();
      const taken = report.includes('unpack ok');
      if (taken !== count <= 20_000) throw new Error(report.slice(0, 500));
    };
    await measured('a push of 20,000 new branches', () => push(20_000));
    await measured('a push of a million, refused', () => push(1_000_000));
    await measured('folding', () => open().foldRefs());
  } finally {
    await service.stop();
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** A push of this many new refs to an existing commit. */
function* commands(count: number, oid: Oid): Generator<Uint8Array> {
  for (let i = 0; i < count; i += 1000) {
    const lines = Array.from({ length: 1000 }, (_, k) => {
      const capabilities = i + k === 0 ? '\0report-status' : '';
      return pkt(`${ZERO_OID} ${oid} refs/heads/wide/${i + k}${capabilities}`);
    });
    yield Buffer.concat(lines);
  }
  const header = Buffer.from('PACK\0\0\0\u0002\0\0\0\0', 'latin1');
  yield Buffer.concat([FLUSH, header, createHash('sha1').update(header).digest()]);
}
