import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ProjectRecord } from '../../../lib/records/projects.ts';
import type { UserRecord } from '../../../lib/records/users.ts';
import { createProject, newUser, openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
let owner: UserRecord;
beforeAll(async () => {
  opened = await openTestStore();
  owner = await opened.store.users.create(newUser('owner'));
});
afterAll(() => opened.close());

const now = new Date();
let made = 0;
async function projectWith(topics: readonly string[], visibility: 'public' | 'private' = 'public') {
  const { store } = opened;
  const project = await createProject(store, owner, `project-${++made}`);
  const changed = await store.projects.update(project, { topics, visibility });
  await store.topicAssignments.assign(project.id, now);
  return changed;
}
const topicNamed = async (name: string) => (await opened.store.topicRecords.byNames([name]))[0]!;
const topicsOf = async ({ id }: ProjectRecord) => (await opened.store.projects.get(id))!.topics;

test('projects follow a topic in the order of their ids, from where a run stopped', async () => {
  const { topicRecords: topics, topicAssignments } = opened.store;
  const projects: ProjectRecord[] = [];
  for (let i = 0; i < 45; i++) projects.push(await projectWith(['first', `own-${i}`]));
  await topics.update(await topicNamed('first'), { name: 'second' }, now, []);
  const { id } = await topicNamed('second');
  expect(await topicAssignments.follow(id, 0, 0)).toBe(0);
  // As a run that ended behind the twentieth.
  expect(await topicAssignments.follow(id, projects[19]!.id, Date.now() + 60_000)).toBeUndefined();
  const names = await Promise.all(projects.map(topicsOf));
  expect(names.map(([name]) => name)).toEqual(projects.map((_, i) => (i < 20 ? 'first' : 'second')));
  expect(await topicAssignments.follow(id, 0, Date.now() + 60_000)).toBeUndefined();
  expect((await Promise.all(projects.map(topicsOf))).every(([name]) => name === 'second')).toBe(true);
  expect(await topicNamed('second')).toMatchObject({ projectsCount: 45, shownCount: 45 });
});

test('a project that gets the new name of its topic before the job came keeps its row', async () => {
  const { store } = opened;
  const project = await projectWith(['old']);
  const { id } = await topicNamed('old');
  await store.topicRecords.update(await topicNamed('old'), { name: 'new' }, now, []);
  await store.projects.update(project, { topics: ['new', 'more'] });
  await store.topicAssignments.assign(project.id, now);
  expect(await topicNamed('new')).toMatchObject({ id, projectsCount: 1 });
  await store.topicAssignments.follow(id, 0, Date.now() + 60_000);
  expect(await topicsOf(project)).toEqual(['new', 'more']);
});

test('a name that the job has not replaced yet stays its topic, whatever else changes', async () => {
  const { store } = opened;
  const project = await projectWith(['before']);
  const { id } = await topicNamed('before');
  await store.topicRecords.update(await topicNamed('before'), { name: 'behind' }, now, []);
  await store.projects.update(project, { topics: ['before', 'other'] });
  await store.topicAssignments.assign(project.id, now);
  expect(await store.topicRecords.byNames(['before'])).toEqual([undefined]);
  await store.topicAssignments.follow(id, 0, Date.now() + 60_000);
  expect(await topicsOf(project)).toEqual(['behind', 'other']);
  expect(await topicNamed('behind')).toMatchObject({ id, projectsCount: 1 });
});

test('assigning and following at once leaves counts that are right', async () => {
  const { store } = opened;
  const projects = [await projectWith(['shared', 'x']), await projectWith(['shared'], 'private')];
  const shared = await topicNamed('shared');
  const into = await topicNamed('x');
  await store.topicRecords.remove(shared, now, into);
  await Promise.all([
    store.topicAssignments.follow(shared.id, 0, Date.now() + 60_000),
    store.topicAssignments.follow(shared.id, 0, Date.now() + 60_000),
    ...projects.map(({ id }) => store.topicAssignments.assign(id, now)),
  ]);
  await store.topicAssignments.follow(shared.id, 0, Date.now() + 60_000);
  expect(await Promise.all(projects.map(topicsOf))).toEqual([['x'], ['x']]);
  expect(await topicNamed('x')).toMatchObject({ projectsCount: 2, shownCount: 1 });
  const [gone] = await store.topicRecords.getEvenGone([shared.id]);
  expect(gone).toMatchObject({ projectsCount: 0, shownCount: 0, gone: { into: into.id } });
});
