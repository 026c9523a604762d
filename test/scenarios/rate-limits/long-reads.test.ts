/** Many long reads at once: clones of a repository of 17 MiB, by readers who take what they get slowly. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { PackCache } from '../../../lib/git/pack/pack-cache.ts';
import { readPlacesKey } from '../../../lib/store/row-keys/rate-limits.ts';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { type Service, startService } from '../../harness/service.ts';

/** Of one user, one address, and one project. */
const [USER, ADDRESS, PROJECT] = [2, 1, 4];

let service: Service;
const git = new GitCli();
let tip: string;
const subjects = ['address 127.0.0.1', 'user 1'];
const readers: { readonly username: string; readonly token: string }[] = [];

beforeAll(async () => {
  process.env['LONG_READS'] = `user=${USER},address=${ADDRESS},project=${PROJECT}`;
  service = await startService({ background: false });
  for (const name of ['ada', 'bob', 'cleo']) {
    const reader = await service.user(name);
    readers.push(reader);
    subjects.push(`user ${reader.id}`);
  }
  await git.ok(git.home, 'init', '-q', '-b', 'main', 'large');
  const large = git.path('large');
  writeFileSync(`${large}/file`, randomBytes(17 * 2 ** 20));
  await git.ok(large, 'add', '.');
  await git.ok(large, 'commit', '-q', '-m', 'large');
  tip = await git.ok(large, 'rev-parse', 'HEAD');
  for (const [name, visibility] of [
    ['public', 'public'],
    ['another', 'public'],
    ['private', 'private'],
  ]) {
    const made = await service.call('POST', '/projects', {
      token: service.rootToken,
      json: { name, visibility },
    });
    expect(made.status).toBe(201);
    subjects.push(`project ${made.body.id}`);
    await git.ok(large, 'push', '-q', withToken(service.url, `root/${name}`, service.rootToken), 'main');
  }
});
const open: Clone[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((clone) => clone.goes()));
  await allFree();
});
afterAll(async () => {
  delete process.env['LONG_READS'];
  await service?.stop();
  git[Symbol.dispose]();
});

const pkt = (line: string) => (line.length + 4).toString(16).padStart(4, '0') + line;

interface Clone {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
  /** Reads it to its end. */
  ends(): Promise<number>;
  /** Closes the connection. */
  goes(): Promise<void>;
}

