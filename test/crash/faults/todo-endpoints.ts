import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { counted, endpoint, flip } from './sent.ts';

/** Writes of to-dos. */
export const todoWrites: readonly Operation[] = [
  endpoint('POST /projects/:id/issues/:issue_iid/todo', async (fixtures) => {
    const { path, token } = await issue(fixtures);
    return { path: `${path}/todo`, token, state: () => counted(fixtures, '/todos', token) };
  }),
  endpoint('POST /todos/:id/mark_as_done', async (fixtures) => {
    const { path, token } = await issue(fixtures);
    const { id } = await fixtures.done('POST', `${path}/todo`, { token });
    return {
      path: `/todos/${id}/mark_as_done`,
      token,
      state: async () => flip(await counted(fixtures, '/todos', token)),
    };
  }),
  endpoint('POST /todos/mark_as_done', async (fixtures) => {
    const { path, token } = await issue(fixtures);
    await fixtures.done('POST', `${path}/todo`, { token });
    return {
      path: '/todos/mark_as_done',
      token,
      state: async () => flip(await counted(fixtures, '/todos', token)),
    };
  }),
];

/** Of somebody who has no to-dos. */
async function issue(fixtures: Fixtures) {
  const { id, owner } = await fixtures.ownGround();
  const { iid } = await fixtures.done('POST', `/projects/${id}/issues`, {
    token: owner.token,
    json: { title: 'to do' },
  });
  await fixtures.done('POST', '/todos/mark_as_done', { token: owner.token });
  return { path: `/projects/${id}/issues/${iid}`, token: owner.token };
}
