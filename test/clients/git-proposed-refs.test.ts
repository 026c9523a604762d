/** What was proposed is there until it is deleted: git fetches its latest head and its merge, and all its versions are shown. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deps } from '../../functions/deps.ts';
import { collect } from '../../lib/git/maintenance/collect.ts';
import { MaintainedGitObjects } from '../../lib/store/repository/maintained-objects.ts';
import { type Service, startService } from '../harness/service.ts';
import { settled } from '../harness/settled.ts';
import { GitCli, withToken } from './git-cli.ts';

const git = new GitCli();
let service: Service;
let token: string;
beforeAll(async () => {
  service = await startService();
  ({ token } = await service.user('ada'));
});
afterAll(async () => {
  await service.stop();
  git[Symbol.dispose]();
});

const call = async (method: string, path: string, json?: object) => {
  const { status, body } = await service.call(method, path, { token, ...(json && { json }) });
  expect(status, `${method} ${path}: ${JSON.stringify(body)}`).toBeLessThan(300);
  return body;
};

/** Collections of garbage as long after each other as what they find is kept. @returns the objects that the first found */
async function collectGarbage(projectId: number): Promise<number> {
  const { store } = deps();
  const { repositoryId } = (await store.projects.get(projectId))!;
  const found: number[] = [];
  for (const days of [1, 30, 60]) {
    const now = new Date(Date.now() + days * 86_400_000);
    const lease = (await store.leases.acquire(repositoryId, 900, now))!;
    const epoch = await store.repositories.raiseEpoch(repositoryId);
    const objects = new MaintainedGitObjects(store, lease, now);
    const refs = store.repositories.open(repositoryId);
    found.push((await collect(objects, refs, { epoch, now }))!.garbage);
    await store.leases.release(lease);
  }
  return found[0]!;
}

test('the head and the merge are fetched, and every version is shown when its branch is gone and garbage is collected', async () => {
  const { id } = await call('POST', '/projects', { name: 'kept', initialize_with_readme: true });
  const at = await git.clone(withToken(service.url, 'ada/kept', token), 'kept');
  const commit = async (text: string) => {
    await git.ok(at, 'reset', '--quiet', '--hard', 'origin/main');
    await git.ok(at, 'commit', '--quiet', '--allow-empty', '-m', 'Begin');
    const blob = (await git.run(['hash-object', '-w', '--stdin'], { cwd: at, input: text })).stdout;
    await git.ok(at, 'update-index', '--add', '--cacheinfo', `100644,${blob.toString().trim()},file`);
    await git.ok(at, 'commit', '--quiet', '-m', text);
    return git.ok(at, 'rev-parse', 'HEAD');
  };
  const push = async (branch: string) => {
    await git.ok(at, 'push', '--quiet', '--force', 'origin', `HEAD:refs/heads/${branch}`);
    await settled();
  };
  const heads = [await commit('one')];
  await push('topic');
  const proposal = { title: 'Topic', source_branch: 'topic', target_branch: 'main' };
  const mr = `/projects/${id}/merge_requests/${(await call('POST', `/projects/${id}/merge_requests`, proposal)).iid}`;
  for (const text of ['two', 'three']) {
    heads.unshift(await commit(text));
    await push('topic');
  }
  const main = await git.ok(at, 'rev-parse', 'origin/main');
  // Checked, and not asked for.
  await git.ok(at, 'fetch', '--quiet', 'origin', 'refs/merge-requests/1/merge');
  const merge = await git.ok(at, 'rev-parse', 'FETCH_HEAD');
  expect((await call('GET', `${mr}/merge_ref`)).commit_id).toBe(merge);
  for (const [ref, expected] of [
    ['head', heads[0]],
    ['merge', merge],
  ]) {
    await git.ok(at, 'fetch', '--quiet', 'origin', `refs/merge-requests/1/${ref}`);
    expect(await git.ok(at, 'rev-parse', 'FETCH_HEAD')).toBe(expected);
  }
  expect(await git.ok(at, 'rev-parse', 'FETCH_HEAD^1', 'FETCH_HEAD^2')).toBe(`${main}\n${heads[0]}`);
  const lost = await commit('lost');
  await push('aside');
  await git.ok(at, 'push', '--quiet', 'origin', ':topic', ':aside');
  await settled();

  expect(await collectGarbage(id)).toBeGreaterThanOrEqual(3);
  const gone = await service.call('GET', `/projects/${id}/repository/commits/${lost}`, { token });
  expect(gone.status).toBe(404);
  const versions = await call('GET', `${mr}/versions`);
  expect(versions.map((each: { head_commit_sha: string }) => each.head_commit_sha)).toEqual(heads);
  for (const [i, text] of ['three', 'two', 'one'].entries()) {
    const shown = await call('GET', `${mr}/versions/${versions[i].id}`);
    expect(shown.commits.map((each: { title: string }) => each.title)).toEqual([text, 'Begin']);
    expect(shown.diffs).toMatchObject([{ new_path: 'file', new_file: true }]);
    expect(shown.diffs[0].diff).toContain(`+${text}`);
  }
  const copy = git.path('copy');
  await git.ok(git.home, 'init', '--quiet', copy);
  const url = withToken(service.url, 'ada/kept', token);
  await git.ok(copy, 'fetch', '--quiet', url, '+refs/merge-requests/*:refs/remotes/proposed/*');
  await git.ok(copy, 'fsck', '--strict');
  expect(await git.ok(copy, 'rev-parse', 'proposed/1/head', 'proposed/1/merge')).toBe(
    `${heads[0]}\n${merge}`,
  );
});

test('what was proposed is fetched no more once it is deleted, and garbage takes its commits', async () => {
  const { id } = await call('POST', '/projects', { name: 'dropped', initialize_with_readme: true });
  const url = withToken(service.url, 'ada/dropped', token);
  const at = await git.clone(url, 'dropped');
  const heads: string[] = [];
  for (const text of ['one', 'two']) {
    await git.ok(at, 'commit', '--quiet', '--allow-empty', '--amend', '-m', text);
    heads.push(await git.ok(at, 'rev-parse', 'HEAD'));
    await git.ok(at, 'push', '--quiet', '--force', 'origin', 'HEAD:refs/heads/topic');
    const proposal = { title: 'Topic', source_branch: 'topic', target_branch: 'main' };
    if (heads.length === 1) await call('POST', `/projects/${id}/merge_requests`, proposal);
    await settled();
  }
  await call('DELETE', `/projects/${id}/merge_requests/1`);
  await git.ok(at, 'push', '--quiet', 'origin', ':topic');
  await settled();
  expect(await git.ok(at, 'ls-remote', 'origin', 'refs/merge-requests/*')).toBe('');
  await collectGarbage(id);
  for (const head of heads) {
    const { status } = await service.call('GET', `/projects/${id}/repository/commits/${head}`, { token });
    expect(status).toBe(404);
  }
});
