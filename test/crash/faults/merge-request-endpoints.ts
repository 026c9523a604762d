import type { Operation } from './driver.ts';
import type { Fixtures, Ground } from './fixtures.ts';
import { counted, endpoint, flip, found } from './sent.ts';

/** Writes of merge requests. */
export const mergeRequestWrites: readonly Operation[] = [
  endpoint('POST /projects/:id/merge_requests', async (fixtures) => {
    const ground = await fixtures.ground();
    const { id, owner } = ground;
    const branch = await branchToMerge(fixtures, ground);
    const path = `/projects/${id}/merge_requests`;
    return {
      path,
      token: owner.token,
      json: { ...proposing(branch), description: 'text'.repeat(10_000), reviewer_ids: [owner.id] },
      state: () => counted(fixtures, `${path}?source_branch=${branch}`, owner.token),
    };
  }),
  endpoint('PUT /projects/:id/merge_requests/:merge_request_iid', async (fixtures) => {
    const ground = await fixtures.ground();
    const { token } = ground.owner;
    const path = await proposed(fixtures, ground);
    return {
      path,
      token,
      json: { title: 'later', description: 'text'.repeat(10_000), squash: true, state_event: 'close' },
      async state() {
        const now = await fixtures.done('GET', path, { token });
        const parts = [now.title === 'later', now.squash, now.state === 'closed', now.description !== null];
        return parts.every(Boolean) ? 'after' : parts.some(Boolean) ? `half: ${parts.join()}` : 'before';
      },
    };
  }),
  endpoint('DELETE /projects/:id/merge_requests/:merge_request_iid', async (fixtures) => {
    const ground = await fixtures.ground();
    const { token } = ground.owner;
    const path = await proposed(fixtures, ground);
    return { path, token, state: async () => flip(await found(fixtures, path, token)) };
  }),
];

/** Proposes a branch of its own. @returns the path of the merge request */
export async function proposed(fixtures: Fixtures, ground: Ground): Promise<string> {
  const path = `/projects/${ground.id}/merge_requests`;
  const json = proposing(await branchToMerge(fixtures, ground));
  const { iid } = await fixtures.done('POST', path, { token: ground.owner.token, json });
  return `${path}/${iid}`;
}

async function branchToMerge(fixtures: Fixtures, { id, owner }: Ground): Promise<string> {
  const branch = fixtures.fresh('to-merge');
  const json = { branch, ref: 'side' };
  await fixtures.done('POST', `/projects/${id}/repository/branches`, { token: owner.token, json });
  return branch;
}

const proposing = (branch: string) => ({ title: 'sooner', source_branch: branch, target_branch: 'main' });
