/** Whom the identity provider of a group has named, through a client library. */
import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { person, type ScimGroup, scimGroup } from '../harness/scim.ts';
import { type Service, startService } from '../harness/service.ts';

let service: Service;
let client: InstanceType<typeof Gitlab>;
let group: ScimGroup;
beforeAll(async () => {
  service = await startService();
  const { token } = await service.user('ada');
  client = new Gitlab({ host: service.url, token });
  group = await scimGroup(service, token, 'corp');
  for (const name of ['one', 'two']) await group.agent('POST', '/Users', person(name));
});
afterAll(() => service.stop());

test.each(['GroupSCIMIdentities', 'GroupSAMLIdentities'] as const)(
  '@gitbeaker/rest: %s are listed and changed',
  async (name) => {
    const identities = client[name];
    const uids = async () => (await identities.all('corp', {})).map(({ extern_uid }) => extern_uid);
    expect(await uids()).toEqual(['ext-one', 'ext-two']);
    const change = { externUid: 'ext-2' } as Parameters<typeof identities.edit>[2];
    await identities.edit(group.id, 'ext-two', change);
    expect(await uids()).toEqual(['ext-one', 'ext-2']);
    expect((await group.agent('GET', '/Users/ext-2')).status).toBe(200);
    await identities.edit(group.id, 'ext-2', { externUid: 'ext-two' } as typeof change);
    await expect(client[name].all('nowhere', {})).rejects.toThrow('Not Found');
  },
);

test('@gitbeaker/rest: members are shown with their identities', async () => {
  const members = await client.GroupMembers.all(group.id);
  expect(members.find(({ username }) => username === 'one')).toMatchObject({
    group_saml_identity: { provider: 'group_saml', extern_uid: 'ext-one', saml_provider_id: group.id },
  });
});
