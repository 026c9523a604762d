import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { after, counted, endpoint, flip } from './sent.ts';

/** Writes of milestones, of projects and of groups. */
export const milestoneWrites: readonly Operation[] = (['project', 'group'] as const).flatMap((kind) => [
  endpoint(`POST /${kind}s/:id/milestones`, async (fixtures) => {
    const { path, token } = await container(fixtures, kind);
    return { path, token, json: { title: 'v1' }, state: () => counted(fixtures, path, token) };
  }),
  endpoint(`PUT /${kind}s/:id/milestones/:milestone_id`, async (fixtures) => {
    const { path, token, milestone } = await withMilestone(fixtures, kind);
    const json = { title: 'v2', due_date: '2030-01-01', state_event: 'close' };
    const state = async () => {
      const listed = await fixtures.done('GET', `${path}?state=closed`, { token });
      const { title, due_date } = await fixtures.done('GET', milestone, { token });
      return after(`${listed.length} ${title} ${due_date}`, '0 v1 null', '1 v2 2030-01-01');
    };
    return { path: milestone, token, json, state };
  }),
  endpoint(`DELETE /${kind}s/:id/milestones/:milestone_id`, async (fixtures) => {
    const { path, token, milestone } = await withMilestone(fixtures, kind);
    return { path: milestone, token, state: async () => flip(await counted(fixtures, path, token)) };
  }),
  ...(kind === 'group'
    ? []
    : [
        endpoint('POST /projects/:id/milestones/:milestone_id/promote', async (fixtures) => {
          const { path: group, token, id: namespace_id } = await container(fixtures, 'group');
          const project = await fixtures.done('POST', '/projects', {
            token,
            json: { name: fixtures.fresh('planned'), namespace_id },
          });
          const path = `/projects/${project.id}/milestones`;
          const { id } = await fixtures.done('POST', path, { token, json: { title: 'v1' } });
          const state = () => counted(fixtures, group, token);
          return { path: `${path}/${id}/promote`, token, state };
        }),
      ]),
]);

/** A new project or group without milestones. */
async function container(
  fixtures: Fixtures,
  kind: 'project' | 'group',
): Promise<{ readonly id: number; readonly path: string; readonly token: string }> {
  const { token } = await fixtures.owner();
  const name = fixtures.fresh('planned');
  const { id } = await fixtures.done('POST', `/${kind}s`, { token, json: { name, path: name } });
  return { id, path: `/${kind}s/${id}/milestones`, token };
}

async function withMilestone(fixtures: Fixtures, kind: 'project' | 'group') {
  const made = await container(fixtures, kind);
  const { id } = await fixtures.done('POST', made.path, { token: made.token, json: { title: 'v1' } });
  return { ...made, milestone: `${made.path}/${id}` };
}
