/** Whom an identity provider lets into its group: accounts, memberships and what becomes of them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patchOf, person, type ScimGroup, scim, scimGroup } from '../../harness/scim.ts';
import { type Answer, type Service, startService } from '../../harness/service.ts';
import { storeOf } from '../../harness/world.ts';

const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';

let service: Service;
let owner: Awaited<ReturnType<Service['user']>>;
let group: ScimGroup;
/** Not trusted with the domain of any user's address. */
let plain: ScimGroup;
beforeAll(async () => {
  service = await startService();
  owner = await service.user('owner');
  group = await scimGroup(service, owner.token, 'corp', { trusted_email_domains: ['corp.example'] });
  plain = await scimGroup(service, owner.token, 'plain', { default_membership_role: 30 });
});
afterAll(() => service.stop());

const filterBy = (attribute: string, value: string) =>
  `/Users?filter=${encodeURIComponent(`${attribute} eq ${JSON.stringify(value)}`)}`;
const account = async (username: string): Promise<Answer['body']> => {
  const root = { token: service.rootToken };
  const [found] = (await service.call('GET', `/users?username=${username}`, root)).body;
  return found && (await service.call('GET', `/users/${found.id}`, root)).body;
};
const levelIn = async (groupId: number, userId: number): Promise<number | undefined> =>
  (await storeOf().members.get({ kind: 'group', id: groupId }, userId))?.accessLevel;
const replace = (path: string, value: unknown) => patchOf({ op: 'Replace', path, value });
async function added(name: string, more: object = {}, to = group): Promise<Answer['body']> {
  const answer = await to.agent('POST', '/Users', person(name, more as Record<string, unknown>));
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
}
const refused = (status: number, detail?: unknown, more: object = {}) => ({
  status,
  body: { schemas: [ERROR], status, detail: detail ?? expect.any(String), ...more },
});
/** Everything that was recorded by providers, the newest first. */
const recorded = async (): Promise<{ entity_type: string; details: Record<string, unknown> }[]> =>
  (await service.call('GET', '/audit_events?per_page=100', { token: service.rootToken })).body.filter(
    ({ details }: Answer['body']) => details.author_class === 'ScimToken',
  );

