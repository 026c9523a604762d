import { afterAll, describe, expect, test, vi } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { projectAccesses } from '../../../lib/domain/access/project-accesses.ts';
import { actingFor } from '../../../lib/domain/actor.ts';
import { DomainError } from '../../../lib/domain/errors.ts';
import { type MergeInput, mergeMergeRequest } from '../../../lib/domain/merge-requests/merge.ts';
import { createMergeRequest } from '../../../lib/domain/merge-requests/merge-requests.ts';
import { requestRebase } from '../../../lib/domain/merge-requests/rebase.ts';
import { RefConflict } from '../../../lib/git/ports.ts';
import { GitRepository } from '../../../lib/git/repository.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';
import { type Pushed, pushedProject } from '../repository/pushed-project.ts';

const { service, world, as } = ownWorld();

let seconds = 1_600_000_000;
const file = (name: string, text: string) =>
  `M 100644 inline ${name}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
const commit = (branch: string, message: string, rest: string) => {
  const by = `Ada <ada@example.com> ${seconds++} +0200`;
  return `commit refs/heads/${branch}\nauthor ${by}\ncommitter ${by}\ndata ${Buffer.byteLength(message)}\n${message}\n${rest}\n`;
};

/** `main` with one commit; `topic` with two more; `rival` with one that conflicts with them. */
const STORY =
  commit('main', 'Begin\n', file('a', '1\n2\n3\n')) +
  commit('topic', 'Change a\n', `from refs/heads/main\n${file('a', '1\ntwo\n3\n')}`) +
  commit('topic', 'Add b\n\nAt length.\n', file('b', 'b\n')) +
  commit('draft', 'Add d\n', `from refs/heads/main\n${file('d', 'd\n')}`) +
  commit('rival', 'Change a otherwise\n', `from refs/heads/main\n${file('a', '1\nzwei\n3\n')}`);

const DIVERGED =
  STORY +
  commit('side', 'Add s\n', `from refs/heads/main\n${file('s', 's\n')}`) +
  commit('main', 'Go on\n', file('m', 'm\n')) +
  commit('topic', 'Take main\n', 'merge refs/heads/main\n');

let made = 0;
const projects: Pushed[] = [];
async function project(settings: Record<string, unknown> = {}, fill = STORY): Promise<Pushed> {
  const owner = { username: 'owner', token: world.tokens.owner! };
  const pushed = await pushedProject(
    service,
    owner,
    `merging-${++made}`,
    (git) => void git.feed(fill, 'fast-import', '--quiet'),
  );
  projects.push(pushed);
  for (const [who, access_level] of [
    ['reporter', 20],
    ['developer', 30],
    ['maintainer', 40],
  ] as const)
    await as('owner', 'POST', `/projects/${pushed.id}/members`, { user_id: world.ids[who], access_level });
  if (Object.keys(settings).length > 0) await as('owner', 'PUT', `/projects/${pushed.id}`, settings);
  return pushed;
}
afterAll(() => {
  for (const { git } of projects) git[Symbol.dispose]();
});

async function acting(who: Who, projectId: number) {
  const user = (await world.store.users.get(world.ids[who]!))!;
  const actor = actingFor(user, 'https://lemnos.example');
  const [access] = await projectAccesses(deps(), actor, [projectId]);
  return { actor, access: access! };
}

async function propose(
  of: Pushed,
  sourceBranch: string,
  more: Record<string, unknown> = {},
  who: Who = 'owner',
) {
  const { actor, access } = await acting(who, of.id);
  const input = {
    title: `Merge ${sourceBranch}`,
    sourceBranch,
    targetBranch: 'main',
    removeSourceBranch: false,
    ...more,
  };
  return (await createMergeRequest(deps(), actor, access, input)).mergeRequest;
}

async function merge(
  of: Pushed,
  { iid }: { iid: number },
  input: Partial<MergeInput> = {},
  who: Who = 'owner',
) {
  const { actor, access } = await acting(who, of.id);
  const choices = {
    mergeMessage: null,
    squashMessage: null,
    squash: null,
    removeSource: null,
    whenPipelineSucceeds: false,
  };
  return (await mergeMergeRequest(deps(), actor, access, iid, { ...choices, ...input })).mergeRequest;
}

const status = (of: Pushed, mr: { iid: number }, input: Partial<MergeInput> = {}, who: Who = 'owner') =>
  merge(of, mr, input, who).then(
    (record) => record.state,
    (error: unknown) => {
      if (error instanceof DomainError) return error.code;
      throw error;
    },
  );

const tip = async (of: Pushed, branch: string) =>
  (await as('owner', 'GET', `${of.repository}/branches/${branch}`)).body?.commit?.id as string | undefined;
const shown = async (of: Pushed, sha: string) =>
  (await as('owner', 'GET', `${of.repository}/commits/${sha}`)).body;

describe('a merge', () => {
  test('makes a commit with both parents, and moves nothing else', async () => {
    const of = await project();
    const mr = await propose(of, 'topic');
    const before = await tip(of, 'main');
    const merged = await merge(of, mr);
    expect(merged).toMatchObject({ state: 'merged', squashCommitSha: null, mergedById: world.ids['owner'] });
    expect(await tip(of, 'main')).toBe(merged.mergeCommitSha);
    expect(await shown(of, merged.mergeCommitSha!)).toMatchObject({
      parent_ids: [before, mr.diff.headSha],
      message: expect.stringMatching(
        /^Merge branch 'topic' into 'main'\n\nMerge topic\n\nSee merge request owner\/merging-\d+!1$/,
      ),
    });
    expect(await tip(of, 'topic')).toBe(mr.diff.headSha);
  });

  test('squashes on the merge base, and removes the source branch with it', async () => {
    const of = await project();
    const base = await tip(of, 'main');
    const mr = await propose(of, 'topic');
    const chosen = { squash: true, squashMessage: 'All of it', mergeMessage: 'In', removeSource: true };
    const merged = await merge(of, mr, chosen);
    expect(await shown(of, merged.mergeCommitSha!)).toMatchObject({
      parent_ids: [base, merged.squashCommitSha],
      message: 'In',
    });
    expect(await shown(of, merged.squashCommitSha!)).toMatchObject({
      parent_ids: [base],
      message: 'All of it',
    });
    expect(await tip(of, 'topic')).toBeUndefined();
  });

  test('by fast-forward moves the branch to the head, or to one squashed commit', async () => {
    const of = await project({ merge_method: 'ff' });
    const mr = await propose(of, 'topic');
    expect(await merge(of, mr)).toMatchObject({
      state: 'merged',
      mergeCommitSha: null,
      squashCommitSha: null,
    });
    expect(await tip(of, 'main')).toBe(mr.diff.headSha);
    const squashing = await project({ merge_method: 'ff', squash_option: 'always' });
    const squashed = await merge(squashing, await propose(squashing, 'topic'));
    expect(squashed.mergeCommitSha).toBeNull();
    expect(await tip(squashing, 'main')).toBe(squashed.squashCommitSha);
  });

  test.each(['ff', 'rebase_merge'])(
    'by %s needs a head with all commits of the target',
    async (merge_method) => {
      const of = await project({ merge_method }, DIVERGED);
      expect(await status(of, await propose(of, 'side'))).toBe('not-acceptable');
      expect(await status(of, await propose(of, 'topic'))).toBe('merged');
    },
  );

  test('is refused for conflicts, for drafts, for another head, and when it is done', async () => {
    const of = await project();
    const [topic, rival] = [await propose(of, 'topic'), await propose(of, 'rival')];
    expect(await status(of, topic, { sha: 'f'.repeat(40) })).toBe('conflict');
    expect(await status(of, topic, { sha: topic.diff.headSha })).toBe('merged');
    expect(await status(of, topic)).toBe('method-not-allowed');
    expect(await status(of, rival)).toBe('not-acceptable');
    expect(await status(of, await propose(of, 'draft', { title: 'Draft: more' }))).toBe('method-not-allowed');
  });

  test('waits for the pipeline where that is asked for, and for the pipeline alone where it must succeed', async () => {
    const of = await project({ only_allow_merge_if_pipeline_succeeds: true });
    const mr = await propose(of, 'topic');
    const later = { whenPipelineSucceeds: true };
    expect(await status(of, mr, later)).toBe('method-not-allowed');
    const report = (state: string) =>
      as('owner', 'POST', `/projects/${of.id}/statuses/${mr.diff.headSha}`, { state, ref: 'topic' });
    await report('running');
    expect(await status(of, mr)).toBe('method-not-allowed');
    expect(await merge(of, mr, later)).toMatchObject({
      state: 'opened',
      autoMerge: { headSha: mr.diff.headSha },
    });
    await report('success');
    await settled();
    expect(await world.store.mergeRequests.get(mr)).toMatchObject({
      state: 'merged',
      mergedById: world.ids['owner'],
      autoMerge: null,
    });
  });

  test('takes the head that the source branch has by then', async () => {
    const of = await project();
    const mr = await propose(of, 'topic');
    const actions = [{ action: 'create', file_path: 'c', content: 'c' }];
    const pushed = await as('owner', 'POST', `${of.repository}/commits`, {
      branch: 'topic',
      commit_message: 'Add c',
      actions,
    });
    const merged = await merge(of, mr);
    expect(merged.diff).toMatchObject({ number: 2, headSha: pushed.body.id });
    expect((await shown(of, merged.mergeCommitSha!)).parent_ids[1]).toBe(pushed.body.id);
  });
});

describe('a rebase', () => {
  test('is made by a worker, and makes a version that fast-forwards', async () => {
    const of = await project({ merge_method: 'ff' }, DIVERGED);
    const mr = await propose(of, 'side');
    const { actor, access } = await acting('owner', of.id);
    await requestRebase(deps(), actor, access, mr.iid);
    await settled();
    const rebased = (await world.store.mergeRequests.get(mr))!;
    expect(rebased).toMatchObject({ rebase: null, mergeError: null, diff: { number: 2 } });
    expect(await tip(of, 'side')).toBe(rebased.diff.headSha);
    expect((await shown(of, rebased.diff.headSha)).parent_ids).toEqual([await tip(of, 'main')]);
    expect(await status(of, mr)).toBe('merged');
  });

  test('begins again where a collection of garbage came between', async () => {
    const of = await project({ merge_method: 'ff' }, DIVERGED);
    const mr = await propose(of, 'side');
    const publish = vi.spyOn(GitRepository.prototype, 'publish');
    publish.mockRejectedValueOnce(new RefConflict([{ name: null, reason: 'collected' }]));
    const { actor, access } = await acting('owner', of.id);
    await requestRebase(deps(), actor, access, mr.iid);
    await settled();
    expect(publish).toHaveBeenCalled();
    publish.mockRestore();
    const rebased = (await world.store.mergeRequests.get(mr))!;
    expect(rebased).toMatchObject({ rebase: null, mergeError: null, diff: { number: 2 } });
    expect((await shown(of, rebased.diff.headSha)).parent_ids).toEqual([await tip(of, 'main')]);
  });

  test('that conflicts is told in the merge request', async () => {
    const of = await project();
    await merge(of, await propose(of, 'topic'));
    const rival = await propose(of, 'rival');
    const { actor, access } = await acting('owner', of.id);
    await requestRebase(deps(), actor, access, rival.iid);
    await settled();
    expect(await world.store.mergeRequests.get(rival)).toMatchObject({
      rebase: null,
      mergeError: expect.stringMatching(/^Rebase failed/),
      diff: { number: 1 },
    });
  });
});

describe('races', () => {
  test('of many mergers of one, one wins and the others are told that it is merged', async () => {
    const of = await project();
    const mr = await propose(of, 'topic');
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => status(of, mr)));
    expect(outcomes.toSorted()).toEqual(['merged', ...Array(11).fill('method-not-allowed')].toSorted());
  });

  test('of two mergers, who read it as open and the branches as merged is told that it is merged', async () => {
    const of = await project();
    const mr = await propose(of, 'topic');
    const before = await world.store.mergeRequests.get(mr);
    await merge(of, mr);
    const get = vi.spyOn(deps().store.mergeRequests, 'get').mockResolvedValueOnce(before);
    expect(await status(of, mr)).toBe('method-not-allowed');
    expect(get.mock.calls.length).toBeGreaterThan(1);
    get.mockRestore();
  });

  test('many merged into one branch at once follow each other', async () => {
    const names = Array.from({ length: 8 }, (_, i) => `many-${i}`);
    const fill = names.map((name) =>
      commit(name, `Add ${name}\n`, `from refs/heads/main\n${file(name, name)}`),
    );
    const of = await project({}, STORY + fill.join(''));
    const proposed = [];
    for (const name of names) proposed.push(await propose(of, name));
    const merged = await Promise.all(proposed.map((mr) => merge(of, mr)));
    expect(merged.map(({ state }) => state)).toEqual(names.map(() => 'merged'));
    const url = `${of.repository}/commits?ref_name=main&first_parent=true&per_page=100`;
    const firsts = (await as('owner', 'GET', url)).body.map(({ id }: { id: string }) => id);
    expect(firsts.slice(0, -1).toSorted()).toEqual(
      merged.map(({ mergeCommitSha }) => mergeCommitSha).toSorted(),
    );
    const tree = (await as('owner', 'GET', `${of.repository}/tree?ref=main&per_page=100`)).body;
    expect(tree.map(({ name }: { name: string }) => name)).toEqual(['a', ...names]);
  });
});

test.each([
  ['nobody who may only report', 'reporter', 'unauthorized'],
  ['no developer, as main is protected', 'developer', 'unauthorized'],
  ['a maintainer', 'maintainer', 'merged'],
] as const)('%s merges into main', async (_, who, expected) => {
  const of = await project();
  expect(await status(of, await propose(of, 'topic'), {}, who)).toBe(expected);
});
