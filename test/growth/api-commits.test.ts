/**
 * A repository that only ever grows by single commits stays as fast to read as a new one. 600 commits, or
 * `MAINTENANCE_COMMITS`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PackCache } from '../../lib/git/pack/pack-cache.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import type { ObjectDatabase } from '../../lib/git/ports.ts';
import { GitRepository } from '../../lib/git/repository.ts';
import { GitObjects } from '../../lib/store/repository/pack-objects.ts';
import { GitCli, withToken } from '../clients/git-cli.ts';
import { type Service, startService } from '../harness/service.ts';
import { storeOf } from '../harness/world.ts';

const COMMITS = Number(process.env['MAINTENANCE_COMMITS'] ?? 600);
const git = new GitCli();
let service: Service;
let token: string;
beforeAll(async () => {
  service = await startService();
  token = (await service.user('ada')).token;
});
afterAll(async () => {
  await service.stop();
  git[Symbol.dispose]();
});

test(`${COMMITS} commits of one file each leave a dozen packs at most, and reading is not slower`, {
  timeout: 300_000 + 1000 * COMMITS,
}, async () => {
  const made = await service.call('POST', '/projects', {
    token,
    json: { name: 'many', visibility: 'public' },
  });
  const repository = `/projects/${made.body.id}/repository`;
  const { repositoryId } = (await storeOf().projects.get(made.body.id))!;
  const commit = async (i: number) => {
    const path = `area-${i % 23}/part-${i % 101}/file-${i}.txt`;
    const answer = await service.call('POST', `${repository}/files/${encodeURIComponent(path)}`, {
      token,
      json: { branch: 'main', commit_message: `commit ${i}`, content: `content ${i}\n` },
    });
    expect([answer.status, answer.body]).toMatchObject([201, { branch: 'main' }]);
  };
  const active = async () => (await storeOf().repositories.open(repositoryId).listPacks()).length;

  let next = 0;
  for (; next < 25; next++) await commit(next);
  while ((await active()) > 8) await sleep(50);
  const before = await pageOfCommits(repositoryId);

  // Real pushes to a branch of their own meanwhile.
  const clone = await git.clone(withToken(service.url, 'ada/many', token), 'many');
  let pushes = 0;
  let committing = true;
  const pushing = (async () => {
    while (committing) {
      await git.ok(clone, 'commit', '--quiet', '--allow-empty', '-m', `push ${pushes}`);
      await git.ok(clone, 'push', '--quiet', 'origin', 'HEAD:pushed');
      pushes++;
      await sleep(1000);
    }
  })();
  let most = 0;
  const started = performance.now();
  for (; next < COMMITS; next++) {
    await commit(next);
    if (next % 20 === 0) most = Math.max(most, await active());
  }
  const seconds = (performance.now() - started) / 1000;
  committing = false;
  await pushing;
  await expect.poll(active).toBeLessThanOrEqual(12);

  const after = await pageOfCommits(repositoryId);
  const stored = (await storeOf().repositories.open(repositoryId).catalogue()).length;
  process.stderr.write(
    `${COMMITS} commits in ${seconds.toFixed(1)} s beside ${pushes} pushes; ${await active()} packs, ${most} at most, ` +
      `${stored} with those superseded; a page of commits: ${JSON.stringify(before)}, then ${JSON.stringify(after)}\n`,
  );
  // How many packs stand at this very moment differs from run to run, between one and twelve.
  expect(after.trips).toBeLessThanOrEqual(before.trips + 2);
  expect(after.reads).toBeLessThanOrEqual(24);
  expect(after.bytes).toBeLessThanOrEqual(before.bytes + 12 * 256 * 1024);
  expect(pushes).toBeGreaterThan(0);

  const fresh = await git.clone(withToken(service.url, 'ada/many'), 'fresh');
  expect(await git.ok(fresh, 'rev-list', '--count', 'origin/main')).toBe(String(COMMITS));
  expect(await git.ok(fresh, 'rev-list', '--count', 'origin/pushed')).toBe(String(25 + pushes));
  expect(await git.lines(fresh, 'ls-tree', '-r', '--name-only', 'origin/main')).toHaveLength(COMMITS);
});

/** What a function that has nothing in memory reads for it: requests for bytes, how many of them in sequence, bytes. */
async function pageOfCommits(repositoryId: string): Promise<{ trips: number; reads: number; bytes: number }> {
  const store = storeOf();
  const refs = store.repositories.open(repositoryId);
  const objects = new GitObjects(store.blobs, refs, repositoryId);
  let [trips, reads, bytes, running] = [0, 0, 0, 0];
  const counted: ObjectDatabase = {
    listPacks: (options) => objects.listPacks(options),
    newPack: (content, about) => objects.newPack(content, about),
    rollbackPack: (pack) => objects.rollbackPack(pack),
    open: (pack, part) => {
      const access = objects.open(pack, part);
      return {
        size: access.size,
        read: async (offset, length) => {
          if (running++ === 0) trips++;
          reads++;
          bytes += length;
          return access.read(offset, length).finally(() => running--);
        },
      };
    },
  };
  const repository = new GitRepository({
    objects: counted,
    refs,
    store: new PackStore(counted, { cache: new PackCache() }),
  });
  const { head } = await repository.headRef();
  const page = await repository.log({ tips: [head!.oid], limit: 20 });
  expect(page).toHaveLength(20);
  return { trips, reads, bytes };
}