describe('a newly provisioned user', () => {
  test('may have a plain text name and no active attribute', async () => {
    expect(await added('plain', { name: 'Plain Text', active: null })).toMatchObject({
      name: { formatted: 'Plain Text' },
      active: true,
    });
  });

  test('gets an account without a password and a membership of the group', async () => {
    await added('newcomer', { userName: 'new.comer@corp.example' });
    const made = await account('new.comer');
    expect(made).toMatchObject({
      name: 'newcomer Person',
      email: 'newcomer@corp.example',
      state: 'active',
      is_admin: false,
      external: false,
      projects_limit: 100_000,
      can_create_group: true,
      confirmed_at: expect.any(String),
      provisioned_by_group_id: group.id,
      identities: [{ provider: 'group_saml', extern_uid: 'ext-newcomer', saml_provider_id: group.id }],
    });
    expect(await levelIn(group.id, made.id)).toBe(10);
    const [event, other] = await recorded();
    expect([event!.details, other!.details]).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ add: 'user', target_details: 'new.comer', author_name: 'SCIM of corp' }),
        expect.objectContaining({ add: 'user_access', as: 'Guest', target_id: made.id, entity_path: 'corp' }),
      ]),
    );
    expect(event!.details['ip_address']).toBe('127.0.0.1');
  });

  test('must confirm an address in an untrusted domain, and gets the group’s default role', async () => {
    await added('doubted', {}, plain);
    const made = await account('doubted');
    expect(made).toMatchObject({ confirmed_at: null, state: 'active' });
    expect(await levelIn(plain.id, made.id)).toBe(30);
    const [mail] = await service.mailTo('doubted@corp.example');
    expect(mail!.text).toContain('/users/confirmation?confirmation_token=');
  });

  test('gets another username where theirs is taken or not possible', async () => {
    await service.user('wanted', { email: 'first@elsewhere.example' });
    await added('wanted');
    expect(await account('wanted1')).toMatchObject({ email: 'wanted@corp.example' });
    // Reserved.
    await added('admin');
    expect(await account('admin1')).toMatchObject({ email: 'admin@corp.example' });
    expect((await group.agent('GET', '/Users/ext-wanted')).body.userName).toBe('wanted');
  });

  test('needs an address that the instance accepts', async () => {
    const settings = (json: object) =>
      service.call('PUT', '/application/settings', { token: service.rootToken, json });
    await added('allowed');
    expect((await settings({ domain_allowlist: ['partner.example'] })).status).toBe(200);
    const problem = 'emails domain is not authorized for sign-up.';
    const more = { scimType: 'invalidValue' };
    expect(await group.agent('POST', '/Users', person('outsider'))).toMatchObject(
      refused(400, problem, more),
    );
    const change = replace('emails.value', 'else@corp.example');
    expect(await group.agent('PATCH', '/Users/ext-allowed', change)).toMatchObject(
      refused(400, problem, more),
    );
    expect((await settings({ domain_allowlist: [], user_default_external: true })).status).toBe(200);
    await added('outsider');
    expect(await account('outsider')).toMatchObject({
      external: true,
      projects_limit: 0,
      can_create_group: false,
    });
    await settings({ user_default_external: false });
  });

  test('may be inactive, without an identity or a membership', async () => {
    expect(await added('early', { active: 'False' })).toMatchObject({ active: false });
    const made = await account('early');
    expect(made.identities).toEqual([]);
    expect(await levelIn(group.id, made.id)).toBe(undefined);
  });

  test.each([
    ['a given and a family name', { name: { givenName: 'G', familyName: 'F' } }, 'G F'],
    ['a display name alone', { name: {}, displayName: 'D N' }, 'D N'],
    ['nothing', { name: { formatted: '' } }, 'named-nothing'],
  ])('is shown under %s', async (what, names, formatted) => {
    const name = `named-${what.split(' ').at(-1)}`;
    expect((await added(name, names)).name.formatted).toBe(formatted);
  });

  test('has one account for one address in two groups with different providers', async () => {
    const other = await scimGroup(service, owner.token, 'sister', {
      trusted_email_domains: ['corp.example'],
    });
    await added('twofold');
    await added('twofold', { externalId: 'elsewhere' }, other);
    const made = await account('twofold');
    expect(await levelIn(other.id, made.id)).toBe(10);
    // Of the one that made it alone.
    expect(made.identities).toHaveLength(1);
    await other.agent('PATCH', '/Users/elsewhere', replace('name.formatted', 'Hijacked'));
    expect((await account('twofold')).name).toBe('twofold Person');
    // The same id from another provider is another user.
    await added('unlike', { externalId: 'ext-twofold' }, other);
    expect(await account('unlike')).toMatchObject({
      identities: [{ extern_uid: 'ext-twofold', saml_provider_id: other.id }],
    });
  });
});

describe('provisioning a user who already has an account', () => {
  test('adds the existing account, which stays its owner’s', async () => {
    const user = await service.user('veteran', { email: 'veteran@corp.example' });
    await added('veteran', { externalId: 'vet', userName: 'vet@corp.example' });
    expect(await levelIn(group.id, user.id)).toBe(10);
    for (const change of [
      replace('userName', 'hijacked'),
      replace('name.formatted', 'Hijacked'),
      replace('emails[type eq "work"].value', 'hijacked@corp.example'),
    ])
      expect((await group.agent('PATCH', '/Users/vet', change)).status).toBe(204);
    expect(await account('veteran')).toMatchObject({
      id: user.id,
      name: 'veteran',
      email: 'veteran@corp.example',
      identities: [],
      provisioned_by_group_id: null,
    });
    // What the provider said, it hears again.
    expect((await group.agent('GET', '/Users/vet')).body).toMatchObject({
      userName: 'hijacked',
      emails: [{ value: 'hijacked@corp.example' }],
      name: { formatted: 'veteran' },
    });
  });

  test('keeps a higher access level, and closes the pending access request', async () => {
    const user = await service.user('maintainer', { email: 'maintainer@corp.example' });
    const json = { user_id: user.id, access_level: 40 };
    await service.call('POST', `/groups/${group.id}/members`, { token: owner.token, json });
    await added('maintainer');
    expect(await levelIn(group.id, user.id)).toBe(40);
  });

  test('ignores addresses that the account has not confirmed', async () => {
    await service.user('squatter', { email: 'squatter@corp.example', skip_confirmation: false });
    expect(await group.agent('POST', '/Users', person('squatter'))).toMatchObject(
      refused(409, 'Email has already been taken', { scimType: 'uniqueness' }),
    );
  });

  test('leaves an administrator’s rights alone, whether or not the group created the account', async () => {
    await added('risen');
    const user = await account('risen');
    await service.call('PUT', `/users/${user.id}`, { token: service.rootToken, json: { admin: true } });
    await group.agent('PATCH', '/Users/ext-risen', replace('emails.value', 'taken-over@corp.example'));
    expect(await account('risen')).toMatchObject({ email: 'risen@corp.example' });
  });
});

