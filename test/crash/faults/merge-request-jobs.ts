import { ZERO_OID } from '../../../lib/git/oid.ts';
import { SETTLE_JOB } from '../../../lib/store/labels/settle.ts';
import { FOLLOW_JOB } from '../../../lib/store/labels/uses.ts';
import {
  AUTO_MERGE_JOB,
  CHECK_MERGE_REQUEST_JOB,
  CLOSE_SOURCELESS_JOB,
  CLOSE_UNRELATED_JOB,
  FOLLOW_PUSH_JOB,
  REBASE_JOB,
  REMOVE_SOURCE_JOB,
  RETARGET_JOB,
} from '../../../lib/store/merge-requests/merge-requests.ts';
import { propose } from '../../harness/proposals.ts';
import type { Operation, Work } from './driver.ts';
import { refOf } from './endpoints.ts';
import type { Fixtures, Ground } from './fixtures.ts';
import { runNow } from './jobs.ts';

/** What workers do with merge requests. Wherever one stops, they are as before or as after it, and the next one ends it. */
export const mergeRequestJobs: readonly Operation[] = [
  {
    name: 'job: it is found out whether a merge request can be merged',
    async prepare(fixtures) {
      const { ground, address, record } = await proposed(fixtures);
      return job(fixtures, CHECK_MERGE_REQUEST_JOB, address, async () => {
        const [{ verdict }, merge] = await Promise.all([
          record(),
          refOf(fixtures, ground, `refs/merge-requests/${address.iid}/merge`),
        ]);
        if (merge !== undefined && verdict?.mergeable !== true) throw new Error('a merge without a verdict');
        return merge !== undefined;
      });
    },
  },
  {
    name: 'job: a push makes a version of a merge request',
    costly: true,
    async prepare(fixtures) {
      const { ground, record, writer } = await proposed(fixtures);
      const to = await committed(fixtures, ground, { branch: 'side' });
      const push = { projectId: ground.id, branches: [moved('side', ground.side, to)], ...writer };
      return job(fixtures, FOLLOW_PUSH_JOB, push, async () => {
        const { diff } = await record();
        return diff.number === 2 && diff.headSha === to;
      });
    },
  },
  {
    name: 'job: a push that brings the head of a merge request to its target merges it',
    costly: true,
    async prepare(fixtures) {
      const { ground, record, writer } = await proposed(fixtures, 'aim');
      const from = ground.main[1];
      const to = await committed(fixtures, ground, { branch: 'aim', start_branch: 'side', force: true });
      const push = { projectId: ground.id, branches: [moved('aim', from, to)], ...writer };
      return job(fixtures, FOLLOW_PUSH_JOB, push, async () => (await record()).state === 'merged');
    },
  },
  {
    name: 'job: a merge request is closed when its source branch is deleted',
    async prepare(fixtures) {
      const { ground, record, writer } = await proposed(fixtures);
      const { token } = ground.owner;
      await fixtures.done('DELETE', `/projects/${ground.id}/repository/branches/side`, { token });
      const push = { projectId: ground.id, branches: [moved('side', ground.side, ZERO_OID)], ...writer };
      return job(fixtures, FOLLOW_PUSH_JOB, push, async () => (await record()).state === 'closed');
    },
  },
  {
    name: 'job: a merge request goes where the branch that it was to has gone',
    costly: true,
    async prepare(fixtures) {
      const { ground, address, record, writer } = await proposed(fixtures, 'aim');
      const { token } = ground.owner;
      await fixtures.done('DELETE', `/projects/${ground.id}/repository/branches/aim`, { token });
      const chained = { iids: [address.iid], branch: 'aim', targetBranch: 'main' };
      const body = { projectId: ground.id, ...chained, ...writer };
      return job(fixtures, RETARGET_JOB, body, async () => {
        const { targetBranch, diff } = await record();
        if ((targetBranch === 'main') !== (diff.number === 2)) throw new Error('half retargeted');
        return targetBranch === 'main';
      });
    },
  },
  {
    name: 'job: a merge request of a project that is no fork any more is closed',
    async prepare(fixtures) {
      const { kin, record, writer } = await proposedFromKin(fixtures);
      const body = { projectId: kin, ...writer };
      return job(fixtures, CLOSE_UNRELATED_JOB, body, async () => (await record()).state === 'closed');
    },
  },
  {
    name: 'job: a merge request of a deleted project is closed',
    async prepare(fixtures) {
      const { address, record, writer } = await proposedFromKin(fixtures);
      const body = { mergeRequests: [address], actorId: writer.actorId };
      return job(fixtures, CLOSE_SOURCELESS_JOB, body, async () => (await record()).state === 'closed');
    },
  },
  {
    name: 'job: a source branch is rebased',
    costly: true,
    async prepare(fixtures) {
      const { ground, address, path, record, writer } = await proposed(fixtures);
      await committed(fixtures, ground, { branch: 'main' });
      await fixtures.done('PUT', `${path}/rebase`, { token: ground.owner.token });
      const { rebase } = await record();
      const body = { ...address, id: rebase!.id, baseUrl: writer.baseUrl };
      return job(fixtures, REBASE_JOB, body, async () => {
        const [tip, { rebase: left, mergeError, diff }] = await Promise.all([
          refOf(fixtures, ground, 'refs/heads/side'),
          record(),
        ]);
        if (mergeError !== null) throw new Error(mergeError);
        return left === null && tip !== ground.side && diff.headSha === tip;
      });
    },
  },
  {
    name: 'job: a merge request is merged whose pipeline has succeeded',
    costly: true,
    async prepare(fixtures) {
      const { ground, address, path, record, writer } = await proposed(fixtures);
      const { token } = ground.owner;
      const report = (state: string) =>
        fixtures.done('POST', `/projects/${ground.id}/statuses/${ground.side}`, {
          token,
          json: { state, ref: 'side' },
        });
      await report('running');
      const json = { merge_when_pipeline_succeeds: true };
      await fixtures.done('PUT', `${path}/merge`, { token, json });
      await report('success');
      const body = { ...address, baseUrl: writer.baseUrl };
      return job(fixtures, AUTO_MERGE_JOB, body, async () => {
        const { state, mergeError } = await record();
        if (mergeError !== null) throw new Error(mergeError);
        return state === 'merged';
      });
    },
  },
  {
    name: 'job: merge requests follow a label that was deleted',
    async prepare(fixtures) {
      const { ground, address, path, record } = await proposed(fixtures);
      const { token } = ground.owner;
      const { projectId } = address;
      await fixtures.done('PUT', path, { token, json: { labels: 'bug' } });
      const { id: valueId } = await fixtures.done('GET', `/projects/${projectId}/labels/bug`, { token });
      const body = { facet: 'label', valueId, kind: 'project', id: projectId, successorId: null };
      return job(fixtures, FOLLOW_JOB, body, async () => {
        const { labelIds } = await record();
        const { iids } = await fixtures.store.mergeRequestUses.page(
          { projectId, facet: 'label', valueId },
          10,
        );
        if (labelIds.length !== iids.length)
          throw new Error(`${labelIds.length} labels, ${iids.length} rows`);
        return labelIds.length === 0;
      });
    },
  },
  {
    name: 'job: a project that left its group keeps the labels of its merge requests',
    costly: true,
    async prepare(fixtures) {
      const { ground, path, record } = await proposed(fixtures);
      const { token } = ground.owner;
      const group = async () => {
        const name = fixtures.fresh('group');
        return (await fixtures.done('POST', '/groups', { token, json: { name, path: name } })).id;
      };
      const [old, next] = [await group(), await group()];
      const move = (namespace: number) =>
        fixtures.done('PUT', `/projects/${ground.id}/transfer`, { token, json: { namespace } });
      await move(old);
      await fixtures.settle();
      const json = { name: 'bug', color: '#ff0000' };
      const { id: labelId } = await fixtures.done('POST', `/groups/${old}/labels`, { token, json });
      await fixtures.done('PUT', path, { token, json: { labels: 'bug' } });
      await move(next);
      return job(fixtures, SETTLE_JOB, { projectId: ground.id }, async () => {
        const [{ labelIds }, own] = await Promise.all([
          record(),
          fixtures.done('GET', `/projects/${ground.id}/labels`, { token }),
        ]);
        // A copy that no merge request has yet is found by the next run.
        if (labelIds[0] !== labelId && labelIds[0] !== own[0]?.id) throw new Error(`labels ${labelIds}`);
        return labelIds[0] !== labelId;
      });
    },
  },
  {
    name: 'job: the source branch of what was merged is removed from a fork',
    async prepare(fixtures) {
      const ground = await fixtures.ownGround();
      const { id: projectId, owner, side: sha } = ground;
      const body = { projectId, branch: 'side', sha, userId: owner.id, baseUrl: fixtures.service.url };
      return job(fixtures, REMOVE_SOURCE_JOB, body, async () => {
        const tip = await refOf(fixtures, ground, 'refs/heads/side');
        return tip === undefined;
      });
    },
  },
];

