/** What git is told about merge requests when it pushes, and what it asks for with push options. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deps } from '../../functions/deps.ts';
import { type Service, startService } from '../harness/service.ts';
import { settled } from '../harness/settled.ts';
import { GitCli, withToken } from './git-cli.ts';

const git = new GitCli();
let service: Service;
let token: string;
let adaId: number;
beforeAll(async () => {
  service = await startService();
  ({ token, id: adaId } = await service.user('ada'));
});
afterAll(async () => {
  await service.stop();
  git[Symbol.dispose]();
});

const call = async (method: string, path: string, json?: object) =>
  (await service.call(method, path, { token, ...(json && { json }) })).body as never as { id: number };

/** A clone of a new project, and what git prints after `remote:` when it pushes. */
async function projectOf(name: string, settings: object = {}) {
  const { id } = await call('POST', '/projects', { name, initialize_with_readme: true, ...settings });
  const at = await git.clone(withToken(service.url, `ada/${name}`, token), name);
  return {
    id,
    at: `/projects/${id}`,
    url: `${service.url}/ada/${name}`,
    commit: (message: string) => git.ok(at, 'commit', '--quiet', '--allow-empty', '-m', message),
    push: async (...args: string[]) => {
      const { code, stderr } = await git.run(['push', ...args], { cwd: at });
      expect(code, stderr).toBe(0);
      return stderr
        .split('\n')
        .flatMap((line) => /^remote: (.*\S) *$/.exec(line)?.[1] ?? [])
        .filter((line) => !/^(Indexing|Checking|Resolving)/.test(line));
    },
  };
}

test('a push of branches is told where each can be proposed, but not of the default branch and of tags', async () => {
  const { push, commit, url } = await projectOf('links');
  await commit('one');
  const proposing = (branch: string) => [
    `To create a merge request for ${branch}, visit:`,
    `  ${url}/-/merge_requests/new?merge_request%5Bsource_branch%5D=${encodeURIComponent(branch)}`,
  ];
  expect(await push('origin', 'HEAD:refs/heads/topic/a&b')).toEqual(proposing('topic/a&b'));
  expect(await push('origin', 'HEAD', 'HEAD:refs/heads/x', 'HEAD:refs/heads/y', 'HEAD:refs/tags/v1')).toEqual(
    [...proposing('x'), ...proposing('y')],
  );
  expect(await push('origin', ':x')).toEqual([]);
  const many = Array.from({ length: 8 }, (_, i) => `HEAD:refs/heads/many-${i}`);
  expect(await push('origin', ...many)).toHaveLength(10);
});

test('a push is told of no merge requests where the project does not want that, has none, or was empty', async () => {
  const off = await projectOf('off', { printing_merge_request_link_enabled: false });
  expect(await off.push('origin', 'HEAD:refs/heads/topic')).toEqual([]);
  const without = await projectOf('without', { merge_requests_access_level: 'disabled' });
  expect(await without.push('origin', 'HEAD:refs/heads/topic')).toEqual([]);
  await call('POST', '/projects', { name: 'empty' });
  const into = withToken(service.url, 'ada/empty', token);
  expect(await off.push(into, 'HEAD:refs/heads/main', 'HEAD:refs/heads/topic')).toEqual([]);
});

test('options that are not understood are told beside it', async () => {
  const { push } = await projectOf('options');
  const told = await push('-o', 'merge_request.craete', '-o', 'ci.skip', 'origin', 'HEAD:refs/heads/topic');
  expect(told[0]).toBe("warning: push option 'merge_request.craete' is unknown");
  expect(told).toHaveLength(3);
});

const recordOf = (projectId: number, iid: number) => deps().store.mergeRequests.get({ projectId, iid });