describe('invitations', () => {
  test('to a provisioned address wait until the address is confirmed', async () => {
    const { body: private_ } = await service.call('POST', '/projects', {
      token: owner.token,
      json: { name: 'coveted', visibility: 'private' },
    });
    const json = { email: 'coveted@corp.example', access_level: 30 };
    await service.call('POST', `/projects/${private_.id}/invitations`, { token: owner.token, json });
    await added('coveted', {}, plain);
    const made = await account('coveted');
    await plain.agent('PATCH', '/Users/ext-coveted', replace('emails.value', 'mine@attacker.example'));
    expect(await account('coveted')).toMatchObject({ email: 'mine@attacker.example', confirmed_at: null });
    await service.mailTo('mine@attacker.example');
    const source = { kind: 'project', id: private_.id } as const;
    expect(await storeOf().members.get(source, made.id)).toBe(undefined);
  });
});

describe('changes by the provider', () => {
  test('apply to the account only if the group created it', async () => {
    await added('changing');
    const patch = patchOf(
      { op: 'replace', path: 'userName', value: 'changed@corp.example' },
      { op: 'replace', path: 'name', value: { formatted: 'Changed Name' } },
      { op: 'add', path: 'emails[type eq "work"].value', value: 'changed@corp.example' },
      { op: 'replace', path: 'externalId', value: 'ext-changed' },
    );
    expect((await group.agent('PATCH', '/Users/ext-changing', patch)).status).toBe(204);
    expect((await group.agent('GET', '/Users/ext-changing')).status).toBe(404);
    expect((await group.agent('GET', '/Users/ext-changed')).body).toMatchObject({
      id: 'ext-changed',
      userName: 'changed@corp.example',
    });
    expect(await account('changed')).toMatchObject({
      name: 'Changed Name',
      email: 'changed@corp.example',
      identities: [{ extern_uid: 'ext-changed' }],
    });
    const events = (await recorded()).slice(0, 6).map(({ details }) => details);
    expect(events).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ change: 'username', from: 'changing', to: 'changed' }),
        expect.objectContaining({ change: 'name', to: 'Changed Name' }),
        expect.objectContaining({ change: 'email address', to: 'changed@corp.example' }),
      ]),
    );
    // No project has to follow to the username, so it may change again at once.
    const again = patchOf(
      { op: 'replace', path: 'userName', value: 'changing' },
      { op: 'replace', path: 'active', value: false },
    );
    expect((await group.agent('PATCH', '/Users/ext-changed', again)).status).toBe(204);
    expect((await group.agent('GET', '/Users/ext-changed')).body.active).toBe(false);
    expect((await group.agent('PATCH', '/Users/ext-changed', replace('active', true))).status).toBe(204);
    expect(await account('changing')).toMatchObject({ name: 'Changed Name' });
    const before = (await recorded()).length;
    await group.agent('PATCH', '/Users/ext-changed', replace('active', true));
    expect(await recorded()).toHaveLength(before);
  });

  test('are applied all together or not at all', async () => {
    await added('atomic');
    await added('holder');
    const before = await group.agent('GET', '/Users/ext-atomic');
    const cases: [object, number, string][] = [
      [replace('active', 'perhaps'), 400, 'invalidValue'],
      [{ op: 'replace', path: 'emails[type', value: 'x' }, 400, 'invalidPath'],
      [{ op: 'replace', path: 'emails.value', value: 'no address' }, 400, 'invalidValue'],
      [{ op: 'replace', path: 'externalId', value: 'ext-holder' }, 409, 'uniqueness'],
      [{ op: 'replace', path: 'userName', value: 'HOLDER' }, 409, 'uniqueness'],
      [{ op: 'replace', path: 'emails.value', value: 'holder@corp.example' }, 409, 'uniqueness'],
    ];
    for (const [operation, status, scimType] of cases) {
      const bad = 'Operations' in operation ? (operation.Operations as object[])[0]! : operation;
      const patch = patchOf({ op: 'replace', path: 'name.formatted', value: 'Half Done' }, bad);
      expect(await group.agent('PATCH', '/Users/ext-atomic', patch)).toMatchObject(
        refused(status, undefined, { scimType }),
      );
    }
    expect((await group.agent('GET', '/Users/ext-atomic')).body).toEqual(before.body);
    expect((await account('atomic')).name).toBe('atomic Person');
  });

  test('of an unknown user are refused', async () => {
    for (const [method, json] of [
      ['GET', undefined],
      ['PUT', person('nobody')],
      ['PATCH', replace('active', false)],
      ['DELETE', undefined],
    ] as const)
      expect(await group.agent(method, '/Users/nobody', json)).toMatchObject(
        refused(404, 'Resource nobody not found'),
      );
  });
});

