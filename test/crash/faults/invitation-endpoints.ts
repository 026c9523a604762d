import type { Operation } from './driver.ts';
import type { Scene, Someone } from './scene.ts';
import { after, countOf, endpoint, flip } from './sent.ts';

interface Place {
  readonly path: string;
  readonly owner: Someone;
}

type Kind = 'project' | 'group';

const imported = endpoint('POST /projects/:id/import_project_members/:project_id', async (scene) => {
  const [from, to] = [await placeOf(scene, 'project'), await placeOf(scene, 'project')];
  const { id } = await scene.service.user(scene.fresh('moved'));
  const { token } = to.owner;
  const json = { user_id: id, access_level: 20 };
  await scene.done('POST', `${from.path}/members`, { token: from.owner.token, json });
  const state = async () =>
    countOf(await scene.done('GET', `${to.path}/members?user_ids[]=${id}`, { token }));
  const source = from.path.split('/').at(-1);
  return { path: `${to.path}/import_project_members/${source}`, token, state };
});
// Members come one by one, and who has come is recorded.
const { records: _, ...imports } = imported;

const removesBillable = endpoint('DELETE /groups/:id/billable_members/:user_id', async (scene) => {
  const { path, owner } = await placeOf(scene, 'group');
  const { token } = owner;
  const { id } = await scene.service.user(scene.fresh('billed'));
  await scene.done('POST', `${path}/members`, { token, json: { user_id: id, access_level: 20 } });
  const members = () => scene.done('GET', `${path}/members?user_ids[]=${id}`, { token });
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
    endpoint(`POST ${base}/invitations`, async (scene) => {
      const place = await placeOf(scene, kind);
      const email = `${scene.fresh('invited')}@example.com`;
      const { path, owner } = place;
      const json = { email, access_level: 20 };
      const state = async () => countOf(await invitations(scene, place, email));
      return { path: `${path}/invitations`, token: owner.token, json, state };
    }),
    endpoint(`PUT ${base}/invitations/:email`, async (scene) => {
      const place = await placeOf(scene, kind);
      const email = await invited(scene, place);
      const state = async () => after((await invitations(scene, place, email))[0]?.access_level, 20, 30);
      const path = `${place.path}/invitations/${email}`;
      return { path, token: place.owner.token, json: { access_level: 30 }, state };
    }),
    endpoint(`DELETE ${base}/invitations/:email`, async (scene) => {
      const place = await placeOf(scene, kind);
      const email = await invited(scene, place);
      const state = async () => flip(countOf(await invitations(scene, place, email)));
      return { path: `${place.path}/invitations/${email}`, token: place.owner.token, state };
    }),
    endpoint(`POST ${base}/access_requests`, async (scene) => {
      const place = await placeOf(scene, kind);
      const { token } = await scene.service.user(scene.fresh('asker'));
      const state = async () => countOf(await requests(scene, place));
      return { path: `${place.path}/access_requests`, token, state };
    }),
    endpoint(`PUT ${base}/access_requests/:user_id/approve`, async (scene) => {
      const place = await placeOf(scene, kind);
      const { id } = await asker(scene, place);
      const { token } = place.owner;
      const state = async () => {
        const left = countOf(await requests(scene, place));
        const members = await scene.done('GET', `${place.path}/members?user_ids[]=${id}`, { token });
        if (left === countOf(members)) return `${left}, and ${members.length} members`;
        return flip(left);
      };
      return { path: `${place.path}/access_requests/${id}/approve`, token, state };
    }),
    endpoint(`DELETE ${base}/access_requests/:user_id`, async (scene) => {
      const place = await placeOf(scene, kind);
      const { id, token } = await asker(scene, place);
      const state = async () => flip(countOf(await requests(scene, place)));
      return { path: `${place.path}/access_requests/${id}`, token, state };
    }),
  ];
}

async function placeOf(scene: Scene, kind: Kind): Promise<Place> {
  // What one person may send in an hour is limited.
  const owner = await scene.service.user(scene.fresh('host'));
  const path = scene.fresh('place');
  const json = { name: path, path, visibility: 'public' };
  const { id } = await scene.done('POST', `/${kind}s`, { token: owner.token, json });
  return { path: `/${kind}s/${id}`, owner };
}

async function invited(scene: Scene, { path, owner }: Place): Promise<string> {
  const email = `${scene.fresh('invited')}@example.com`;
  const json = { email, access_level: 20 };
  await scene.done('POST', `${path}/invitations`, { token: owner.token, json });
  return email;
}

async function asker(scene: Scene, { path }: Place): Promise<Someone> {
  const someone = await scene.service.user(scene.fresh('asker'));
  await scene.done('POST', `${path}/access_requests`, { token: someone.token });
  return someone;
}

const invitations = (scene: Scene, { path, owner }: Place, email: string) =>
  scene.done('GET', `${path}/invitations?query=${email}`, { token: owner.token });
const requests = (scene: Scene, { path, owner }: Place) =>
  scene.done('GET', `${path}/access_requests`, { token: owner.token });
