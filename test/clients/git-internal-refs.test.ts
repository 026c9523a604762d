import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deps } from '../../functions/deps.ts';
import { pinCommit } from '../../lib/domain/commits/pin.ts';
import { type Oid, ZERO_OID } from '../../lib/git/oid.ts';
import type { RefName } from '../../lib/git/refname.ts';
import type { Key } from '../../lib/store/row-keys/key.ts';
import { RECENT_TIP, repositoryPartition } from '../../lib/store/row-keys/repository.ts';
import { type Service, startService } from '../harness/service.ts';
import { storeOf } from '../harness/world.ts';
import { GitCli, withToken } from './git-cli.ts';

/** Refs that the service keeps to itself, as git sees them: those it may fetch, and those that are not there. */
const git = new GitCli();
let service: Service;
let url: string;
let local: string;
let repository: string;
/** By name: a commit that only this ref reaches; `kept`: one that no ref does. */
const commits: Record<string, Oid> = {};

const SHOWN = [
  'refs/environments/production/deployments/1',
  'refs/merge-requests/1/head',
  'refs/pipelines/1',
];
const HIDDEN = ['refs/keep-around/1', 'refs/remotes/origin/main', 'refs/tmp/1'];

beforeAll(async () => {
  service = await startService();
  const { token } = await service.user('ada');
  const made = await service.call('POST', '/projects', {
    token,
    json: { name: 'hoard', visibility: 'public' },
  });
  repository = `/projects/${made.body.id}/repository`;
  url = withToken(service.url, 'ada/hoard', token);
  await git.ok(git.home, 'init', '--quiet', '-b', 'main', 'local');
  local = git.path('local');
  const commit = async (text: string): Promise<Oid> => {
    writeFileSync(join(local, 'file.txt'), text);
    await git.ok(local, 'add', '.');
    await git.ok(local, 'commit', '--quiet', '-m', text);
    return (await git.ok(local, 'rev-parse', 'HEAD')) as Oid;
  };
  const main = await commit('main');
  await git.ok(local, 'push', '--quiet', url, 'main');
  for (const name of [...SHOWN, ...HIDDEN, 'kept']) {
    await git.ok(local, 'reset', '--quiet', '--hard', main);
    commits[name] = await commit(name);
    await git.ok(local, 'push', '--quiet', url, 'HEAD:refs/heads/way-in');
    const project = (await storeOf().projects.get(made.body.id))!;
    const refs = storeOf().repositories.open(project.repositoryId);
    const way = { name: 'refs/heads/way-in' as RefName, from: commits[name], to: ZERO_OID };
    await refs.compareAndSwap(
      name === 'kept' ? [way] : [way, { name: name as RefName, from: ZERO_OID, to: commits[name] }],
    );
    if (name === 'kept')
      await pinCommit(deps(), project, commits[name], (keep) => storeOf().table.transact(keep));
  }
  await git.ok(local, 'reset', '--quiet', '--hard', main);
  // As it is a quarter of an hour later.
  const { repositoryId } = (await storeOf().projects.get(made.body.id))!;
  const left = { partition: repositoryPartition(repositoryId), prefix: RECENT_TIP };
  for await (const { pk, sk } of storeOf().table.queryAll(left))
    await storeOf().table.delete({ delete: { pk, sk } as Key });
});
afterAll(async () => {
  await service.stop();
  git[Symbol.dispose]();
});

