import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { after, counted, endpoint, flip } from './sent.ts';

const DAYS = { start_date: '2030-01-01', due_date: '2030-01-14' };

/** Writes of iterations. */
export const iterationWrites: readonly Operation[] = [
  endpoint('POST /groups/:id/iterations', async (fixtures) => {
    const { path, token } = await group(fixtures);
    return { path, token, json: { title: 'v1', ...DAYS }, state: () => counted(fixtures, path, token) };
  }),
  endpoint('PUT /groups/:id/iterations/:iteration_id', async (fixtures) => {
    const { path, token, iteration } = await withIteration(fixtures);
    const json = { title: 'v2', start_date: '2030-01-02' };
    const state = async () => {
      const [{ title, start_date }] = await fixtures.done('GET', path, { token });
      return after(`${title} ${start_date}`, 'v1 2030-01-01', 'v2 2030-01-02');
    };
    return { path: iteration, token, json, state };
  }),
  endpoint('DELETE /groups/:id/iterations/:iteration_id', async (fixtures) => {
    const { path, token, iteration } = await withIteration(fixtures);
    return { path: iteration, token, state: async () => flip(await counted(fixtures, path, token)) };
  }),
];

/** A new group without iterations. */
async function group(fixtures: Fixtures): Promise<{ readonly path: string; readonly token: string }> {
  const { token } = await fixtures.owner();
  const name = fixtures.fresh('planned');
  const { id } = await fixtures.done('POST', '/groups', { token, json: { name, path: name } });
  return { path: `/groups/${id}/iterations`, token };
}

async function withIteration(fixtures: Fixtures) {
  const made = await group(fixtures);
  const json = { title: 'v1', ...DAYS };
  const { id } = await fixtures.done('POST', made.path, { token: made.token, json });
  return { ...made, iteration: `${made.path}/${id}` };
}