test('a provider cannot flood an address with mail: one address gets at most twenty confirmation mails a day', async () => {
  await added('flooder', {}, plain);
  const name = async (email: string) =>
    (await plain.agent('PATCH', '/Users/ext-flooder', replace('emails.value', email))).status;
  const statuses: number[] = [];
  for (let i = 0; i < 11; i++) {
    statuses.push(await name('flooded@elsewhere.example'), await name('other@elsewhere.example'));
  }
  expect(statuses).toEqual(Array(22).fill(204));
  for (let i = 0; i < 9; i++) {
    await name('flooded@elsewhere.example');
    await name('other@elsewhere.example');
  }
  const again = { emails: [{ value: 'Flooded@elsewhere.example', primary: true }] };
  expect(
    await plain.agent('PATCH', '/Users/ext-flooder', patchOf({ op: 'add', value: again })),
  ).toMatchObject(refused(429, 'Too many confirmation mails have been requested. Try again later.'));
  expect(await plain.agent('POST', '/Users', person('flooder2', again))).toMatchObject(refused(429));
  expect(await account('flooder2')).toBe(undefined);
  expect(await name('third@elsewhere.example')).toBe(204);
});

describe('a deprovisioned user', () => {
  test.each(['PATCH', 'DELETE'])('by %s loses access at once, and their content stays', async (method) => {
    const name = `leaver-${method.toLowerCase()}`;
    await added(name);
    const made = await account(name);
    const { body: token } = await service.call('POST', `/users/${made.id}/personal_access_tokens`, {
      token: service.rootToken,
      json: { name: 'own', scopes: ['api'] },
    });
    const inside = await service.call('POST', '/projects', {
      token: owner.token,
      json: { name: `of ${name}`, namespace_id: group.id, visibility: 'private' },
    });
    const member = { user_id: made.id, access_level: 40 };
    await service.call('POST', `/projects/${inside.body.id}/members`, { token: owner.token, json: member });
    const actions = [{ action: 'create', file_path: 'a', content: 'theirs' }];
    await service.call('POST', `/projects/${inside.body.id}/repository/commits`, {
      token: token.token,
      json: { branch: 'main', commit_message: 'theirs', actions },
    });
    const { body: own } = await service.call('POST', '/projects', {
      token: token.token,
      json: { name: 'their own' },
    });

    const json = method === 'PATCH' ? replace('active', 'False') : undefined;
    expect((await group.agent(method, `/Users/ext-${name}`, json)).status).toBe(204);
    expect(await levelIn(group.id, made.id)).toBe(undefined);
    expect((await service.call('GET', `/groups/${group.id}`, { token: token.token })).status).toBe(404);
    expect(await account(name)).toMatchObject({ state: 'active', identities: [] });
    expect((await service.call('GET', `/projects/${own.id}`, { token: token.token })).status).toBe(200);
    expect((await service.call('GET', `/projects/${inside.body.id}`, { token: token.token })).status).toBe(
      404,
    );
    const commits = `/projects/${inside.body.id}/repository/commits?ref_name=main`;
    const [commit] = (await service.call('GET', commits, { token: owner.token })).body;
    expect(commit).toMatchObject({ title: 'theirs', author_name: `${name} Person` });
    expect((await recorded())[0]!.details).toMatchObject({ remove: expect.any(String) });

    // And back.
    const again = await group.agent('POST', '/Users', person(name));
    expect(again).toMatchObject({ status: 201, body: { active: true } });
    expect(await levelIn(group.id, made.id)).toBe(10);
    expect((await account(name)).identities).toMatchObject([{ extern_uid: `ext-${name}` }]);
  });

  test('is found as inactive, or not at all after DELETE', async () => {
    await added('suspended');
    await group.agent('PATCH', '/Users/ext-suspended', replace('active', false));
    const { body } = await group.agent('GET', filterBy('userName', 'suspended'));
    expect(body).toMatchObject({ totalResults: 1, Resources: [{ active: false }] });
    expect((await group.agent('DELETE', '/Users/ext-suspended')).status).toBe(204);
    expect((await group.agent('GET', filterBy('userName', 'suspended'))).body.totalResults).toBe(0);
  });

  test('cannot be the last owner of the group', async () => {
    const boss = await service.user('boss', { email: 'boss@corp.example' });
    const own = await scimGroup(service, boss.token, 'bosses');
    await added('boss', {}, own);
    for (const [method, json] of [
      ['DELETE', undefined],
      ['PATCH', replace('active', false)],
      ['PUT', person('boss', { active: false })],
    ] as const)
      expect(await own.agent(method, '/Users/ext-boss', json)).toMatchObject(
        refused(409, 'The last owner of the group cannot be taken out of it'),
      );
    expect(await levelIn(own.id, boss.id)).toBe(50);
    expect((await own.agent('GET', '/Users/ext-boss')).body.active).toBe(true);
    const second = await service.user('second');
    const json = { user_id: second.id, access_level: 50 };
    await service.call('POST', `/groups/${own.id}/members`, { token: boss.token, json });
    expect((await own.agent('DELETE', '/Users/ext-boss')).status).toBe(204);
    expect(await levelIn(own.id, boss.id)).toBe(undefined);
  });

  test('by an administrator is gone for the provider too', async () => {
    await added('erased');
    const made = await account('erased');
    await service.call('DELETE', `/users/${made.id}`, { token: service.rootToken });
    expect((await group.agent('GET', '/Users/ext-erased')).status).toBe(404);
    expect((await group.agent('GET', filterBy('externalId', 'ext-erased'))).body.totalResults).toBe(0);
    await expect.poll(() => storeOf().scimIdentities.get(group.id, 'ext-erased')).toBe(undefined);
    await added('erased');
    expect((await account('erased')).id).not.toBe(made.id);
  });
});

