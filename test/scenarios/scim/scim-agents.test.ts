/**
 * Runs of the agents of Okta and of Entra ID, with the requests that their documentation shows, and the examples of
 * RFC 7644: what they send, and what they look for in the answers.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CORE_USER, person, type ScimGroup, scimGroup } from '../../harness/scim.ts';
import { type Service, startService } from '../../harness/service.ts';

const LIST = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';

let service: Service;
let owner: { readonly token: string };
beforeAll(async () => {
  service = await startService();
  owner = await service.user('owner');
});
afterAll(() => service.stop());

const begin = (path: string): Promise<ScimGroup> =>
  scimGroup(service, owner.token, path, { trusted_email_domains: ['corp.example'] });

const filterBy = (attribute: string, value: string) =>
  `filter=${encodeURIComponent(`${attribute} eq "${value}"`)}`;

/** A user's access level in the group, as its owner sees it; undefined if not a member. */
async function levelOf(group: ScimGroup, username: string): Promise<number | undefined> {
  const { body } = await service.call('GET', `/groups/${group.id}/members`, { token: owner.token });
  return body.find((member: { username: string }) => member.username === username)?.access_level;
}

const account = async (username: string) =>
  (await service.call('GET', `/users?username=${username}`, { token: service.rootToken })).body[0];

test('Okta can connect, provision, update with PUT, deactivate and reactivate users', async () => {
  const group = await begin('okta');
  const { agent } = group;
  expect(await agent('GET', '/Users?startIndex=1&count=2')).toMatchObject({
    status: 200,
    body: { schemas: [LIST], totalResults: 0, startIndex: 1, itemsPerPage: 0, Resources: [] },
  });
  expect(await agent('GET', '/Groups?startIndex=1&count=100')).toMatchObject({ status: 200 });

  const userName = 'test.user@corp.example';
  const exists = `/Users?${filterBy('userName', userName)}&startIndex=1&count=100`;
  expect((await agent('GET', exists)).body).toMatchObject({ totalResults: 0, Resources: [] });

  const created = await agent('POST', '/Users', {
    schemas: [CORE_USER],
    userName,
    name: { givenName: 'Test', familyName: 'User' },
    emails: [{ primary: true, value: userName, type: 'work' }],
    displayName: 'Test User',
    locale: 'en-US',
    externalId: '00ujl29u0le5T6Aj10h7',
    groups: [],
    password: '1mz050nq',
    active: true,
  });
  expect(created).toMatchObject({
    status: 201,
    body: {
      schemas: [CORE_USER],
      userName,
      name: { givenName: 'Test', familyName: 'User' },
      emails: [{ primary: true, value: userName, type: 'work' }],
      externalId: '00ujl29u0le5T6Aj10h7',
      active: true,
      meta: { resourceType: 'User' },
    },
  });
  const { id } = created.body;
  expect(created.headers.get('location')).toBe(created.body.meta.location);
  expect(JSON.stringify(created.body)).not.toContain('1mz050nq');
  expect((await agent('GET', exists)).body).toMatchObject({ totalResults: 1, Resources: [{ id, userName }] });
  expect((await agent('GET', `/Users/${id}`)).body).toEqual(created.body);
  expect(await levelOf(group, 'test.user')).toBe(10);

  const profile = {
    schemas: [CORE_USER],
    id,
    userName,
    name: { givenName: 'Another', middleName: 'Excited', familyName: 'User' },
    emails: [{ primary: true, value: userName, type: 'work', display: userName }],
    active: true,
    groups: [],
    meta: { resourceType: 'User' },
  };
  expect(await agent('PUT', `/Users/${id}`, profile)).toMatchObject({
    status: 200,
    body: { id, name: { formatted: 'Another User', givenName: 'Another' }, active: true },
  });
  expect((await account('test.user')).name).toBe('Another User');

  const put = await agent('PUT', `/Users/${id}`, { ...profile, active: false });
  expect(put).toMatchObject({ status: 200, body: { active: false } });
  expect(await levelOf(group, 'test.user')).toBe(undefined);
  expect(await agent('PUT', `/Users/${id}`, profile)).toMatchObject({ status: 200, body: { active: true } });
  expect(await levelOf(group, 'test.user')).toBe(10);

  const operation = { op: 'replace', value: { active: false } };
  expect((await agent('PATCH', `/Users/${id}`, { schemas: [PATCH], Operations: [operation] })).status).toBe(
    204,
  );
  expect((await agent('GET', `/Users/${id}`)).body.active).toBe(false);
  expect(await levelOf(group, 'test.user')).toBe(undefined);

  // Its tests of a service look for these.
  const random = '9b5a1e3c-0000-4000-8000-000000000000';
  expect(await agent('GET', `/Users/${random}`)).toMatchObject({
    status: 404,
    body: { schemas: [ERROR], detail: `Resource ${random} not found` },
  });
  expect(
    await agent('POST', '/Users', { ...profile, externalId: 'other', emails: profile.emails }),
  ).toMatchObject({ status: 201, body: { id: 'other', active: true } });
  expect(
    await agent('POST', '/Users', { ...profile, externalId: 'other', emails: profile.emails }),
  ).toMatchObject({ status: 409, body: { schemas: [ERROR], scimType: 'uniqueness' } });
});

