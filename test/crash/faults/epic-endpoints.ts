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
  endpoint('POST /groups/:id/epics/:epic_iid/issues/:issue_id', async (fixtures) => {
    const { token, epic, issueId, issues } = await withIssue(fixtures);
    return { path: `${epic}/issues/${issueId}`, token, state: () => counted(fixtures, issues, token) };
  }),
  endpoint('PUT /groups/:id/epics/:epic_iid/issues/:epic_issue_id', async (fixtures) => {
    const { token, issues, issueId, other } = await withTwo(fixtures);
    const state = async () => {
      const [first] = await fixtures.done('GET', issues, { token });
      return after(first.id === issueId, false, true);
    };
    return { path: `${issues}/${issueId}`, token, json: { move_after_id: other }, state };
  }),
  endpoint('DELETE /groups/:id/epics/:epic_iid/issues/:epic_issue_id', async (fixtures) => {
    const { token, epic, issueId, issues } = await withIssue(fixtures);
    await fixtures.done('POST', `${epic}/issues/${issueId}`, { token });
    const state = async () => flip(await counted(fixtures, issues, token));
    return { path: `${epic}/issues/${issueId}`, token, state };
  }),
];

/** A new group without epics. */
async function group(fixtures: Fixtures): Promise<{
  readonly id: number;
  readonly path: string;
  readonly token: string;
}> {
  const { token } = await fixtures.owner();
  const name = fixtures.fresh('planned');
  const { id } = await fixtures.done('POST', '/groups', { token, json: { name, path: name } });
  return { id, path: `/groups/${id}/epics`, token };
}

async function withEpic(fixtures: Fixtures) {
  const made = await group(fixtures);
  const { iid } = await fixtures.done('POST', made.path, { token: made.token, json: { title: 'v1' } });
  return { ...made, epic: `${made.path}/${iid}` };
}

/** An epic, and an issue below its group that is in none. */
async function withIssue(fixtures: Fixtures) {
  const made = await withEpic(fixtures);
  const { token, id: namespace_id, epic } = made;
  const json = { name: fixtures.fresh('work'), namespace_id };
  const project = await fixtures.done('POST', '/projects', { token, json });
  const path = `/projects/${project.id}/issues`;
  const { id: issueId } = await fixtures.done('POST', path, { token, json: { title: 'v1' } });
  return { token, epic, issueId, issues: `${epic}/issues`, path };
}

/** An epic with two issues, the other one before the issue. */
async function withTwo(fixtures: Fixtures) {
  const { token, issues, issueId, path } = await withIssue(fixtures);
  const { id: other } = await fixtures.done('POST', path, { token, json: { title: 'v2' } });
  for (const id of [issueId, other]) await fixtures.done('POST', `${issues}/${id}`, { token });
  return { token, issues, issueId, other };
}
