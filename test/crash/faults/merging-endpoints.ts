import { propose } from '../../harness/proposals.ts';
import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { endpoint, flip } from './sent.ts';

const MERGE_REQUEST = '/projects/:id/merge_requests/:merge_request_iid';

/** Merging and rebasing merge requests. */
export const mergingWrites: readonly Operation[] = [
  endpoint(`PUT ${MERGE_REQUEST}/merge`, async (fixtures) => {
    const { path, token, found } = await proposed(fixtures);
    const state = async () => ((await found()).state === 'merged' ? 'after' : 'before');
    return { path: `${path}/merge`, token, json: { should_remove_source_branch: true }, state };
  }),
  endpoint(`POST ${MERGE_REQUEST}/cancel_merge_when_pipeline_succeeds`, async (fixtures) => {
    const { path, token, found, ground } = await proposed(fixtures);
    const json = { state: 'running', ref: 'side' };
    await fixtures.done('POST', `/projects/${ground.id}/statuses/${ground.side}`, { token, json });
    const later = { merge_when_pipeline_succeeds: true };
    await fixtures.done('PUT', `${path}/merge`, { token, json: later });
    const state = async () => flip((await found()).merge_when_pipeline_succeeds ? 'after' : 'before');
    return { path: `${path}/cancel_merge_when_pipeline_succeeds`, token, state };
  }),
  endpoint(`PUT ${MERGE_REQUEST}/rebase`, async (fixtures) => {
    const { path, token, found, ground } = await proposed(fixtures);
    const json = {
      branch: 'main',
      commit_message: 'Go on',
      actions: [{ action: 'create', file_path: 'third.txt', content: 'third\n' }],
    };
    await fixtures.done('POST', `/projects/${ground.id}/repository/commits`, { token, json });
    // Asked for, or made by a worker by now.
    const state = async () => {
      const { rebase_in_progress, sha } = await found();
      return rebase_in_progress || sha !== ground.side ? 'after' : 'before';
    };
    return { path: `${path}/rebase`, token, state };
  }),
  endpoint(`POST ${MERGE_REQUEST}/context_commits`, async (fixtures) => {
    const { path, token, ground } = await proposed(fixtures);
    const json = { commits: ground.main };
    return { path: `${path}/context_commits`, token, json, state: () => named(fixtures, path, token) };
  }),
  endpoint(`DELETE ${MERGE_REQUEST}/context_commits`, async (fixtures) => {
    const { path, token, ground } = await proposed(fixtures);
    const json = { commits: ground.main };
    await fixtures.done('POST', `${path}/context_commits`, { token, json });
    const state = async () => flip(await named(fixtures, path, token));
    return { path: `${path}/context_commits`, token, json, state };
  }),
];

/** Whether a merge request has both context commits. */
async function named(fixtures: Fixtures, path: string, token: string) {
  const { length } = await fixtures.done('GET', `${path}/context_commits`, { token });
  return length === 2 ? 'after' : length === 0 ? 'before' : 'half: one of two';
}

/** A merge request of the owner of a new project. */
async function proposed(fixtures: Fixtures) {
  const ground = await fixtures.ownGround();
  const { token } = ground.owner;
  const iid = await propose(ground.owner.id, ground.id, { sourceBranch: 'side', targetBranch: 'main' });
  const path = `/projects/${ground.id}/merge_requests/${iid}`;
  const found = () => fixtures.done('GET', `${path}?include_rebase_in_progress=true`, { token });
  return { ground, token, path, found };
}
