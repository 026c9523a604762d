import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { after, counted, endpoint, flip } from './sent.ts';

/** Writes of epics. */
export const epicWrites: readonly Operation[] = [
  endpoint('POST /groups/:id/epics', async (fixtures) => {
    const { path, token } = await group(fixtures);
    return { path, token, json: { title: 'v1' }, state: () => counted(fixtures, path, token) };
  }),
  endpoint('PUT /groups/:id/epics/:epic_iid', async (fixtures) => {
    const { token, epic } = await withEpic(fixtures);
    const json = { title: 'v2', confidential: true, state_event: 'close' };
    const state = async () => {
      const found = await fixtures.done('GET', epic, { token });
      return after(
        `${found.title} ${found.confidential} ${found.state}`,
        'v1 false opened',
        'v2 true closed',
      );
    };
    return { path: epic, token, json, state };
  }),
  endpoint('DELETE /groups/:id/epics/:epic_iid', async (fixtures) => {
    const { path, token, epic } = await withEpic(fixtures);
    return { path: epic, token, state: async () => flip(await counted(fixtures, path, token)) };
  }),
];

/** A new group without epics. */
async function group(fixtures: Fixtures): Promise<{ readonly path: string; readonly token: string }> {
  const { token } = await fixtures.owner();
  const name = fixtures.fresh('planned');
  const { id } = await fixtures.done('POST', '/groups', { token, json: { name, path: name } });
  return { path: `/groups/${id}/epics`, token };
}

async function withEpic(fixtures: Fixtures) {
  const made = await group(fixtures);
  const { iid } = await fixtures.done('POST', made.path, { token: made.token, json: { title: 'v1' } });
  return { ...made, epic: `${made.path}/${iid}` };
}
