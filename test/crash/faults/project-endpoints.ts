import type { ProjectRecord } from '../../../lib/records/projects.ts';
import { padded } from '../../../lib/store/row-keys/key.ts';
import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { after, endpoint } from './sent.ts';

/** What is done to a project as a whole. */
export const projectWrites: readonly Operation[] = [
  endpoint('PUT /projects/:id', async (fixtures) => {
    const { id, owner } = await fixtures.ownGround();
    const path = fixtures.fresh('renamed');
    const json = { path, name: path, description: 'd', topics: ['t'], default_branch: 'side' };
    return {
      path: `/projects/${id}`,
      token: owner.token,
      json,
      async state() {
        const now = (await fixtures.store.projects.get(id))!;
        const head = (await fixtures.store.repositories.open(now.repositoryId).head()).endsWith('/side');
        const parts = [now.path === path, now.topics.length === 1, now.defaultBranch === 'side', head];
        return parts.every(Boolean) ? 'after' : parts.some(Boolean) ? `half: ${parts.join()}` : 'before';
      },
    };
  }),
  endpoint('POST /topics', async (fixtures) => {
    const name = fixtures.fresh('topic');
    const state = async () => ((await topicNamed(fixtures, name)) === undefined ? 'before' : 'after');
    return { path: '/topics', token: fixtures.service.rootToken, json: { name }, state };
  }),
  endpoint('PUT /topics/:id', async (fixtures) => {
    const { topic } = await assigned(fixtures);
    const name = fixtures.fresh('renamed');
    const state = async () =>
      (await fixtures.store.topicRecords.get(topic))?.name === name ? 'after' : 'before';
    return { path: `/topics/${topic}`, token: fixtures.service.rootToken, json: { name }, state };
  }),
  endpoint('DELETE /topics/:id', async (fixtures) => {
    const { topic, id } = await assigned(fixtures);
    return {
      path: `/topics/${topic}`,
      token: fixtures.service.rootToken,
      state: () => topicGone(fixtures, topic, id, []),
    };
  }),
  endpoint('POST /topics/merge', async (fixtures) => {
    const { topic, id } = await assigned(fixtures);
    const token = fixtures.service.rootToken;
    const name = fixtures.fresh('target');
    const target = await fixtures.done('POST', '/topics', { token, json: { name } });
    const json = { source_topic_id: topic, target_topic_id: target.id };
    return { path: '/topics/merge', token, json, state: () => topicGone(fixtures, topic, id, [name]) };
  }),
  endpoint('POST /projects/:id/housekeeping', async (fixtures) => {
    const { id, owner, repositoryId } = await fixtures.ownGround();
    const state = async () => {
      await fixtures.settle();
      return (await fixtures.store.maintenanceNotes.read(repositoryId)).garbage === 0 ? 'before' : 'after';
    };
    return { path: `/projects/${id}/housekeeping`, token: owner.token, state };
  }),
  endpoint('POST /projects/:id/uploads', async (fixtures) => {
    const { id, owner } = await fixtures.ownGround();
    const raw = new FormData();
    raw.set('file', new Blob(['content']), 'a.txt');
    // An answer that was lost leaves a file whose URL nobody knows.
    const state = async () => {
      const { keys } = await fixtures.store.blobs.list(`attachments/project/${padded(id)}/`);
      return keys.length === 0 ? 'before' : 'after';
    };
    return { path: `/projects/${id}/uploads`, token: owner.token, raw, state };
  }),
  endpoint('POST /projects/:id/archive', (fixtures) => switched(fixtures, 'archive', (now) => now.archived)),
  endpoint('POST /projects/:id/unarchive', async (fixtures) => {
    return switched(fixtures, 'unarchive', (now) => !now.archived, { archived: true });
  }),
  endpoint('POST /projects/:id/restore', (fixtures) => {
    const deletion = { askedAt: '2021-01-01T00:00:00.000Z', dueOn: '2999-01-01' };
    return switched(fixtures, 'restore', (now) => !now.archived && now.deletion === null, {
      archived: true,
      deletion,
    });
  }),
  endpoint('PUT /projects/:id/transfer', async (fixtures) => {
    const { id, owner, group } = await moving(fixtures);
    return {
      path: `/projects/${id}/transfer`,
      token: owner.token,
      json: { namespace: group },
      state: () => moved(fixtures, id, group),
    };
  }),
  endpoint('POST /groups/:id/projects/:project_id', async (fixtures) => {
    const { id, group } = await moving(fixtures);
    return {
      path: `/groups/${group}/projects/${id}`,
      token: fixtures.service.rootToken,
      state: () => moved(fixtures, id, group),
    };
  }),
];

async function switched(
  fixtures: Fixtures,
  verb: string,
  done: (now: ProjectRecord) => boolean,
  begin?: Partial<Pick<ProjectRecord, 'archived' | 'deletion'>>,
) {
  const { id, repositoryId, owner } = await fixtures.ownGround();
  const { projects, repositories } = fixtures.store;
  if (begin !== undefined) await projects.update((await projects.get(id))!, begin);
  return {
    path: `/projects/${id}/${verb}`,
    token: owner.token,
    async state() {
      const now = (await projects.get(id))!;
      const state = (await repositories.guard(repositoryId))?.state;
      if ((state === 'open') === now.archived) return `archived ${now.archived}, and ${state}`;
      return done(now) ? 'after' : 'before';
    },
  };
}

async function moving(fixtures: Fixtures) {
  const { id, owner } = await fixtures.ownGround();
  const path = fixtures.fresh('into');
  const { token } = owner;
  const { id: group } = await fixtures.done('POST', '/groups', { token, json: { name: path, path } });
  return { id, owner, group: group as number };
}

async function moved({ store }: Fixtures, id: number, group: number): Promise<string> {
  const now = (await store.projects.get(id))!;
  const rows: number[] = [];
  for await (const row of store.groups.rowsBelow(group, 'DIRECT', 'project')) rows.push(row);
  const inside = rows.includes(id);
  return (now.namespaceId === group) === inside ? after(inside, false, true) : 'half';
}

const topicNamed = async ({ store }: Fixtures, name: string) => (await store.topicRecords.byNames([name]))[0];

/** A project with a topic of its own. */
async function assigned(fixtures: Fixtures): Promise<{ id: number; topic: number }> {
  const { token } = await fixtures.owner();
  const name = fixtures.fresh('assigned');
  const { id } = await fixtures.done('POST', '/projects', { token, json: { name, topics: [name] } });
  return { id, topic: (await topicNamed(fixtures, name))!.id };
}

async function topicGone(fixtures: Fixtures, topic: number, id: number, left: string[]): Promise<string> {
  if ((await fixtures.store.topicRecords.get(topic)) !== undefined) return 'before';
  await fixtures.settle();
  const { topics } = (await fixtures.store.projects.get(id))!;
  return topics.join() === left.join() ? 'after' : `gone, and the project has ${topics}`;
}