test('Entra ID can test the connection, create users, patch them in its own syntax, disable and delete them', async () => {
  const group = await begin('entra');
  const { agent } = group;
  const random = '4ab6f0b5-92f0-4d5f-9b7a-3f0f0a3a3b1d';
  expect((await agent('GET', `/Users?${filterBy('userName', random)}`)).body).toMatchObject({
    schemas: [LIST],
    totalResults: 0,
  });

  const externalId = '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef';
  const upn = 'Test_User_ab6490ee@corp.example';
  const found = `/Users?${filterBy('externalId', externalId)}`;
  expect((await agent('GET', found)).body.totalResults).toBe(0);
  const created = await agent('POST', '/Users', {
    schemas: [CORE_USER, 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'],
    externalId,
    userName: upn,
    active: true,
    emails: [{ primary: true, type: 'work', value: 'ab6490ee@corp.example' }],
    meta: { resourceType: 'User' },
    name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
    roles: [],
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: 'Sales' },
  });
  expect(created).toMatchObject({ status: 201, body: { userName: upn, active: true, externalId } });
  const at = `/Users/${created.body.id}`;
  expect((await agent('GET', found)).body).toMatchObject({ totalResults: 1, Resources: [created.body] });
  expect((await agent('GET', `${at}?excludedAttributes=emails`)).body).not.toHaveProperty('emails');
  expect((await agent('GET', `/Users?${filterBy('userName', upn)}`)).body.totalResults).toBe(1);
  expect(await levelOf(group, 'Test_User_ab6490ee')).toBe(10);

  const patch = async (...Operations: object[]) =>
    expect(await agent('PATCH', at, { schemas: [PATCH], Operations })).toMatchObject({
      status: 204,
      body: null,
    });
  await patch(
    { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updatedEmail@corp.example' },
    { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
  );
  expect((await agent('GET', at)).body).toMatchObject({
    name: { formatted: 'givenName updatedFamilyName', familyName: 'updatedFamilyName' },
    emails: [{ type: 'work', value: 'updatedEmail@corp.example', primary: true }],
  });
  expect(await account('Test_User_ab6490ee')).toMatchObject({
    name: 'givenName updatedFamilyName',
    email: 'updatedEmail@corp.example',
  });

  const renamed = '5b50642d-79fc-4410-9e90-4c077cdd1a59@corp.example';
  await patch({ op: 'Replace', path: 'userName', value: renamed });
  expect((await agent('GET', `/Users?${filterBy('userName', renamed)}`)).body.totalResults).toBe(1);
  expect((await agent('GET', `/Users?${filterBy('userName', upn)}`)).body.totalResults).toBe(0);

  // Without the flag by which it keeps to the RFC: texts for booleans, wrapped values, dotted names.
  await patch({ op: 'Add', path: 'name.formatted', value: [{ $ref: null, value: 'New Name' }] });
  await patch({ op: 'Add', value: { 'name.givenName': 'New', displayName: 'Old', title: 'x' } });
  expect((await agent('GET', at)).body.name).toMatchObject({
    givenName: 'New',
    familyName: 'updatedFamilyName',
  });
  await patch({ op: 'Replace', path: 'active', value: 'False' });
  expect((await agent('GET', found)).body.Resources[0].active).toBe(false);
  await patch({ op: 'Replace', path: 'active', value: 'True' }, { op: 'Remove', path: 'title' });
  expect((await agent('GET', found)).body.Resources[0].active).toBe(true);

  expect(await agent('DELETE', at)).toMatchObject({ status: 204, body: null });
  expect((await agent('DELETE', at)).status).toBe(404);
  expect((await agent('GET', found)).body.totalResults).toBe(0);
  expect(await levelOf(group, '5b50642d-79fc-4410-9e90-4c077cdd1a59')).toBe(undefined);
});

/** What its validator sends: of one type of address and no primary, with names that have nothing to do with each other. */
test('Entra ID’s validator finds the user it created, and no others', async () => {
  const group = await begin('validated');
  const { agent } = group;
  const sent = {
    active: true,
    displayName: 'XKWLCONOGMVT',
    emails: [{ type: 'work', value: 'opal@corp.example' }],
    externalId: '9950b140-90a0-4201-9d65-b5f209fb4cd0',
    name: { formatted: 'Aric', familyName: 'Nia', givenName: 'Sandy' },
    schemas: [CORE_USER],
    userName: 'dale.mohr@romaguera.example',
  };
  const created = await agent('POST', '/Users', sent);
  expect(created).toMatchObject({ status: 201, body: sent });
  const at = `/Users/${created.body.id}`;
  // Blanks as a form has them, and a name in another case.
  const found = '/Users?filter=userName+eq+%22DALE.mohr%40romaguera.example%22';
  expect((await agent('GET', found)).body).toMatchObject({ totalResults: 1, Resources: [sent] });
  expect(await agent('POST', '/Users', sent)).toMatchObject({
    status: 409,
    body: { scimType: 'uniqueness' },
  });

  const changed = {
    displayName: 'OTHER',
    name: { formatted: 'Else', familyName: 'Family', givenName: 'Given' },
    emails: [{ type: 'work', value: 'other@corp.example' }],
  };
  const patch = (...Operations: object[]) => agent('PATCH', at, { schemas: [PATCH], Operations });
  const operations = [
    { op: 'replace', path: 'displayName', value: 'OTHER' },
    { op: 'replace', path: 'emails[type eq "work"].value', value: 'other@corp.example' },
    {
      op: 'replace',
      value: { 'name.formatted': 'Else', 'name.familyName': 'Family', 'name.givenName': 'Given' },
    },
  ];
  expect((await patch(...operations)).status).toBe(204);
  expect((await agent('GET', at)).body).toMatchObject({ ...sent, ...changed });
  // Where a schema has nothing to take away it sends nothing.
  expect((await patch()).status).toBe(204);
  expect((await patch({ op: 'remove', path: 'displayName' })).status).toBe(204);
  expect((await agent('GET', at)).body).not.toHaveProperty('displayName');
  const extension = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
  const unknown = [
    { op: 'Add', path: `${extension}:manager`, value: '1234' },
    { op: 'Replace', path: `${extension}:manager.value`, value: null },
    { op: 'Add', path: 'roles[primary eq "True"].value', value: 'User' },
    {
      op: 'Replace',
      value: { [extension]: { department: 'Sales' }, roles: [{ primary: 'True', value: 'x' }] },
    },
    { op: 'Remove', path: 'phoneNumbers[type eq "work"].value' },
  ];
  const before = (await agent('GET', at)).body;
  expect((await patch(...unknown)).status).toBe(204);
  expect((await agent('GET', at)).body).toEqual(before);

  expect((await patch({ op: 'replace', path: 'active', value: false })).status).toBe(204);
  expect((await agent('GET', found)).body.Resources[0]).toMatchObject({
    active: false,
    userName: sent.userName,
  });
  expect((await agent('GET', `${found}+and+active+eq+true`)).body.totalResults).toBe(0);
  expect((await agent('GET', `${found}+and+active+eq+false`)).body.totalResults).toBe(1);
  expect(await levelOf(group, 'dale.mohr')).toBe(undefined);
});

test('RFC 7644: requested attributes are returned in every kind of answer, and searches may be sent in a body', async () => {
  const { agent } = await begin('chosen');
  const of = (name: string) => person(name, { displayName: `${name} Shown` });
  const made = await agent('POST', '/Users?attributes=userName,name.givenName', of('ann'));
  expect(made).toMatchObject({ status: 201 });
  expect(made.body).toEqual({
    schemas: [CORE_USER],
    id: 'ext-ann',
    userName: 'ann',
    name: { givenName: 'ann' },
  });
  expect(made.headers.get('location')).toMatch(/\/Users\/ext-ann$/);
  await agent('POST', '/Users', of('bob'));

  const whole = (await agent('GET', '/Users/ext-ann')).body;
  const { name, meta, emails, ...others } = whole;
  const { formatted, ...names } = name;
  const cases: [string, object][] = [
    [
      'attributes=emails.value',
      { schemas: [CORE_USER], id: 'ext-ann', emails: [{ value: emails[0].value }] },
    ],
    ['attributes=name.formatted,name', { schemas: [CORE_USER], id: 'ext-ann', name }],
    [`attributes=${CORE_USER}:NAME.Formatted`, { schemas: [CORE_USER], id: 'ext-ann', name: { formatted } }],
    ['attributes=title,name.title,active.value', { schemas: [CORE_USER], id: 'ext-ann' }],
    ['excludedAttributes=id,schemas,meta,emails,name.formatted', { ...others, name: names }],
    ['excludedAttributes=name,name.formatted,emails.value,emails.type,emails.primary,meta', others],
    ['attributes=&excludedAttributes=,', whole],
  ];
  for (const [query, told] of cases) {
    expect([query, (await agent('GET', `/Users/ext-ann?${query}`)).body]).toEqual([query, told]);
  }
  const put = await agent('PUT', '/Users/ext-ann?excludedAttributes=meta', { active: true });
  expect(put.body).toEqual({ ...others, name, emails });
  // 3.5.2: requested attributes are returned.
  const Operations = [{ op: 'replace', path: 'displayName', value: 'Shown Else' }];
  expect(
    await agent('PATCH', '/Users/ext-ann?attributes=displayName', { schemas: [PATCH], Operations }),
  ).toMatchObject({
    status: 200,
    body: { id: 'ext-ann', displayName: 'Shown Else' },
  });

  const search = { schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'] };
  for (const root of ['', '/Users']) {
    const asked = { ...search, attributes: ['displayName', 'name.givenName'], startIndex: 2, count: 10 };
    expect((await agent('POST', `${root}/.search`, asked)).body).toEqual({
      schemas: [LIST],
      totalResults: 2,
      itemsPerPage: 1,
      startIndex: 2,
      Resources: [
        { schemas: [CORE_USER], id: 'ext-bob', displayName: 'bob Shown', name: { givenName: 'bob' } },
      ],
    });
    const filtered = {
      ...search,
      filter: 'userName eq "ANN" and active eq true',
      excludedAttributes: ['meta'],
    };
    const answer = await agent('POST', `${root}/.search`, filtered);
    expect(answer).toMatchObject({ status: 200, body: { totalResults: 1, Resources: [{ id: 'ext-ann' }] } });
    expect(answer.body.Resources[0]).not.toHaveProperty('meta');
    expect(await agent('POST', `${root}/.search`, { ...search, filter: 'userName co "a"' })).toMatchObject({
      status: 400,
      body: { scimType: 'invalidFilter' },
    });
    for (const bad of [{ count: 'x' }, { startIndex: {} }, { filter: { a: 1 } }])
      expect((await agent('POST', `${root}/.search`, bad)).status).toBe(400);
  }
  // Nobody is called what is searched by.
  expect((await agent('POST', '/Users', person('x', { externalId: '.search' }))).status).toBe(400);
});

test('RFC 7644: the example requests are answered as the RFC says', async () => {
  const { agent } = await begin('rfc');
  // 3.3
  const created = await agent('POST', '/Users', {
    schemas: [CORE_USER],
    userName: 'bjensen',
    externalId: 'bjensen',
    name: { formatted: 'Ms. Barbara J Jensen III', familyName: 'Jensen', givenName: 'Barbara' },
    emails: [{ value: 'bjensen@corp.example' }],
  });
  expect(created).toMatchObject({
    status: 201,
    body: {
      schemas: [CORE_USER],
      externalId: 'bjensen',
      meta: { resourceType: 'User', created: created.body.meta.lastModified },
      name: { formatted: 'Ms. Barbara J Jensen III', familyName: 'Jensen', givenName: 'Barbara' },
      userName: 'bjensen',
    },
  });
  expect(created.headers.get('location')).toMatch(/\/api\/scim\/v2\/groups\/rfc\/Users\/bjensen$/);
  const at = `/Users/${created.body.id}`;
  // 3.4.1, 3.4.2
  expect((await agent('GET', at)).body).toEqual(created.body);
  expect((await agent('GET', '/Users?attributes=userName')).body).toEqual({
    schemas: [LIST],
    totalResults: 1,
    itemsPerPage: 1,
    startIndex: 1,
    Resources: [{ schemas: [CORE_USER], id: 'bjensen', userName: 'bjensen' }],
  });
  expect((await agent('GET', `/Users?${filterBy('userName', 'BJensen')}`)).body.totalResults).toBe(1);
  expect((await agent('GET', `/Users?${filterBy('externalId', 'BJensen')}`)).body.totalResults).toBe(0);
  // 3.4.2.4
  expect((await agent('GET', '/Users?startIndex=1&count=10')).body).toMatchObject({ itemsPerPage: 1 });
  // 3.5.1: what is replaced is told, and what was not sent is none the less there.
  const replaced = await agent('PUT', at, {
    schemas: [CORE_USER],
    id: 'bjensen',
    userName: 'bjensen',
    externalId: 'bjensen',
    name: {
      formatted: 'Ms. Barbara J Jensen III',
      familyName: 'Jensen',
      givenName: 'Barbara',
      middleName: 'Jane',
    },
    roles: [],
    emails: [{ value: 'bjensen@corp.example' }, { value: 'babs@jensen.example' }],
  });
  expect(replaced).toMatchObject({ status: 200, body: { emails: [{ value: 'bjensen@corp.example' }] } });
  // 3.5.2.1, 3.5.2.3
  const patches = [
    [{ op: 'add', value: { emails: [{ value: 'babs@corp.example', type: 'home' }], nickname: 'Babs' } }],
    [{ op: 'replace', path: 'addresses[type eq "work"].streetAddress', value: '1010 Broadway Ave' }],
    [
      {
        op: 'replace',
        value: { emails: [{ value: 'bjensen@corp.example', type: 'work', primary: true }], nickname: 'Babs' },
      },
    ],
  ];
  for (const Operations of patches)
    expect(await agent('PATCH', at, { schemas: [PATCH], Operations })).toMatchObject({ status: 204 });
  expect((await agent('GET', at)).body.emails).toEqual([
    { type: 'work', value: 'bjensen@corp.example', primary: true },
  ]);
  // 3.6, 3.12
  expect((await agent('DELETE', at)).status).toBe(204);
  expect(await agent('GET', at)).toMatchObject({
    status: 404,
    body: { schemas: [ERROR], detail: 'Resource bjensen not found', status: 404 },
  });
  // 4
  const config = (await agent('GET', '/ServiceProviderConfig')).body;
  expect(config).toMatchObject({
    patch: { supported: true },
    bulk: { supported: false },
    filter: { supported: true },
  });
  expect(config.meta.location).toMatch(/\/rfc\/ServiceProviderConfig$/);
  const types = (await agent('GET', '/ResourceTypes')).body;
  expect(types.Resources).toMatchObject([{ id: 'User', endpoint: '/Users', schema: CORE_USER }]);
  expect((await agent('GET', '/ResourceTypes/User')).body).toEqual(types.Resources[0]);
  const schemas = (await agent('GET', '/Schemas')).body;
  expect((await agent('GET', `/Schemas/${CORE_USER}`)).body).toEqual(schemas.Resources[0]);
  expect(schemas.Resources[0].attributes.map(({ name }: { name: string }) => name)).toEqual([
    'externalId',
    'userName',
    'name',
    'displayName',
    'active',
    'emails',
  ]);
  expect((await agent('GET', '/Schemas/urn:else')).status).toBe(404);
});
