import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { endpoint, flip, tracked } from './sent.ts';

/** Subscriptions to merge requests, and the time tracked on them. */
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
  endpoint('POST /projects/:id/merge_requests/:merge_request_iid/todo', async (fixtures) => {
    const { path, token } = await mergeRequest(fixtures);
    const own = async () => {
      const todos: { target_url: string }[] = await fixtures.done('GET', '/todos', { token });
      return todos.some(({ target_url }) => target_url.endsWith(path.replace(/^.*(?=\/merge_requests)/, '')));
    };
    return { path: `${path}/todo`, token, state: async () => ((await own()) ? 'after' : 'before') };
  }),
  ...(['time_estimate', 'add_spent_time'] as const).map((name) =>
    endpoint(`POST /projects/:id/merge_requests/:merge_request_iid/${name}`, async (fixtures) => {
      const { path, token } = await mergeRequest(fixtures);
      return {
        path: `${path}/${name}`,
        token,
        json: { duration: '1h' },
        state: () => tracked(fixtures, path, token),
      };
    }),
  ),
  ...(
    [
      ['reset_time_estimate', 'time_estimate'],
      ['reset_spent_time', 'add_spent_time'],
    ] as const
  ).map(([name, before]) =>
    endpoint(`POST /projects/:id/merge_requests/:merge_request_iid/${name}`, async (fixtures) => {
      const { path, token } = await mergeRequest(fixtures);
      await fixtures.done('POST', `${path}/${before}`, { token, json: { duration: '1h' } });
      return {
        path: `${path}/${name}`,
        token,
        state: async () => flip(await tracked(fixtures, path, token)),
      };
    }),
  ),
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
