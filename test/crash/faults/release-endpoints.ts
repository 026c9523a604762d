import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { after, answered, counted, countOf, endpoint, flip } from './sent.ts';

const RELEASE = '/projects/:id/releases/:tag_name';
const TAG = '/projects/:id/repository/tags/:tag_name';

/** Writes of releases and of their links. */
export const releaseWrites: readonly Operation[] = [
  endpoint('POST /projects/:id/releases', async (fixtures) => {
    const { id, owner } = await fixtures.ground();
    const tag_name = fixtures.fresh('v');
    const { token } = owner;
    const state = async () => {
      const release = await fixtures.service.call('GET', `/projects/${id}/releases/${tag_name}`, { token });
      const tag = await fixtures.service.call('GET', `/projects/${id}/repository/tags/${tag_name}`, {
        token,
      });
      if (release.status === 404 && tag.status === 404) return 'before';
      return release.status === 200 && tag.body.release?.description === 'notes'
        ? 'after'
        : answered(release);
    };
    const json = { tag_name, ref: 'main', description: 'notes' };
    return { path: `/projects/${id}/releases`, token, json, state };
  }),
  endpoint(`PUT ${RELEASE}`, async (fixtures) => {
    const { path, token } = await released(fixtures);
    const json = { name: 'first', released_at: '2030-01-01T00:00:00.000Z' };
    const state = async () => {
      const { name, upcoming_release } = await fixtures.done('GET', path, { token });
      return after(`${name === 'first'} ${upcoming_release}`, 'false false', 'true true');
    };
    return { path, token, json, state };
  }),
  endpoint(`POST ${TAG}/release`, async (fixtures) => {
    const { id, owner } = await fixtures.ground();
    const tag_name = fixtures.fresh('v');
    const { token } = owner;
    const tags = `/projects/${id}/repository/tags`;
    await fixtures.done('POST', tags, { token, json: { tag_name, ref: 'main' } });
    const tag = `${tags}/${tag_name}`;
    const state = async () => {
      const { release } = await fixtures.done('GET', tag, { token });
      return after(`${release?.description}`, 'undefined', 'notes');
    };
    return { path: `${tag}/release`, token, json: { description: 'notes' }, state };
  }),
  endpoint(`PUT ${TAG}/release`, async (fixtures) => {
    const { tag, token } = await released(fixtures);
    const before = (await fixtures.done('GET', tag, { token })).release.description;
    const state = async () => {
      const { release } = await fixtures.done('GET', tag, { token });
      return after(release.description, before, 'other notes');
    };
    return { path: `${tag}/release`, token, json: { description: 'other notes' }, state };
  }),
  endpoint(`DELETE ${RELEASE}`, async (fixtures) => {
    const { path, token, tag } = await released(fixtures);
    const state = async () => {
      const { release } = await fixtures.done('GET', tag, { token });
      const { status } = await fixtures.service.call('GET', path, { token });
      return after(`${release === null} ${status}`, 'false 200', 'true 404');
    };
    return { path, token, state };
  }),
  endpoint(`POST ${RELEASE}/evidence`, async (fixtures) => {
    const { path, token } = await released(fixtures);
    // The first one came with the release.
    await fixtures.settle();
    const state = async () => {
      await fixtures.settle();
      const { evidences } = await fixtures.done('GET', path, { token });
      return evidences.length === 1 ? 'before' : evidences.length === 2 ? 'after' : `${evidences.length}`;
    };
    return { path: `${path}/evidence`, token, state };
  }),
  endpoint(`POST ${RELEASE}/assets/links`, async (fixtures) => {
    const { path, token } = await released(fixtures);
    const json = { name: 'tool', url: 'https://example.com/tool' };
    return {
      path: `${path}/assets/links`,
      token,
      json,
      state: () => counted(fixtures, `${path}/assets/links`, token),
    };
  }),
  endpoint(`PUT ${RELEASE}/assets/links/:link_id`, async (fixtures) => {
    const { link, token } = await linked(fixtures);
    const state = async () => {
      const { name, link_type } = await fixtures.done('GET', link, { token });
      return after(`${name} ${link_type}`, 'tool other', 'image image');
    };
    return { path: link, token, json: { name: 'image', link_type: 'image' }, state };
  }),
  endpoint(`DELETE ${RELEASE}/assets/links/:link_id`, async (fixtures) => {
    const { link, path, token } = await linked(fixtures);
    const state = async () => flip(countOf(await fixtures.done('GET', `${path}/assets/links`, { token })));
    return { path: link, token, state };
  }),
];

async function released(fixtures: Fixtures) {
  const { id, owner } = await fixtures.ground();
  const { token } = owner;
  const tag_name = fixtures.fresh('v');
  const json = { tag_name, ref: 'main', description: 'notes' };
  await fixtures.done('POST', `/projects/${id}/releases`, { token, json });
  const [path, tag] = [`/projects/${id}/releases/${tag_name}`, `/projects/${id}/repository/tags/${tag_name}`];
  return { token, path, tag };
}

async function linked(fixtures: Fixtures) {
  const made = await released(fixtures);
  const json = { name: 'tool', url: 'https://example.com/tool' };
  const { id } = await fixtures.done('POST', `${made.path}/assets/links`, { token: made.token, json });
  return { ...made, link: `${made.path}/assets/links/${id}` };
}
