import assert from 'node:assert/strict';
import { call as callAny, makeUser } from './client.ts';
import type { Deployed, Told } from './story.ts';

const TYPE = 'application/scim+json';

/** What an identity provider does with a group, and what is recorded of it. */
export async function provisioningStory({ tally, url }: Deployed, { root }: Told): Promise<void> {
  const api = `${url}/api/v4`;
  let owner = '';
  let group = 0;
  let token = '';
  const call = (method: string, path: string, body?: object) =>
    callAny(`${api}${path}`, { method, token: owner, ...(body === undefined ? {} : { body }) });
  const agent = (method: string, path: string, body?: object) =>
    callAny(`${url}/api/scim/v2/groups/provisioned${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': TYPE },
      ...(body === undefined ? {} : { body }),
    });

  await tally.step('an owner gives the identity provider of a group a token', async () => {
    owner = await makeUser(api, root, 'landlord');
    const made = await call('POST', '/groups', { name: 'Provisioned', path: 'provisioned' });
    assert.equal(made.status, 201, made.text);
    group = Number(made.json['id']);
    const sso = { enabled: true, sso_url: 'https://idp.example.com/sso' };
    const set = await call('PUT', `/groups/${group}/saml`, sso);
    assert.equal(set.status, 200, set.text);
    const issued = await call('POST', `/groups/${group}/scim_token`);
    assert.equal(issued.status, 201, issued.text);
    assert.equal(issued.json['scim_url'], `${url}/api/scim/v2/groups/provisioned`);
    token = String(issued.json['token']);
    const config = await agent('GET', '/ServiceProviderConfig');
    assert.equal(config.status, 200, config.text);
    token = 'glsoat-of-nobody';
    assert.equal((await agent('GET', '/Users')).status, 401);
    token = String(issued.json['token']);
  });

  await tally.step('the provider provisions a user, and the audit events say so', async () => {
    const email = 'provisioned.person@example.com';
    const person = {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      externalId: 'a/b c',
      userName: email,
      name: { formatted: 'Provisioned Person' },
      emails: [{ type: 'work', value: email, primary: true }],
      active: true,
    };
    const created = await agent('POST', '/Users', person);
    assert.equal(created.status, 201, created.text);
    assert.equal((await agent('POST', '/Users', person)).status, 409);
    const one = await agent('GET', `/Users/${encodeURIComponent('a/b c')}`);
    assert.equal(one.status, 200, one.text);
    assert.equal(one.json['active'], true);
    const found = await agent('GET', `/Users?filter=${encodeURIComponent(`userName eq "${email}"`)}`);
    assert.equal(found.json['totalResults'], 1, found.text);
    const members = JSON.parse((await call('GET', `/groups/${group}/members`)).text);
    assert.ok(members.some((member: { username: string }) => member.username === 'provisioned.person'));
    const events = await call('GET', `/groups/${group}/audit_events`);
    assert.equal(events.status, 200, events.text);
    const added = JSON.parse(events.text).map(({ details }: { details: object }) => details);
    assert.ok(
      added.some(
        (event: Record<string, unknown>) =>
          event['add'] === 'user_access' &&
          event['target_details'] === 'Provisioned Person' &&
          event['author_name'] === 'SCIM of provisioned',
      ),
      events.text,
    );
  });

  await tally.step('and lets them go', async () => {
    const inner = await call('POST', '/groups', { name: 'Inner', path: 'inner', parent_id: group });
    const [{ id }] = JSON.parse((await call('GET', '/users?username=provisioned.person')).text);
    const joined = await call('POST', `/groups/${inner.json['id']}/members`, {
      user_id: id,
      access_level: 30,
    });
    assert.equal(joined.status, 201, joined.text);
    const operation = { op: 'Replace', path: 'active', value: 'False' };
    const at = `/Users/${encodeURIComponent('a/b c')}`;
    const left = await agent('PATCH', at, { Operations: [operation] });
    assert.equal(left.status, 204, left.text);
    assert.equal((await call('GET', `/groups/${group}/members/${id}`)).status, 404);
    assert.equal((await call('GET', `/groups/${inner.json['id']}/members/${id}`)).status, 404);
    assert.equal((await agent('DELETE', at)).status, 204);
    assert.equal((await agent('DELETE', at)).status, 404);
  });
}