test('options propose the branch that is pushed, and change its merge request later', async () => {
  const { id, at, push, commit, url } = await projectOf('proposals');
  await call('POST', `${at}/milestones`, { title: 'v1' });
  await commit('Say hello');
  const viewing = ['View merge request for topic:', `  ${url}/-/merge_requests/1`];
  const created = await push(
    ...['-o', 'merge_request.create', '-o', 'merge_request.description=Because', '-o', 'merge_request.draft'],
    ...[
      '-o',
      'merge_request.label=bug',
      '-o',
      'merge_request.label=urgent',
      '-o',
      'merge_request.assign=ada',
    ],
    ...['-o', 'merge_request.milestone=v1', '-o', 'merge_request.squash'],
    ...['-o', 'merge_request.remove_source_branch=false', 'origin', 'HEAD:refs/heads/topic'],
  );
  expect(created).toEqual(viewing);
  expect(await recordOf(id, 1)).toMatchObject({
    title: 'Draft: Say hello',
    description: 'Because',
    source: { projectId: id, branch: 'topic' },
    targetBranch: 'main',
    assigneeIds: [adaId],
    labelIds: [expect.any(Number), expect.any(Number)],
    milestoneId: expect.any(Number),
    squash: true,
    forceRemoveSource: false,
  });
  await commit('More');
  expect(await push('origin', 'HEAD:refs/heads/topic')).toEqual(viewing);
  await commit('And more');
  const changes = ['-o', 'merge_request.title=Greet', '-o', 'merge_request.unlabel=bug'];
  expect(
    await push(...changes, '-o', 'merge_request.unassign=@ada', 'origin', 'HEAD:refs/heads/topic'),
  ).toEqual(viewing);
  expect(await recordOf(id, 1)).toMatchObject({
    title: 'Greet',
    assigneeIds: [],
    labelIds: [expect.any(Number)],
  });
  const events = (await call('GET', `${at}/events?target_type=merge_request`)) as never as object[];
  expect(events).toMatchObject([{ action_name: 'opened', target_type: 'MergeRequest', target_iid: 1 }]);
});

test('what is proposed without texts has those of its only commit', async () => {
  const { id, push, commit } = await projectOf('lent');
  await commit('Mend\n\nAt length.\n\n* twice');
  await push('-o', 'mr.create', 'origin', 'HEAD:refs/heads/one');
  await push('-o', 'mr.create', '-o', 'mr.title=Other', 'origin', 'HEAD:refs/heads/two');
  const lent = { description: 'At length.\n\n* twice' };
  expect(await recordOf(id, 1)).toMatchObject({ title: 'Mend', ...lent });
  expect(await recordOf(id, 2)).toMatchObject({ title: 'Other', ...lent });
});

test('options name the target and people, and make a draft of what is proposed already', async () => {
  const { id, at, push, commit, url } = await projectOf('named');
  const bob = await service.user('bob');
  await call('POST', `${at}/members`, { user_id: bob.id, access_level: 30 });
  await call('POST', `${at}/repository/branches`, { branch: 'stable', ref: 'main' });
  await commit('Mend\n\nAt length.');
  await commit('Paint');
  const named = ['target=stable', 'assign=bob', 'title=Mend "all" of it', 'remove_source_branch'];
  const options = named.flatMap((option) => ['-o', `mr.${option}`]);
  const ref = ['origin', 'HEAD:refs/heads/more-of_it'];
  const viewing = ['View merge request for more-of_it:', `  ${url}/-/merge_requests/1`];
  expect(await push('-o', 'mr.create', ...options, ...ref)).toEqual(viewing);
  const proposed = { title: 'Mend "all" of it', targetBranch: 'stable', description: null, squash: false };
  // Who proposes it by a push works on it too.
  const people = { assigneeIds: [adaId, bob.id], forceRemoveSource: true };
  expect(await recordOf(id, 1)).toMatchObject({ ...proposed, ...people });
  await commit('More');
  const changes = ['draft', `assign=${adaId}`, 'unassign=bob', 'target=main', 'squash', 'description=Later'];
  expect(await push(...changes.flatMap((option) => ['-o', `merge_request.${option}`]), ...ref)).toEqual(
    viewing,
  );
  await settled();
  expect(await recordOf(id, 1)).toMatchObject({
    ...{ title: 'Draft: Mend "all" of it', targetBranch: 'main', description: 'Later', squash: true },
    assigneeIds: [adaId],
  });
  await commit('Yet more');
  // One of another target beside it; a branch with several commits lends its name.
  expect(
    await push(
      '-o',
      'mr.create',
      '-o',
      'mr.target=stable',
      ...ref.slice(0, 1),
      'HEAD:more-of_it',
      '+HEAD~1:refs/heads/two',
    ),
  ).toContain('View merge request for two:');
  const made = await Promise.all([2, 3].map((iid) => recordOf(id, iid)));
  expect(made.map((each) => [each!.source.branch, each!.targetBranch, each!.title]).toSorted()).toEqual([
    ['more-of_it', 'stable', 'More of it'],
    ['two', 'stable', 'Two'],
  ]);
});

