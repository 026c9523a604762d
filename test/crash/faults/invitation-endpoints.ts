import type { Operation } from './driver.ts';
import type { Fixtures, Someone } from './fixtures.ts';
import { after, countOf, endpoint, flip } from './sent.ts';

interface Place {
  readonly path: string;
  readonly owner: Someone;
}

type Kind = 'project' | 'group';

const imported = endpoint('POST /projects/:id/import_project_members/:project_id', async (fixtures) => {
  const [from, to] = [await placeOf(fixtures, 'project'), await placeOf(fixtures, 'project')];
  const { id } = await fixtures.service.user(fixtures.fresh('moved'));
  const { token } = to.owner;
  const json = { user_id: id, access_level: 20 };
  await fixtures.done('POST', `${from.path}/members`, { token: from.owner.token, json });
  const state = async () =>
    countOf(await fixtures.done('GET', `${to.path}/members?user_ids[]=${id}`, { token }));
  const source = from.path.split('/').at(-1);
  return { path: `${to.path}/import_project_members/${source}`, token, state };
});
// Members come one by one, and who has come is recorded.
const { records: _, ...imports } = imported;

const removesBillable = endpoint('DELETE /groups/:id/billable_members/:user_id', async (fixtures) => {
  const { path, owner } = await placeOf(fixtures, 'group');
  const { token } = owner;
  const { id } = await fixtures.service.user(fixtures.fresh('billed'));
  await fixtures.done('POST', `${path}/members`, { token, json: { user_id: id, access_level: 20 } });
  const members = () => fixtures.done('GET', `${path}/members?user_ids[]=${id}`, { token });
  return { path: `${path}/billable_members/${id}`, token, state: async () => flip(countOf(await members())) };
});

/** Writes of invitations, of requests for access, and of members in bulk. */
export const invitationWrites: readonly Operation[] = [
  ...of('project'),
  ...of('group'),
  imports,
  removesBillable,
];

function of(kind: Kind): Operation[] {
  const base = `/${kind}s/:id`;
  return [
    endpoint(`POST ${base}/invitations`, async (fixtures) => {
      const place = await placeOf(fixtures, kind);
      const email = `${fixtures.fresh('invited')}@example.com`;
      const { path, owner } = place;
      const json = { email, access_level: 20 };
      const state = async () => countOf(await invitations(fixtures, place, email));
      return { path: `${path}/invitations`, token: owner.token, json, state };
    }),
    endpoint(`PUT ${base}/invitations/:email`, async (fixtures) => {
      const place = await placeOf(fixtures, kind);
      const email = await invited(fixtures, place);
      const state = async () => after((await invitations(fixtures, place, email))[0]?.access_level, 20, 30);
      const path = `${place.path}/invitations/${email}`;
      return { path, token: place.owner.token, json: { access_level: 30 }, state };
    }),
    endpoint(`DELETE ${base}/invitations/:email`, async (fixtures) => {
      const place = await placeOf(fixtures, kind);
      const email = await invited(fixtures, place);
      const state = async () => flip(countOf(await invitations(fixtures, place, email)));
      return { path: `${place.path}/invitations/${email}`, token: place.owner.token, state };
    }),
    endpoint(`POST ${base}/access_requests`, async (fixtures) => {
      const place = await placeOf(fixtures, kind);
      const { token } = await fixtures.service.user(fixtures.fresh('asker'));
      const state = async () => countOf(await requests(fixtures, place));
      return { path: `${place.path}/access_requests`, token, state };
    }),
    endpoint(`PUT ${base}/access_requests/:user_id/approve`, async (fixtures) => {
      const place = await placeOf(fixtures, kind);
      const { id } = await asker(fixtures, place);
      const { token } = place.owner;
      const state = async () => {
        const left = countOf(await requests(fixtures, place));
        const members = await fixtures.done('GET', `${place.path}/members?user_ids[]=${id}`, { token });
        if (left === countOf(members)) return `${left}, and ${members.length} members`;
        return flip(left);
      };
      return { path: `${place.path}/access_requests/${id}/approve`, token, state };
    }),
    endpoint(`DELETE ${base}/access_requests/:user_id`, async (fixtures) => {
      const place = await placeOf(fixtures, kind);
      const { id, token } = await asker(fixtures, place);
      const state = async () => flip(countOf(await requests(fixtures, place)));
      return { path: `${place.path}/access_requests/${id}`, token, state };
    }),
  ];
}

async function placeOf(fixtures: Fixtures, kind: Kind): Promise<Place> {
  // What one person may send in an hour is limited.
  const owner = await fixtures.service.user(fixtures.fresh('host'));
  const path = fixtures.fresh('place');
  const json = { name: path, path, visibility: 'public' };
  const { id } = await fixtures.done('POST', `/${kind}s`, { token: owner.token, json });
  return { path: `/${kind}s/${id}`, owner };
}

async function invited(fixtures: Fixtures, { path, owner }: Place): Promise<string> {
  const email = `${fixtures.fresh('invited')}@example.com`;
  const json = { email, access_level: 20 };
  await fixtures.done('POST', `${path}/invitations`, { token: owner.token, json });
  return email;
}

async function asker(fixtures: Fixtures, { path }: Place): Promise<Someone> {
  const someone = await fixtures.service.user(fixtures.fresh('asker'));
  await fixtures.done('POST', `${path}/access_requests`, { token: someone.token });
  return someone;
}

const invitations = (fixtures: Fixtures, { path, owner }: Place, email: string) =>
  fixtures.done('GET', `${path}/invitations?query=${email}`, { token: owner.token });
const requests = (fixtures: Fixtures, { path, owner }: Place) =>
  fixtures.done('GET', `${path}/access_requests`, { token: owner.token });