describe('SCIM user lists', () => {
  let listed: ScimGroup;
  beforeAll(async () => {
    listed = await scimGroup(service, owner.token, 'listed');
    for (let i = 1; i <= 7; i++) await added(`listed-${i}`, {}, listed);
  });
  const names = ({ body }: Answer) =>
    body.Resources.map(({ userName }: { userName: string }) => Number(userName.slice('listed-'.length)));

  test.each([
    ['', 1, [1, 2, 3, 4, 5, 6, 7]],
    ['count=3', 1, [1, 2, 3]],
    ['startIndex=3&count=2', 3, [3, 4]],
    ['startIndex=6', 6, [6, 7]],
    ['startIndex=0&count=1', 1, [1]],
    ['startIndex=-5&count=1', 1, [1]],
    ['startIndex=8', 8, []],
    ['startIndex=900000000000000', 900000000000000, []],
    ['count=0', 1, []],
    ['count=-1', 1, []],
    ['count=1000000', 1, [1, 2, 3, 4, 5, 6, 7]],
  ])('are paged by %s', async (query, startIndex, people) => {
    const answer = await listed.agent('GET', `/Users?${query}`);
    expect(answer).toMatchObject({
      status: 200,
      body: { totalResults: 7, startIndex, itemsPerPage: people.length },
    });
    expect(names(answer)).toEqual(people);
  });

  test.each([
    ['id', 'ext-listed-2', [2]],
    ['id', 'EXT-listed-2', []],
    ['externalId', 'ext-listed-3', [3]],
    ['userName', 'LISTED-4', [4]],
    ['emails[type eq "work"].value', 'Listed-5@corp.example', [5]],
    ['emails.value', 'newcomer@corp.example', []],
    ['userName', 'newcomer', []],
    ['userName', '" or userName eq "listed-1', []],
  ])('can be filtered by %s eq %s', async (attribute, value, people) => {
    const answer = await listed.agent('GET', filterBy(attribute, value));
    expect(answer).toMatchObject({ status: 200, body: { totalResults: people.length } });
    expect(names(answer)).toEqual(people);
    const beyond = await listed.agent('GET', `${filterBy(attribute, value)}&startIndex=2`);
    expect(beyond.body).toMatchObject({ totalResults: people.length, Resources: [] });
  });

  test.each([
    ['filter=userName%20co%20%22a%22', 'invalidFilter'],
    ['filter=userName%20eq', 'invalidFilter'],
    ['filter=title%20eq%20%22a%22', 'invalidFilter'],
    ['filter=', 'invalidFilter'],
    [`filter=${'a'.repeat(2000)}`, 'invalidFilter'],
    ['startIndex=one', undefined],
    ['count=1.5', undefined],
    ['filter=%', undefined],
  ])('refuse %s', async (query, scimType) => {
    expect(await listed.agent('GET', `/Users?${query}`)).toMatchObject(
      refused(400, undefined, scimType === undefined ? {} : { scimType }),
    );
  });
});

