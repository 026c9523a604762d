/** What was done, read through a client library. */
import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../harness/service.ts';

let service: Service;
const clientOf = (token: string) => new Gitlab({ host: service.url, token });
type Client = ReturnType<typeof clientOf>;
let root: Client;
let ada: Client;
let bob: Client;
let ids: Record<'ada' | 'bob', number>;
beforeAll(async () => {
  service = await startService({ background: false });
  const [one, two] = [await service.user('ada'), await service.user('bob')];
  ids = { ada: one.id, bob: two.id };
  [root, ada, bob] = [clientOf(service.rootToken), clientOf(one.token), clientOf(two.token)];
});
afterAll(() => service.stop());

test('@gitbeaker/rest: AuditEvents of a group, of a project and of the instance', async () => {
  const group = await ada.Groups.create('House', 'house');
  await ada.GroupMembers.add(group.id, 30, { userId: ids.bob });
  const project = await ada.Projects.create({ name: 'room', namespaceId: group.id });
  await ada.Projects.edit(project.id, { name: 'Hall' });

  const ofGroup = await ada.AuditEvents.all({ groupId: group.id });
  expect(ofGroup.map(({ details }) => details)).toMatchObject([
    { add: 'user_access', as: 'Developer', target_id: ids.bob, target_details: 'bob', author_name: 'ada' },
    { add: 'group', target_details: 'house', entity_path: 'house' },
  ]);
  const [first] = ofGroup;
  expect(await ada.AuditEvents.show(first!.id, { groupId: group.id })).toEqual(first);
  // Administrators get to know the author's address too.
  expect(await root.AuditEvents.show(first!.id)).toMatchObject({ ...first!, details: first!.details });
  expect(await bob.AuditEvents.all({ groupId: group.id })).toEqual([]);
  await expect(bob.AuditEvents.show(first!.id, { groupId: group.id })).rejects.toThrow('Forbidden');

  const ofProject = await ada.AuditEvents.all({ projectId: project.id });
  expect(ofProject).toMatchObject([
    { author_id: ids.ada, details: { change: 'name', from: 'room', to: 'Hall' } },
    { author_id: ids.ada, details: { add: 'project' } },
  ]);
  const one = ofProject[0]!.id;
  expect(await ada.AuditEvents.show(one, { projectId: project.id })).toEqual(ofProject[0]);

  const all = await root.AuditEvents.all({ entityType: 'Project', entityId: project.id });
  expect(all).toMatchObject(ofProject);
  await expect(ada.AuditEvents.all()).rejects.toThrow('Forbidden');
});

test('@gitbeaker/rest: AuditEvents by offset, by keyset and in a time range', async () => {
  const group = await ada.Groups.create('Many', 'many');
  const times: string[] = [];
  for (let n = 0; n < 7; n++) await ada.Groups.edit(group.id, { name: `Name ${n}` });
  const options = { groupId: group.id, perPage: 3 } as const;
  const byNumber = await ada.AuditEvents.all(options);
  expect(byNumber).toHaveLength(8);
  expect(await ada.AuditEvents.all({ ...options, pagination: 'keyset' })).toEqual(byNumber);
  for (const { created_at } of byNumber) times.push(created_at);
  const [createdBefore, createdAfter] = [times[2]!, times[4]!];
  const some = await ada.AuditEvents.all({ groupId: group.id, createdAfter, createdBefore });
  const within = byNumber.filter(({ created_at: at }) => at >= createdAfter && at <= createdBefore);
  expect(some).toEqual(within);
});
