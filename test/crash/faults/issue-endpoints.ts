import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { countOf, endpoint, flip, found, tracked } from './sent.ts';

/** Writes of issues. */
export const issueWrites: readonly Operation[] = [
  endpoint('POST /projects/:id/issues', async (fixtures) => {
    const { id, owner } = await fixtures.ground();
    // A number of its own tells whether it is there.
    const iid = 1000 + Number(fixtures.fresh('issue').replace(/\D/g, ''));
    return {
      path: `/projects/${id}/issues`,
      token: owner.token,
      json: { title: 'lasting', iid, confidential: true, assignee_ids: [owner.id], weight: 3 },
      state: () => found(fixtures, `/projects/${id}/issues/${iid}`, owner.token),
    };
  }),
  endpoint('PUT /projects/:id/issues/:issue_iid', async (fixtures) => {
    const { path, token } = await issue(fixtures);
    return {
      path,
      token,
      json: { title: 'later', description: 'text'.repeat(10_000), confidential: true, state_event: 'close' },
      async state() {
        const now = await fixtures.done('GET', path, { token });
        const parts = [
          now.title === 'later',
          now.confidential,
          now.state === 'closed',
          now.description !== null,
        ];
        return parts.every(Boolean) ? 'after' : parts.some(Boolean) ? `half: ${parts.join()}` : 'before';
      },
    };
  }),
  ...(['move', 'clone'] as const).map((verb) =>
    endpoint(`POST /projects/:id/issues/:issue_iid/${verb}`, async (fixtures) => {
      const { path, token, iid } = await issue(fixtures);
      const name = fixtures.fresh('elsewhere');
      const other = await fixtures.done('POST', '/projects', { token, json: { name } });
      return {
        path: `${path}/${verb}`,
        token,
        json: { to_project_id: other.id, with_notes: true },
        async state() {
          const [one, there] = [
            await fixtures.done('GET', path, { token }),
            await fixtures.done('GET', `/projects/${other.id}/issues`, { token }),
          ];
          const is = countOf(there);
          const left = verb === 'clone' ? 'opened' : is === 'after' ? 'closed' : 'opened';
          const to = verb === 'clone' ? null : ((there as { id: number }[])[0]?.id ?? null);
          return one.state === left && one.moved_to_id === to ? is : `${is}, ${one.state}: issue ${iid}`;
        },
      };
    }),
  ),
  endpoint('PUT /projects/:id/issues/:issue_iid/reorder', async (fixtures) => {
    // Both of one project: the ground changes now and then.
    const ground = await fixtures.ground();
    const first = await issue(fixtures, ground);
    const { id } = await fixtures.done('GET', first.path, { token: first.token });
    const { path, token, iid } = await issue(fixtures, ground);
    const list = path.replace(/\/\d+$/, '?order_by=relative_position&sort=desc&per_page=2');
    return {
      path: `${path}/reorder`,
      token,
      json: { move_after_id: id },
      async state() {
        const [last] = (await fixtures.done('GET', list, { token })) as { iid: number }[];
        return last!.iid === iid ? 'before' : last!.iid === first.iid ? 'after' : `${last!.iid} is last`;
      },
    };
  }),
  endpoint('DELETE /projects/:id/issues/:issue_iid', async (fixtures) => {
    const { path, token } = await issue(fixtures);
    return { path, token, state: async () => flip(await found(fixtures, path, token)) };
  }),
  endpoint('POST /projects/:id/issues/:issue_iid/links', async (fixtures) => {
    const [one, other] = [await issue(fixtures), await issue(fixtures)];
    const { token } = one;
    return {
      path: `${one.path}/links`,
      token,
      json: targetOf(other),
      state: () => linked(fixtures, one, other),
    };
  }),
  endpoint('DELETE /projects/:id/issues/:issue_iid/links/:issue_link_id', async (fixtures) => {
    const [one, other] = [await issue(fixtures), await issue(fixtures)];
    const { token } = one;
    const { id } = await fixtures.done('POST', `${one.path}/links`, { token, json: targetOf(other) });
    return {
      path: `${one.path}/links/${id}`,
      token,
      state: async () => flip(await linked(fixtures, one, other)),
    };
  }),
  ...(['time_estimate', 'add_spent_time'] as const).map((name) =>
    endpoint(`POST /projects/:id/issues/:issue_iid/${name}`, async (fixtures) => {
      const { path, token } = await issue(fixtures);
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
    endpoint(`POST /projects/:id/issues/:issue_iid/${name}`, async (fixtures) => {
      const { path, token } = await issue(fixtures);
      await fixtures.done('POST', `${path}/${before}`, { token, json: { duration: '1h' } });
      return {
        path: `${path}/${name}`,
        token,
        state: async () => flip(await tracked(fixtures, path, token)),
      };
    }),
  ),
  endpoint('POST /projects/:id/issues/:issue_iid/subscribe', async (fixtures) => {
    const { path, token } = await issue(fixtures);
    await fixtures.done('POST', `${path}/unsubscribe`, { token });
    return {
      path: `${path}/subscribe`,
      token,
      state: async () => ((await fixtures.done('GET', path, { token })).subscribed ? 'after' : 'before'),
    };
  }),
  endpoint('POST /projects/:id/issues/:issue_iid/unsubscribe', async (fixtures) => {
    const { path, token } = await issue(fixtures);
    return {
      path: `${path}/unsubscribe`,
      token,
      state: async () => ((await fixtures.done('GET', path, { token })).subscribed ? 'before' : 'after'),
    };
  }),
];

async function issue(fixtures: Fixtures, ground?: Awaited<ReturnType<Fixtures['ground']>>) {
  const { id, owner } = ground ?? (await fixtures.ground());
  const json = { title: 'sooner', assignee_ids: [owner.id] };
  const { iid } = await fixtures.done('POST', `/projects/${id}/issues`, { token: owner.token, json });
  return { path: `/projects/${id}/issues/${iid}`, token: owner.token, iid };
}

type Issue = Awaited<ReturnType<typeof issue>>;

const targetOf = ({ path }: Issue) => {
  const [, , target_project_id, , target_issue_iid] = path.split('/');
  return { target_project_id, target_issue_iid };
};

/** Whether both issues are related to each other. */
async function linked(fixtures: Fixtures, one: Issue, other: Issue) {
  const [here, there] = await Promise.all(
    [one, other].map(
      async ({ path, token }) => (await fixtures.done('GET', `${path}/links`, { token })).length,
    ),
  );
  if (here !== there) return `half: ${here} and ${there}`;
  return here === 0 ? 'before' : 'after';
}
