/** What a large file costs: its pack is read once, although its digest goes out before its content. */
import { createHash, randomFillSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { bytesOf, forgetEverything, interpose } from '../../harness/aws-calls.ts';
import { type Service, startService } from '../../harness/service.ts';

const MIB = 2 ** 20;
const noise = (mib: number) => randomFillSync(Buffer.alloc(mib * MIB));

/** By name: content, and the MiB that a pack has of it. */
const FILES: Readonly<Record<string, readonly [content: Buffer, packed: number]>> = {
  'held.bin': [noise(3), 3],
  'large.bin': [noise(8), 8],
  'larger.bin': [noise(20), 20],
  'zeros.bin': [Buffer.alloc(40 * MIB), 0],
};
/** MiB of indexes and trees, and of what is read ahead while an object ends. */
const SLACK = 5;

const git = new GitCli();
let service: Service;
let repository: string;
let fetched = 0;
beforeAll(async () => {
  service = await startService({ background: false });
  const { token } = await service.user('ada');
  const json = { name: 'large', visibility: 'public' };
  const { body } = await service.call('POST', '/projects', { token, json });
  repository = `${service.url}/api/v4/projects/${body.id}/repository`;
  await git.ok(git.home, 'init', '--quiet', '-b', 'main', 'local');
  const local = git.path('local');
  for (const [name, [content]] of Object.entries(FILES)) writeFileSync(join(local, name), content);
  await git.ok(local, 'add', '.');
  await git.ok(local, 'commit', '--quiet', '-m', 'files');
  await git.ok(local, 'push', '--quiet', withToken(service.url, 'ada/large', token), 'main');
  interpose(service.host, async (call, send) => {
    const answer = await send();
    if (call.service === 'S' && call.operation === 'GET') fetched += bytesOf(answer);
    return answer;
  });
});
afterAll(async () => {
  await service.stop();
  git[Symbol.dispose]();
});

const PATHS: Readonly<Record<string, (name: string) => string>> = {
  'GET raw': (name) => `files/${name}/raw?ref=main`,
  'HEAD raw': (name) => `files/${name}/raw?ref=main`,
  HEAD: (name) => `files/${name}?ref=main`,
  'GET in JSON': (name) => `files/${name}?ref=main`,
};

test.each(Object.keys(PATHS).flatMap((way) => Object.keys(FILES).map((name) => [way, name] as const)))(
  '%s of %s',
  async (way, name) => {
    const [content, packed] = FILES[name]!;
    if (way === 'GET in JSON' && content.length > 32 * MIB) return;
    forgetEverything();
    fetched = 0;
    const answer = await fetch(`${repository}/${PATHS[way]!(name)}`, { method: way.split(' ')[0]! });
    const body = Buffer.from(await answer.arrayBuffer());
    expect(answer.status).toBe(200);
    const sha256 = createHash('sha256').update(content).digest('hex');
    // The bucket serves large content, without the digest.
    if (!answer.redirected) expect(answer.headers.get('x-lemnos-content-sha256')).toBe(sha256);
    if (way === 'GET raw') expect(body.equals(content)).toBe(true);
    expect(fetched / MIB).toBeGreaterThan(packed);
    expect(fetched / MIB).toBeLessThan(packed + SLACK);
  },
);
