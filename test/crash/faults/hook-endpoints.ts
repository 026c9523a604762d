import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { after, countOf, endpoint, flip, found } from './sent.ts';

const OF = {
  project: { base: '/projects/:id/hooks', one: ':hook_id' },
  group: { base: '/groups/:id/hooks', one: ':hook_id' },
  instance: { base: '/hooks', one: ':id' },
} as const;

const TRIED = { project: '/test/push_events', group: '/test/member_events', instance: '' } as const;

/** Writes of hooks, with their sealed tokens. */
export const hookWrites: readonly Operation[] = (['project', 'group', 'instance'] as const).flatMap((of) => {
  const { base, one } = OF[of];
  return [
    endpoint(`POST ${base}`, async (fixtures) => {
      const { path, token } = await place(fixtures, of);
      const url = `https://${fixtures.fresh('hook')}.example.com/`;
      const state = async () => {
        const list: { url: string }[] = [];
        for (let page = 1; page < 8; page++)
          list.push(...(await fixtures.done('GET', `${path}?per_page=100&page=${page}`, { token })));
        return countOf(list.filter((hook) => hook.url === url));
      };
      return { path, token, json: { url, token: 'secret' }, state };
    }),
    endpoint(`PUT ${base}/${one}`, async (fixtures) => {
      const { path, token } = await hooked(fixtures, of);
      const state = async () => {
        const { tag_push_events, push_events } = await fixtures.done('GET', path, { token });
        return after(`${tag_push_events} ${push_events}`, 'false true', 'true false');
      };
      return { path, token, json: { tag_push_events: true, push_events: false, token: 'other' }, state };
    }),
    endpoint(`DELETE ${base}/${one}`, async (fixtures) => {
      const { path, token } = await hooked(fixtures, of);
      return { path, token, state: async () => flip(await found(fixtures, path, token)) };
    }),
    endpoint(
      of === 'instance' ? `POST ${base}/${one}` : `POST ${base}/${one}/test/:trigger`,
      async (fixtures) => {
        const { path, token } = await hooked(fixtures, of);
        const state = async () => countOf(await fixtures.done('GET', `${path}/events`, { token }));
        return { path: `${path}${TRIED[of]}`, token, state };
      },
    ),
    endpoint(`POST ${base}/${one}/events/:hook_event_id/resend`, async (fixtures) => {
      const { path, token } = await hooked(fixtures, of);
      await fixtures.done('POST', `${path}${TRIED[of]}`, { token });
      const [{ id }] = await fixtures.done('GET', `${path}/events`, { token });
      const state = async () => {
        const { length } = await fixtures.done('GET', `${path}/events`, { token });
        return after(length, 1, 2);
      };
      return { path: `${path}/events/${id}/resend`, token, state };
    }),
  ];
});

/** Those of earlier runs would hear of all that follows: more than the workers are given time for. */
export async function removeInstanceHooks(fixtures: Fixtures): Promise<void> {
  const token = fixtures.service.rootToken;
  const earlier: { id: number }[] = await fixtures.done('GET', '/hooks?per_page=100', { token });
  for (const { id } of earlier) await fixtures.done('DELETE', `/hooks/${id}`, { token });
}

async function place(fixtures: Fixtures, of: keyof typeof OF) {
  if (of === 'instance') {
    await removeInstanceHooks(fixtures);
    return { path: '/hooks', token: fixtures.service.rootToken };
  }
  if (of === 'project') {
    const { id, owner } = await fixtures.ground();
    return { path: `/projects/${id}/hooks`, token: owner.token };
  }
  const { token } = await fixtures.owner();
  const name = fixtures.fresh('group');
  const { id } = await fixtures.done('POST', '/groups', { token, json: { name, path: name } });
  return { path: `/groups/${id}/hooks`, token };
}

async function hooked(fixtures: Fixtures, of: keyof typeof OF) {
  const { path, token } = await place(fixtures, of);
  const json = { url: 'https://example.com/hook', push_events: true, token: 'secret' };
  const { id } = await fixtures.done('POST', path, { token, json });
  return { path: `${path}/${id}`, token };
}
