import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { endpoint } from './sent.ts';

/** Writes of those who take part in merge requests, about themselves. */
export const mergeRequestConversationWrites: readonly Operation[] = [
  endpoint('POST /projects/:id/merge_requests/:merge_request_iid/subscribe', async (fixtures) => {
    const { path, token } = await mergeRequest(fixtures);
    await fixtures.done('POST', `${path}/unsubscribe`, { token });
    return {
      path: `${path}/subscribe`,
      token,
      state: async () => ((await fixtures.done('GET', path, { token })).subscribed ? 'after' : 'before'),
    };
  }),
  endpoint('POST /projects/:id/merge_requests/:merge_request_iid/unsubscribe', async (fixtures) => {
    const { path, token } = await mergeRequest(fixtures);
    return {
      path: `${path}/unsubscribe`,
      token,
      state: async () => ((await fixtures.done('GET', path, { token })).subscribed ? 'before' : 'after'),
    };
  }),
];

async function mergeRequest(fixtures: Fixtures) {
  const { id, owner } = await fixtures.ground();
  const { token } = owner;
  const branch = fixtures.fresh('to-show');
  const project = `/projects/${id}`;
  await fixtures.done('POST', `${project}/repository/branches`, { token, json: { branch, ref: 'side' } });
  const json = { title: 'shown', source_branch: branch, target_branch: 'main' };
  const { iid } = await fixtures.done('POST', `${project}/merge_requests`, { token, json });
  return { path: `${project}/merge_requests/${iid}`, token };
}
