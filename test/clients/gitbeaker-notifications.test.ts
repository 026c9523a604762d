/** Notification settings through a client library. */
import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../harness/service.ts';

let service: Service;
let ada: InstanceType<typeof Gitlab>;
beforeAll(async () => {
  service = await startService();
  const { token } = await service.user('ada');
  ada = new Gitlab({ host: service.url, token });
});
afterAll(() => service.stop());

test('@gitbeaker/rest: NotificationSettings of the user, a group and a project', async () => {
  const group = await ada.Groups.create('Engines', 'engines', { visibility: 'private' });
  const project = await ada.Projects.create({ name: 'engine', namespaceId: group.id });
  expect(await ada.NotificationSettings.show()).toEqual({
    level: 'participating',
    notification_email: 'ada@example.com',
  });
  expect(await ada.NotificationSettings.edit({ level: 'watch' })).toMatchObject({ level: 'watch' });
  expect(await ada.NotificationSettings.show({ groupId: group.id })).toEqual({ level: 'global' });
  expect(await ada.NotificationSettings.edit({ groupId: 'engines', level: 'mention' })).toEqual({
    level: 'mention',
  });
  const custom = {
    projectId: 'engines/engine',
    level: 'custom',
    newNote: true,
    failedPipeline: false,
  } as const;
  expect(await ada.NotificationSettings.edit(custom)).toMatchObject({
    level: 'custom',
    events: { new_note: true, failed_pipeline: false, fixed_pipeline: true, success_pipeline: false },
  });
  expect(await ada.NotificationSettings.show({ projectId: project.id })).toMatchObject({ level: 'custom' });
  const shown = await ada.Projects.show(project.id);
  expect(shown.permissions).toMatchObject({ group_access: { access_level: 50, notification_level: 4 } });
});

test('@gitbeaker/rest: the address in NotificationSettings', async () => {
  const { id } = await ada.Users.showCurrentUser();
  const root = new Gitlab({ host: service.url, token: service.rootToken });
  await root.UserEmails.add('ada@elsewhere.example', { userId: id, skipConfirmation: true });
  expect(await ada.NotificationSettings.edit({ notificationEmail: 'ada@elsewhere.example' })).toMatchObject({
    notification_email: 'ada@elsewhere.example',
  });
  expect(await ada.NotificationSettings.show()).toMatchObject({
    notification_email: 'ada@elsewhere.example',
  });
  await expect(ada.NotificationSettings.edit({ notificationEmail: 'eve@example.com' })).rejects.toThrow();
});

test('@gitbeaker/rest: invalid NotificationSettings are reported', async () => {
  await expect(ada.NotificationSettings.edit({ level: 'loud' as 'watch' })).rejects.toThrow(
    "'loud' is not a valid level",
  );
  const other = await service.user('bob');
  const bob = new Gitlab({ host: service.url, token: other.token });
  await expect(bob.NotificationSettings.show({ projectId: 'engines/engine' })).rejects.toThrow(/Not Found/);
});
