import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../harness/service.ts';

let service: Service;
const clientOf = (token: string) => new Gitlab({ host: service.url, token });
let ada: ReturnType<typeof clientOf>;
let bob: ReturnType<typeof clientOf>;
let users: Record<'ada' | 'bob', { id: number; token: string }>;
beforeAll(async () => {
  service = await startService();
  users = { ada: await service.user('ada'), bob: await service.user('bob') };
  [ada, bob] = [clientOf(users.ada.token), clientOf(users.bob.token)];
});
afterAll(() => service.stop());

test('@gitbeaker/rest: Events of a project and of a user', async () => {
  const project = await ada.Projects.create({ name: 'Followed', visibility: 'private' });
  await ada.ProjectMembers.add(project.id, 20, { userId: users.bob.id });
  for (let n = 1; n <= 25; n++)
    await ada.Commits.create(project.id, 'main', `Number ${n}`, [
      { action: 'create', filePath: `file-${n}`, content: `${n}\n` },
    ]);
  const head = await ada.Commits.show(project.id, 'main');
  const told = await bob.Events.all({ projectId: project.id } as never);
  // All pages, newest first.
  expect(told.length).toBe(27);
  expect(told[0]).toMatchObject({
    action_name: 'pushed to',
    author_username: 'ada',
    project_id: project.id,
    push_data: {
      commit_count: 1,
      commit_title: 'Number 25',
      commit_to: head.id,
      ref: 'main',
      ref_type: 'branch',
    },
  });
  expect(told.slice(-2).map(({ action_name }) => action_name)).toEqual(['joined', 'created']);

  const first = await bob.Events.all({
    projectId: project.id,
    action: 'pushed',
    sort: 'asc',
    perPage: 5,
    maxPages: 1,
    showExpanded: true,
  } as never);
  const { data, paginationInfo } = first as unknown as {
    data: { push_data: { commit_title: string } }[];
    paginationInfo: object;
  };
  expect(data.map(({ push_data }) => push_data.commit_title)).toEqual(
    [1, 2, 3, 4, 5].map((n) => `Number ${n}`),
  );
  expect(paginationInfo).toMatchObject({ total: 25, next: 2, current: 1, perPage: 5, totalPages: 5 });

  const today = new Date().toISOString().slice(0, 10);
  expect(await bob.Events.all({ userId: users.ada.id, before: today })).toEqual([]);
  expect((await bob.Events.all({ userId: 'ada', targetType: 'note' })).length).toBe(0);
  expect((await bob.Events.all({ userId: 'ada' })).length).toBe(26);
  expect((await bob.Events.all()).map(({ action_name }) => action_name)).toEqual(['joined']);
  expect((await bob.Events.all({ scope: 'all' } as never)).length).toBe(27);
  await ada.ProjectMembers.remove(project.id, users.bob.id);
  expect(await bob.Events.all({ userId: 'ada' })).toEqual([]);
  await expect(bob.Events.all({ projectId: project.id } as never)).rejects.toMatchObject({
    cause: { description: '404 Project Not Found' },
  });
  await expect(bob.Events.all({ action: 'danced' } as never)).rejects.toMatchObject({
    cause: { response: { status: 400 } },
  });
});