test('a push to a fork proposes to its source, or to the fork where that is named or set', async () => {
  const { id, at } = await projectOf('upstream', { visibility: 'public' });
  const eve = await service.user('eve');
  const asEve = async (method: string, path: string, json?: object) =>
    (await service.call(method, path, { token: eve.token, ...(json && { json }) })).body;
  const { id: fork } = await asEve('POST', `${at}/fork`);
  await settled();
  const clone = await git.clone(withToken(service.url, 'eve/upstream', eve.token), 'eves');
  let commits = 0;
  const push = async (branch: string, ...options: string[]) => {
    await git.ok(clone, 'commit', '--quiet', '--allow-empty', '-m', `Change ${++commits}`);
    const asked = options.flatMap((option) => ['-o', `merge_request.${option}`]);
    const { code, stderr } = await git.run(['push', ...asked, 'origin', `HEAD:refs/heads/${branch}`], {
      cwd: clone,
    });
    expect(code, stderr).toBe(0);
    return stderr;
  };
  expect(await push('mine', 'create', 'label=bug', 'assign=ada')).toContain(
    `${service.url}/ada/upstream/-/merge_requests/1`,
  );
  // Who is no member of the target organizes nothing there.
  expect(await recordOf(id, 1)).toMatchObject({
    ...{ source: { projectId: fork, branch: 'mine' }, title: 'Change 1' },
    ...{ labelIds: [], assigneeIds: [] },
  });
  expect(await push('mine')).toContain(`${service.url}/ada/upstream/-/merge_requests/1`);
  await settled();
  expect((await recordOf(id, 1))!.diff.number).toBe(2);
  const own = `${service.url}/eve/upstream/-/merge_requests`;
  expect(await push('own', 'create', 'target_project=eve/upstream')).toContain(`${own}/1`);
  await asEve('PUT', `/projects/${fork}`, { mr_default_target_self: true });
  expect(await push('self', 'create')).toContain(`${own}/2`);
  expect(await recordOf(fork, 2)).toMatchObject({ assigneeIds: [eve.id], source: { projectId: fork } });
  expect(await push('named', 'create', `target_project=${id}`)).toContain('/ada/upstream/-/merge_requests/2');
  const hidden = await projectOf('hidden', { visibility: 'private' });
  expect(await push('none', 'create', `target_project=${hidden.id}`)).toContain(
    'warning: merge request: Project Not Found',
  );
});

test('an option asks to merge when the pipeline of what is pushed succeeds', async () => {
  const { id, at, push, commit } = await projectOf('later');
  const later = ['-o', 'merge_request.merge_when_pipeline_succeeds', 'origin', 'HEAD:refs/heads/topic'];
  const warnings = (lines: readonly string[]) => lines.filter((line) => line.startsWith('warning'));
  const head = async () => (await recordOf(id, 1))!.diff.headSha;
  await commit('one');
  expect(warnings(await push('-o', 'merge_request.create', ...later))).toEqual([]);
  const first = await head();
  expect((await recordOf(id, 1))!.autoMerge).toMatchObject({ headSha: first, userId: adaId });
  // Of the head that this push brings, and of none that another one does.
  await commit('two');
  expect(warnings(await push(...later))).toEqual([]);
  await settled();
  expect(await head()).not.toBe(first);
  expect((await recordOf(id, 1))!.autoMerge).toMatchObject({ headSha: await head() });
  await commit('three');
  await push('origin', 'HEAD:refs/heads/topic');
  await settled();
  expect((await recordOf(id, 1))!.autoMerge).toBe(null);
  await commit('four');
  await push(...later);
  await settled();
  await call('POST', `${at}/statuses/${await head()}`, { state: 'success', ref: 'topic' });
  await settled();
  expect((await recordOf(id, 1))!.state).toBe('merged');
});

test('what options ask and cannot be done is told, and the push stands', async () => {
  const { id, push, commit } = await projectOf('warnings');
  await commit('one');
  const told = async (...options: string[]) =>
    (
      await push(
        ...options.flatMap((option) => ['-o', `merge_request.${option}`]),
        'origin',
        'HEAD:refs/heads/t',
      )
    ).filter((line) => line.startsWith('warning'));
  expect(await told('title=Only this')).toEqual([
    "warning: merge request of t: needs the push option 'merge_request.create'",
  ]);
  for (const [option, warning] of [
    ['target=absent', /^warning: merge request of t: target_branch does not exist$/],
    ['target_project=ada/absent', /^warning: merge request: Project Not Found/],
    ['assign=nobody-known', /^warning: merge request: User Not Found/],
    ['milestone=none', /^warning: merge request: Milestone Not Found/],
  ] as const) {
    await commit(option);
    expect(await told('create', option)).toEqual([expect.stringMatching(warning)]);
  }
  expect(await recordOf(id, 1)).toBeUndefined();
});
