/** What the client library makes of limits: it asks a few times more, then says which status it was. */
import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freshWindow } from '../harness/fresh-window.ts';
import { type Service, startService } from '../harness/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService({ background: false });
});
afterAll(() => service.stop());

const clientOf = (token: string) => new Gitlab({ host: service.url, token });
const LAST = 'last status code: 429';

test('@gitbeaker/rest: an administrator sets and lifts rate limits for requests and single actions', async () => {
  const [one, other] = [await service.user('one'), await service.user('other')];
  const [root, someone, another] = [clientOf(service.rootToken), clientOf(one.token), clientOf(other.token)];
  await root.ApplicationSettings.edit({
    throttleAuthenticatedApiEnabled: true,
    throttleAuthenticatedApiRequestsPerPeriod: 3,
    throttleAuthenticatedApiPeriodInSeconds: 86_400,
  });
  for (let n = 0; n < 3; n++) expect((await someone.Users.showCurrentUser()).username).toBe('one');
  await expect(someone.Users.showCurrentUser()).rejects.toThrow(LAST);
  expect((await another.Users.showCurrentUser()).username).toBe('other');

  await root.ApplicationSettings.edit({
    throttleAuthenticatedApiEnabled: false,
    ...{ usersGetByIdLimit: 1, usersGetByIdLimitAllowlist: ['other'] },
  });
  expect((await someone.Users.showCurrentUser()).username).toBe('one');
  await freshWindow(600);
  await someone.Users.show(other.id);
  await expect(someone.Users.show(other.id)).rejects.toThrow(LAST);
  await another.Users.show(one.id);
  expect((await another.Users.show(one.id)).username).toBe('one');
});