/** Begins a clone and reads its first bytes. */
async function begin(project: string, token?: string): Promise<Clone> {
  const gone = new AbortController();
  const response = await fetch(`${service.url}/root/${project}.git/git-upload-pack`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-git-upload-pack-request',
      'Git-Protocol': 'version=2',
      ...(token && { Authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}` }),
    },
    body: `${pkt('command=fetch')}0001${pkt(`want ${tip}\n`)}${pkt('done\n')}0000`,
    signal: gone.signal,
  });
  const body = response.body!.getReader();
  const first = await body.read();
  const clone: Clone = {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    text: Buffer.from(first.value ?? []).toString('latin1'),
    async ends() {
      let bytes = first.value?.length ?? 0;
      for (let piece = await body.read(); !piece.done; piece = await body.read()) bytes += piece.value.length;
      return bytes;
    },
    async goes() {
      gone.abort();
      await body.closed.catch(() => {});
    },
  };
  open.push(clone);
  return clone;
}

/** Waits until no place is taken: what held them notices its end a moment after its reader. */
const allFree = () =>
  expect
    .poll(async () => {
      const rows = await deps().store.table.batchGet(subjects.map(readPlacesKey));
      return rows.flatMap((row) => Object.keys(row ?? {}).filter((name) => /^p\d+$/.test(name)));
    })
    .toEqual([]);

describe('long reads at once', () => {
  test('of one user are limited: the next is told when to try again', async () => {
    const [ada, bob] = readers;
    for (let n = 0; n < USER; n++) expect((await begin('private', service.rootToken)).status).toBe(200);
    const refused = await begin('private', service.rootToken);
    expect(refused).toMatchObject({ status: 429, retryAfter: '15' });
    expect(refused.text).toBe('Too many long reads at once. Try again later.\n');
    // A place of the user is one whatever the project.
    expect((await begin('another', service.rootToken)).status).toBe(429);
    expect((await begin('public', ada!.token)).status).toBe(200);
    expect((await begin('public', bob!.token)).status).toBe(200);
  });

  test('of callers without a credential are fewer', async () => {
    for (let n = 0; n < ADDRESS; n++) expect((await begin('public')).status).toBe(200);
    expect(await begin('public')).toMatchObject({ status: 429, retryAfter: '15' });
    expect((await begin('public', readers[0]!.token)).status).toBe(200);
  });

  test('of one project are limited, and those of another are not affected', async () => {
    const tokens = readers.map(({ token }) => token);
    for (const token of [tokens[0]!, tokens[0]!, tokens[1]!, tokens[1]!])
      expect((await begin('public', token)).status).toBe(200);
    expect((await begin('public', tokens[2]!)).status).toBe(429);
    expect((await begin('another', tokens[2]!)).status).toBe(200);
  });

  test('of strangers take half of the places of a project', async () => {
    const { store, now } = deps();
    const { body: project } = await service.call('GET', '/projects/root%2Fpublic');
    const ofOtherAddresses = () => store.readPlaces.take(`project ${project.id}`, PROJECT / 2, now());
    const taken = await Promise.all([ofOtherAddresses(), ofOtherAddresses()]);
    expect((await begin('public')).status).toBe(429);
    expect((await begin('public', readers[0]!.token)).status).toBe(200);
    await Promise.all(taken.map((place) => store.readPlaces.leave(place!)));
  });

  test('of a private project are nothing that a stranger learns of', async () => {
    for (let n = 0; n < USER; n++) expect((await begin('private', service.rootToken)).status).toBe(200);
    expect((await begin('private')).status).toBe(401);
    expect((await begin('private', readers[0]!.token)).status).toBe(404);
  });
});

describe('the place of a long read is free', () => {
  test('when its answer has ended', async () => {
    const clone = await begin('public');
    expect((await begin('public')).status).toBe(429);
    expect(await clone.ends()).toBeGreaterThan(17 * 2 ** 20);
    await allFree();
    expect((await begin('public')).status).toBe(200);
  });

  test('when its reader has gone', async () => {
    const clone = await begin('public');
    expect((await begin('public')).status).toBe(429);
    await clone.goes();
    await allFree();
    expect((await begin('public')).status).toBe(200);
  });

  test('when it fails', async () => {
    const { s3 } = service.host;
    const forgotten = Object.assign(deps(), { packs: new PackCache() });
    expect(forgotten).toBe(deps());
    // The first blocks of the pack are read, the others are not.
    s3.faults.inject({
      operation: 'GetObject',
      fault: { kind: 'error', code: 'InternalError' },
      after: 2,
      times: 99,
    });
    const clone = await begin('public');
    await clone.ends().catch(() => {});
    s3.faults.clear();
    await allFree();
    expect((await begin('public')).status).toBe(200);
  });
});

test('short reads are not limited', async () => {
  for (let n = 0; n < ADDRESS; n++) expect((await begin('public')).status).toBe(200);
  const lists = await Promise.all(
    Array.from({ length: 8 }, () => service.call('GET', '/projects/root%2Fpublic/repository/commits')),
  );
  expect(lists.map(({ status }) => status)).toEqual(Array(8).fill(200));
});

describe('git without a place', () => {
  const clone = (...options: string[]) =>
    git.run(['clone', ...options, withToken(service.url, 'root/private', service.rootToken), 'refused']);
  const full = async () => {
    for (let n = 0; n < USER; n++) expect((await begin('private', service.rootToken)).status).toBe(200);
  };

  test('fails with the status', async () => {
    await full();
    const { code, stderr } = await clone();
    expect(code).not.toBe(0);
    expect(stderr).toContain('HTTP 429');
  });

  test('says why, where the answer begins before its size is known', async () => {
    await full();
    const { code, stderr } = await clone('--depth=1');
    expect(code).not.toBe(0);
    expect(stderr).toContain('Too many long reads at once. Try again later.');
  });
});