/** A merge request of `side`, which nobody has looked at. */
async function proposed(fixtures: Fixtures, targetBranch = 'main') {
  const ground = await fixtures.ownGround();
  const { id: projectId, owner } = ground;
  if (targetBranch !== 'main') {
    const json = { branch: targetBranch, ref: 'main' };
    await fixtures.done('POST', `/projects/${projectId}/repository/branches`, { token: owner.token, json });
  }
  const iid = await propose(owner.id, projectId, { sourceBranch: 'side', targetBranch });
  const address = { projectId, iid };
  return {
    ground,
    address,
    path: `/projects/${projectId}/merge_requests/${iid}`,
    record: async () => (await fixtures.store.mergeRequests.get(address))!,
    writer: { actorId: owner.id, baseUrl: fixtures.service.url },
  };
}

/** A merge request of a project that is no fork of its target any more. */
async function proposedFromKin(fixtures: Fixtures) {
  const ground = await fixtures.ownGround();
  const { id: projectId, owner } = ground;
  const { token } = owner;
  const { id: kin } = await fixtures.done('POST', '/projects', {
    token,
    json: { name: fixtures.fresh('kin') },
  });
  await committed(fixtures, { ...ground, id: kin }, { branch: 'main' });
  await fixtures.done('POST', `/projects/${kin}/fork/${projectId}`, { token });
  const json = { title: 'x', source_branch: 'main', target_branch: 'main', target_project_id: projectId };
  const { iid } = await fixtures.done('POST', `/projects/${kin}/merge_requests`, { token, json });
  await fixtures.store.forks.unrelate((await fixtures.store.projects.get(kin))!);
  const address = { projectId, iid };
  return {
    ...{ kin, address },
    record: async () => (await fixtures.store.mergeRequests.get(address))!,
    writer: { actorId: owner.id, baseUrl: fixtures.service.url },
  };
}

/** @returns the new commit */
async function committed(fixtures: Fixtures, { id, owner }: Ground, more: object): Promise<string> {
  const actions = [{ action: 'create', file_path: fixtures.fresh('file'), content: 'x' }];
  const json = { commit_message: 'Go on', actions, ...more };
  return (await fixtures.done('POST', `/projects/${id}/repository/commits`, { token: owner.token, json })).id;
}

const moved = (branch: string, from: string, to: string) => ({ name: `refs/heads/${branch}`, from, to });

const job = (
  fixtures: Fixtures,
  type: string,
  body: Readonly<Record<string, unknown>>,
  isDone: () => Promise<boolean>,
): Work => ({
  run: () => runNow(fixtures, 'maintenance', type, body),
  state: async () => ((await isDone()) ? 'after' : 'before'),
});