describe('a SCIM request that cannot be read is refused', () => {
  test.each([
    ['no JSON', { raw: '{' }, 400],
    ['nothing', { raw: ' ' }, 400],
    ['a list', { raw: '[]' }, 400],
    ['a text', { raw: '"a"' }, 400],
    ['no externalId', { json: person('x', { externalId: undefined }) }, 400],
    ['no userName', { json: person('x', { userName: undefined }) }, 400],
    ['no emails', { json: person('x', { emails: undefined }) }, 400],
    [
      'no emails of work',
      { json: person('x', { emails: [{ type: 'home', value: 'x@corp.example' }] }) },
      400,
    ],
    ['no name', { json: person('x', { name: undefined }) }, 400],
    ['an externalId that is a step of a path', { json: person('x', { externalId: '..' }) }, 400],
    ['an address that is none', { json: person('x', { emails: [{ value: 'x' }] }) }, 400],
    [
      'an address with a line break',
      { json: person('x', { emails: [{ value: 'x@y.example\nBcc: z' }] }) },
      400,
    ],
    ['a number for a name', { json: person('x', { userName: 5 }) }, 400],
    ['a long id', { json: person('x', { externalId: 'x'.repeat(256) }) }, 400],
    [
      'a long name',
      { json: person('x', { name: { givenName: 'x'.repeat(200), familyName: 'y'.repeat(200) } }) },
      400,
    ],
    ['NUL', { raw: JSON.stringify(person('x', { userName: 'x\0' })) }, 400],
    ['depth', { raw: `${'{"a":'.repeat(500)}1${'}'.repeat(500)}` }, 400],
    ['another type', { raw: 'externalId=x', type: 'application/x-www-form-urlencoded' }, 415],
    ['XML', { raw: '<a/>', type: 'application/xml' }, 415],
    ['too much', { raw: JSON.stringify(person('x', { title: 'x'.repeat(300_000) })) }, 413],
  ])('for %s', async (_, sent, status) => {
    const { token } = group;
    expect(await scim(service, 'POST', 'corp/Users', { token, ...sent })).toMatchObject(refused(status));
    expect((await group.agent('GET', '/Users/x')).status).toBe(404);
  });

  test.each([
    ['PATCH', 'corp/Users', 405],
    ['POST', 'corp/Users/x', 405],
    ['POST', 'corp/Groups', 405],
    ['POST', 'corp/ServiceProviderConfig', 405],
    ['POST', 'corp/Bulk', 404],
    ['GET', 'corp/Me', 404],
    ['GET', 'corp', 404],
    ['GET', 'corp/Users/%ff', 400],
    ['GET', 'corp/Users/a%00b', 400],
  ])('%s %s is %d', async (method, path, status) => {
    const json = method === 'GET' ? {} : { json: {} };
    expect(await scim(service, method, path, { token: group.token, ...json })).toMatchObject(refused(status));
  });

  test('but both JSON types are accepted, with a charset too', async () => {
    for (const [i, type] of ['application/json', 'application/scim+json; charset=utf-8'].entries()) {
      const sent = { token: group.token, json: person(`typed-${i}`), type };
      expect((await scim(service, 'POST', 'corp/Users', sent)).status).toBe(201);
    }
  });
});