test('internal refs cannot be created, moved or deleted by clients', async () => {
  const names = [...SHOWN, ...HIDDEN];
  const before = await git.ok(local, 'ls-remote', url);
  const refs = names.flatMap((name) => [`HEAD:${name}`, `HEAD:${name}-new`]);
  const told = await git.fails(local, 'push', '--force', url, ...refs);
  expect(told.match(/! \[remote rejected\] HEAD -> \S+ \(deny updating a hidden ref\)/g)).toHaveLength(12);
  // git does not know that they are there.
  const kept = await git.fails(local, 'push', url, ...names.map((name) => `:${name}`));
  expect(kept.match(/! \[remote rejected\] \S+ \(deny deleting a hidden ref\)/g)).toHaveLength(6);
  const address = new URL(url);
  const lines = names.map((name, i) => {
    const line = `${commits[name]} ${ZERO_OID} ${name}${i === 0 ? '\0report-status' : ''}`;
    return (line.length + 4).toString(16).padStart(4, '0') + line;
  });
  const answer = await fetch(`${service.url}${address.pathname}/git-receive-pack`, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${Buffer.from(`${address.username}:${address.password}`).toString('base64')}`,
      'Content-Type': 'application/x-git-receive-pack-request',
    },
    body: `${lines.join('')}0000`,
  });
  const text = await answer.text();
  for (const name of names) expect(text).toContain(`ng ${name} deny deleting a hidden ref\n`);
  expect(await git.ok(local, 'ls-remote', url)).toBe(before);
});

test('other refs in a push with an internal ref are updated, unless it is atomic', async () => {
  const told = await git.fails(local, 'push', url, 'HEAD:refs/heads/beside', 'HEAD:refs/keep-around/2');
  expect(told).toMatch(/\[new branch\] +HEAD -> beside/);
  const refs = ['HEAD:refs/heads/together', 'HEAD:refs/keep-around/2'];
  expect(await git.fails(local, 'push', '--atomic', url, ...refs)).toContain('atomic push failure');
  expect(await git.ok(local, 'ls-remote', url)).not.toContain('together');
  // A mirror of a clone with remotes: the rest of it arrives.
  await git.ok(local, 'remote', 'add', 'origin', url);
  await git.ok(local, 'fetch', '--quiet', 'origin');
  expect(await git.fails(local, 'push', '--mirror', url)).toContain(
    '! [remote rejected] origin/main -> origin/main (deny updating a hidden ref)',
  );
});

describe.each([0, 1, 2])('Git protocol version %i', (version) => {
  const protocol = ['-c', `protocol.version=${version}`];

  test('lists and fetches shown internal refs, not hidden ones', async () => {
    const listed = await git.ok(git.home, ...protocol, 'ls-remote', url);
    for (const name of SHOWN) expect(listed).toContain(`${commits[name]}\t${name}`);
    for (const name of [...HIDDEN, 'kept']) expect(listed).not.toContain(commits[name]);
    const copy = git.path(`fetched-${version}`);
    await git.ok(git.home, 'init', '--quiet', copy);
    await git.ok(copy, ...protocol, 'fetch', '--quiet', url, 'refs/merge-requests/1/head');
    expect(await git.ok(copy, 'rev-parse', 'FETCH_HEAD')).toBe(commits['refs/merge-requests/1/head']);
    expect(await git.fails(copy, ...protocol, 'fetch', '--quiet', url, HIDDEN[0]!)).toContain(
      `couldn't find remote ref ${HIDDEN[0]}`,
    );
  });

  test('keeps commits reachable only from hidden refs out of clones and out of reach by id', async () => {
    const copy = await git.clone(url, `mirror-${version}`, ...protocol, '--mirror');
    const objects = await git.ok(copy, 'cat-file', '--batch-all-objects', '--batch-check', '--unordered');
    for (const name of SHOWN) expect(objects).toContain(commits[name]);
    for (const name of [...HIDDEN, 'kept']) {
      const below = name === 'kept' ? ['', '^{tree}', ':file.txt'] : [''];
      const ids = await git.lines(local, 'rev-parse', ...below.map((part) => commits[name]! + part));
      for (const id of ids) {
        expect(objects).not.toContain(id);
        expect(await git.fails(copy, ...protocol, 'fetch', '--quiet', url, id)).toContain(
          `upload-pack: not our ref ${id}`,
        );
      }
    }
  });
});

test('forgets a deleted hidden ref, and keeps a deleted shown ref for clones under way', async () => {
  const [shown, hidden] = [SHOWN[0]!, HIDDEN[0]!];
  const { id } = (await service.call('GET', '/projects/ada%2Fhoard')).body;
  const refs = storeOf().repositories.open((await storeOf().projects.get(id))!.repositoryId);
  const gone = [shown, hidden].map((name) => ({ name: name as RefName, from: commits[name]!, to: ZERO_OID }));
  await refs.compareAndSwap(gone);
  expect(await refs.recentTips()).toMatchObject([
    { name: shown },
    { name: hidden },
    { name: 'refs/heads/beside' },
  ]);
  const copy = git.path('late');
  await git.ok(git.home, 'init', '--quiet', copy);
  await git.ok(copy, 'fetch', '--quiet', url, commits[shown]!);
  expect(await git.fails(copy, 'fetch', '--quiet', url, commits[hidden]!)).toContain(
    `upload-pack: not our ref ${commits[hidden]}`,
  );
});

test('the API shows every commit by id, internal refs included', async () => {
  for (const commit of Object.values(commits)) {
    expect((await service.call('GET', `${repository}/commits/${commit}`)).status).toBe(200);
  }
  expect((await service.call('GET', `${repository}/branches`)).body).toMatchObject([{ name: 'main' }]);
});