describe('a SCIM client', () => {
  test('without a token cannot find out which groups exist', async () => {
    await service.call('POST', '/groups', { token: owner.token, json: { name: 'without', path: 'without' } });
    const asked = ['corp', 'without', 'no-such-group', String(group.id), 'corp%2Finner', 'a/b/c'];
    const tokens = [undefined, 'glsoat-unknown', owner.token, service.rootToken];
    for (const token of tokens)
      for (const path of asked)
        for (const [method, at, json] of [
          ['GET', 'Users', undefined],
          ['POST', 'Users', {}],
          ['DELETE', 'Users/ext-newcomer', undefined],
        ] as const) {
          const answer = await scim(service, method, `${path}/${at}`, { token, json });
          expect(answer, `${token} ${path}`).toMatchObject(refused(401, '401 Unauthorized'));
        }
  });

  test('with a token of one group cannot find out anything about others', async () => {
    for (const path of ['corp', 'without', 'no-such-group', 'corp/inner', '%20'])
      for (const at of ['Users', 'Users/ext-newcomer', 'ServiceProviderConfig'])
        expect(await scim(service, 'GET', `${path}/${at}`, { token: plain.token })).toMatchObject(
          refused(404, '404 Group Not Found'),
        );
  });

  test('must send the token as a bearer', async () => {
    const path = '/api/scim/v2/groups/corp/Users';
    const by = (headers: Record<string, string>, query = '') =>
      service.call('GET', path + query, { headers });
    expect((await by({ authorization: `bearer ${group.token}` })).status).toBe(200);
    expect((await by({ 'private-token': group.token })).status).toBe(401);
    expect((await by({}, `?access_token=${group.token}`)).status).toBe(401);
    expect((await by({ authorization: `Basic ${btoa(`x:${group.token}`)}` })).status).toBe(401);
    // And it is good for nothing else.
    expect((await service.call('GET', '/user', { token: group.token })).status).toBe(401);
  });

  test('may name the group by any form of its path, or by its id', async () => {
    for (const path of ['corp', 'CORP', String(group.id)])
      expect((await scim(service, 'GET', `${path}/Users?count=0`, { token: group.token })).status).toBe(200);
  });
});

describe('simultaneous SCIM requests', () => {
  test('that create one user give one account', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => group.agent('POST', '/Users', person('rushed'))));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect((await group.agent('GET', filterBy('userName', 'rushed'))).body.totalResults).toBe(1);
    expect(await account('rushed1')).toBe(undefined);
  });

  test('for two users with one username give two accounts', async () => {
    const both = ['alike@a.example', 'alike@b.example'].map((userName, i) =>
      group.agent('POST', '/Users', person(`alike${i}x`, { userName })),
    );
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual([201, 201]);
    expect([await account('alike'), await account('alike1')]).toMatchObject([{}, {}]);
  });

  test('that change, deactivate and delete one user leave one of these states', async () => {
    await added('torn');
    const made = await account('torn');
    const work = [
      group.agent('PATCH', '/Users/ext-torn', replace('name.formatted', 'Torn Apart')),
      group.agent('PATCH', '/Users/ext-torn', replace('active', false)),
      group.agent('PATCH', '/Users/ext-torn', replace('externalId', 'ext-torn')),
      group.agent('DELETE', '/Users/ext-torn'),
    ];
    const statuses = (await Promise.all(work)).map(({ status }) => status);
    expect(statuses.at(-1)).toBe(204);
    for (const status of statuses) expect([204, 404]).toContain(status);
    expect((await group.agent('GET', '/Users/ext-torn')).status).toBe(404);
    expect(await levelIn(group.id, made.id)).toBe(undefined);
  });

  test('that deactivate the last two owners leave one', async () => {
    const people = await Promise.all(
      ['ann', 'bob'].map((name) => service.user(name, { email: `${name}@corp.example` })),
    );
    const pair = await scimGroup(service, people[0]!.token, 'pair');
    const json = { user_id: people[1]!.id, access_level: 50 };
    await service.call('POST', `/groups/${pair.id}/members`, { token: people[0]!.token, json });
    for (const { username } of people) await added(username, {}, pair);
    const gone = await Promise.all(
      people.map(({ username }) => pair.agent('DELETE', `/Users/ext-${username}`)),
    );
    expect(gone.map(({ status }) => status).sort()).toEqual([204, 409]);
    const levels = await Promise.all(people.map(({ id }) => levelIn(pair.id, id)));
    expect(levels.filter((level) => level === 50)).toHaveLength(1);
  });
});
