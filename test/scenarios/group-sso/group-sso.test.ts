/** Single sign-on of groups: who sets it up, the token of its provider, and what its owners see of identities. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patchOf, person, type ScimGroup, scim, scimGroup } from '../../harness/scim.ts';
import { type Answer, type Service, startService } from '../../harness/service.ts';
import { storeOf } from '../../harness/world.ts';

let service: Service;
let owner: Awaited<ReturnType<Service['user']>>;
let maintainer: typeof owner;
beforeAll(async () => {
  service = await startService();
  owner = await service.user('owner');
  maintainer = await service.user('maintainer');
});
afterAll(() => service.stop());

const call = (method: string, path: string, json?: unknown, token = owner.token): Promise<Answer> =>
  service.call(method, path, { token, ...(json === undefined ? {} : { json }) });
async function made(path: string, more: object = {}): Promise<number> {
  const { body } = await call('POST', '/groups', { name: path, path, ...more });
  return body.id;
}
const on = { enabled: true, sso_url: 'https://idp.example.com/sso' };
const recordedOf = async (id: number): Promise<Record<string, unknown>[]> =>
  (await call('GET', `/groups/${id}/audit_events`)).body.map(({ details }: Answer['body']) => details);

describe('single sign-on settings of a group', () => {
  test('can be created, changed, disabled and enabled', async () => {
    const id = await made('settings');
    expect(await call('GET', `/groups/${id}/saml`)).toMatchObject({
      status: 404,
      body: { message: '404 SAML Provider Not Found' },
    });
    const first = await call('PUT', `/groups/${id}/saml`, on);
    expect(first).toMatchObject({
      status: 200,
      body: {
        id,
        group_id: id,
        enabled: true,
        enforced_sso: false,
        git_check_enforced: false,
        sso_url: 'https://idp.example.com/sso',
        certificate_fingerprint: null,
        default_membership_role: 10,
        trusted_email_domains: [],
        scim_url: `${service.url}/api/scim/v2/groups/settings`,
      },
    });
    const all = {
      enforced_sso: true,
      git_check_enforced: true,
      certificate_fingerprint: `${'ab:'.repeat(19)}CD`,
      default_membership_role: 30,
    };
    expect((await call('PUT', `/groups/${id}/saml`, all)).body).toMatchObject({ ...on, ...all });
    expect((await call('PUT', `/groups/${id}/saml`, { enabled: false })).body).toMatchObject({
      enabled: false,
    });
    expect((await call('GET', '/groups/settings/saml')).body).toMatchObject({
      ...on,
      ...all,
      enabled: false,
    });
    expect(await recordedOf(id)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ change: 'group SSO', from: 'false', to: 'true', author_name: 'owner' }),
        expect.objectContaining({ change: 'group SSO default membership role', from: '10', to: '30' }),
        expect.objectContaining({ change: 'group SSO', from: 'true', to: 'false' }),
      ]),
    );
    const before = (await recordedOf(id)).length;
    await call('PUT', `/groups/${id}/saml`, { enabled: false });
    expect(await recordedOf(id)).toHaveLength(before);
  });

  test.each([
    [{ enabled: true }, { sso_url: ["can't be blank"] }],
    [{ enabled: true, sso_url: '' }, { sso_url: ["can't be blank"] }],
    [{ sso_url: 'idp' }, { sso_url: ['must be a valid URL'] }],
    [{ sso_url: 'javascript:alert(1)' }, { sso_url: ['must be a valid URL'] }],
    [{ certificate_fingerprint: 'xyz' }, { certificate_fingerprint: ['is invalid'] }],
  ])('refuse %j', async (json, message) => {
    const id = await made(`wrong-${JSON.stringify(json).length}-${Math.random().toString(36).slice(2)}`);
    expect(await call('PUT', `/groups/${id}/saml`, json)).toMatchObject({ status: 400, body: { message } });
    expect((await call('GET', `/groups/${id}/saml`)).status).toBe(404);
  });

  test.each([
    [{ default_membership_role: 15 }, 'default_membership_role does not have a valid value'],
    [{ enabled: 'perhaps' }, 'enabled is invalid'],
    [{ sso_url: `https://x/${'x'.repeat(1024)}` }, 'sso_url is too long (maximum is 1024 characters)'],
  ])('refuse the invalid parameter %j', async (json, error) => {
    const id = await made(`none-${Object.keys(json)[0]!.slice(0, 3)}`);
    expect(await call('PUT', `/groups/${id}/saml`, json)).toMatchObject({ status: 400, body: { error } });
  });

  test('accept trusted domains from administrators only', async () => {
    const id = await made('trusting');
    const trusts = (token: string, ...domains: string[]) =>
      call('PUT', `/groups/${id}/saml`, { ...on, trusted_email_domains: domains }, token);
    expect((await trusts(owner.token, 'corp.example')).status).toBe(403);
    expect((await trusts(service.rootToken, 'not a domain')).body).toEqual({
      message: { trusted_email_domains: ['is invalid'] },
    });
    expect((await trusts(service.rootToken, 'Corp.example', 'corp.example')).body).toMatchObject({
      trusted_email_domains: ['corp.example'],
    });
    // Others say again what is so already.
    expect((await trusts(owner.token, 'corp.example')).status).toBe(200);
    expect((await trusts(owner.token)).status).toBe(403);
  });

  test('exist for top-level groups only', async () => {
    const inner = await made('inner', { parent_id: await made('outer') });
    expect(await call('PUT', `/groups/${inner}/saml`, on)).toMatchObject({
      status: 400,
      body: { message: 'Single sign-on is set up for a top-level group' },
    });
  });

  test('are for owners only', async () => {
    const id = await made('owned', { visibility: 'public' });
    await call('POST', `/groups/${id}/members`, { user_id: maintainer.id, access_level: 40 });
    for (const [method, path, json] of [
      ['GET', 'saml', undefined],
      ['PUT', 'saml', on],
      ['POST', 'scim_token', undefined],
      ['GET', 'scim/identities', undefined],
      ['GET', 'saml/identities', undefined],
    ] as const)
      expect((await call(method, `/groups/${id}/${path}`, json, maintainer.token)).status).toBe(403);
  });
});

describe('the SCIM token of a group', () => {
  const asks = async (path: string, token: string): Promise<number> =>
    (await scim(service, 'GET', `${path}/Users?count=0`, { token })).status;

  test('is shown once, replaced and revoked', async () => {
    const id = await made('tokens');
    const at = `/groups/${id}/scim_token`;
    expect(await call('POST', at)).toMatchObject({
      status: 400,
      body: { message: 'Single sign-on is not enabled for this group' },
    });
    await call('PUT', `/groups/${id}/saml`, on);
    expect((await call('GET', at)).status).toBe(404);
    const first = await call('POST', at);
    expect(first).toMatchObject({
      status: 201,
      body: {
        token: expect.stringMatching(/^glsoat-[\w-]{27}$/),
        created_by_id: owner.id,
        scim_url: `${service.url}/api/scim/v2/groups/tokens`,
      },
    });
    expect((await call('GET', at)).body).not.toHaveProperty('token');
    expect(await asks('tokens', first.body.token)).toBe(200);
    const second = await call('POST', at);
    expect(await asks('tokens', first.body.token)).toBe(401);
    expect(await asks('tokens', second.body.token)).toBe(200);
    const stored = JSON.stringify(await storeOf().scimTokens.ofGroup(id));
    expect(stored).not.toContain(second.body.token);
    expect((await call('DELETE', at)).status).toBe(204);
    expect(await asks('tokens', second.body.token)).toBe(401);
    expect((await call('DELETE', at)).status).toBe(404);
    const said = (await recordedOf(id)).map(({ custom_message }) => custom_message).filter(Boolean);
    expect(said.toSorted()).toEqual([
      'Issued a SCIM token',
      'Replaced the SCIM token',
      'Revoked the SCIM token',
    ]);
    expect(JSON.stringify(await recordedOf(id))).not.toContain('glsoat-');
  });

  test('is refused to owners who cannot see internal groups', async () => {
    const id = await made('outside');
    await call('PUT', `/groups/${id}/saml`, on);
    const outsider = await service.user('outsider', { external: true });
    await call('POST', `/groups/${id}/members`, { user_id: outsider.id, access_level: 50 });
    const at = `/groups/${id}/scim_token`;
    expect((await call('GET', `/groups/${id}/saml`, undefined, outsider.token)).status).toBe(200);
    expect(await call('POST', at, undefined, outsider.token)).toMatchObject({
      status: 403,
      body: { message: '403 Forbidden - An external user cannot issue a SCIM token' },
    });
    expect((await call('GET', at)).status).toBe(404);
  });

  test('is issued once by two simultaneous requests', async () => {
    const id = await made('race');
    await call('PUT', `/groups/${id}/saml`, on);
    const answers = await Promise.all([1, 2, 3].map(() => call('POST', `/groups/${id}/scim_token`)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses[0]).toBe(201);
    for (const status of statuses) expect([201, 409]).toContain(status);
    const tokens = answers.filter(({ status }) => status === 201).map(({ body }) => body.token);
    const good = await Promise.all(tokens.map((token) => asks('race', token)));
    expect(good.filter((status) => status === 200)).toHaveLength(1);
  });

  test('works while single sign-on is enabled and the group exists at top level', async () => {
    const group = await scimGroup(service, owner.token, 'lifetime');
    const put = (json: object) => call('PUT', `/groups/${group.id}/saml`, json);
    await put({ enabled: false });
    expect(await asks('lifetime', group.token)).toBe(404);
    await put({ enabled: true });
    expect(await asks('lifetime', group.token)).toBe(200);
    await call('PUT', `/groups/${group.id}`, { path: 'lifelong' });
    expect(await asks('lifelong', group.token)).toBe(200);
    // The former path leads on.
    expect(await asks('lifetime', group.token)).toBe(200);
    const above = await made('above');
    await call('POST', `/groups/${group.id}/transfer`, { group_id: above });
    expect(await asks('above/lifelong', group.token)).toBe(404);
    expect(await asks('lifelong', group.token)).toBe(404);
    await call('DELETE', `/groups/${above}`);
    expect([401, 404]).toContain(await asks('above/lifelong', group.token));
  });
});

describe('single sign-on identities', () => {
  let group: ScimGroup;
  beforeAll(async () => {
    group = await scimGroup(service, owner.token, 'seen', { trusted_email_domains: ['corp.example'] });
    for (const name of ['ann', 'bea', 'cyd']) await group.agent('POST', '/Users', person(name));
    await service.user('dot', { email: 'dot@corp.example' });
    await group.agent('POST', '/Users', person('dot'));
    await group.agent('PATCH', '/Users/ext-cyd', patchOf({ op: 'replace', path: 'active', value: false }));
  });
  const idOf = async (username: string): Promise<number> =>
    (await call('GET', `/users?username=${username}`)).body[0].id;

  test('are listed as the provider has them and as users sign in', async () => {
    const [ann, bea, cyd, dot] = await Promise.all(['ann', 'bea', 'cyd', 'dot'].map(idOf));
    const scimList = await call('GET', `/groups/${group.id}/scim/identities`);
    expect(scimList.body).toEqual([
      { extern_uid: 'ext-ann', user_id: ann, active: true },
      { extern_uid: 'ext-bea', user_id: bea, active: true },
      { extern_uid: 'ext-cyd', user_id: cyd, active: false },
      { extern_uid: 'ext-dot', user_id: dot, active: true },
    ]);
    expect(scimList.headers.get('x-total')).toBe('4');
    const page = await call('GET', `/groups/${group.id}/scim/identities?per_page=3&page=2`);
    expect(page.body).toMatchObject([{ extern_uid: 'ext-dot' }]);
    // Who had an account signs in to it as before.
    expect((await call('GET', `/groups/${group.id}/saml/identities`)).body).toEqual([
      { extern_uid: 'ext-ann', user_id: ann },
      { extern_uid: 'ext-bea', user_id: bea },
    ]);
    expect((await call('GET', `/groups/${group.id}/saml/ext-ann`)).body).toEqual({
      extern_uid: 'ext-ann',
      user_id: ann,
    });
    expect((await call('GET', `/groups/${group.id}/saml/ext-dot`)).status).toBe(404);
    expect((await call('GET', `/groups/${group.id}/scim/ext-cyd`)).body.active).toBe(false);
    const found = `/users?extern_uid=ext-ann&provider=group_saml&saml_provider_id=${group.id}`;
    expect((await call('GET', found, undefined, service.rootToken)).body).toMatchObject([
      { username: 'ann' },
    ]);
  });

  test.each(['PATCH', 'PUT', 'DELETE'])(
    'removed by the provider with %s are shown to the provider only',
    async (method) => {
      const name = `gone-${method.toLowerCase()}`;
      const uid = `ext-${name}`;
      await group.agent('POST', '/Users', person(name));
      const id = await idOf(name);
      const within = await made(`of-${name}`, { parent_id: group.id });
      /** Who shows it: the administrator of accounts, the owner of sign-ins and of members. */
      const shown = async () => {
        const root = service.rootToken;
        const at = `provider=group_saml&saml_provider_id=${group.id}`;
        const inside = await call('GET', `/groups/${within}/members/all`);
        const answers = {
          account: (await call('GET', `/users/${id}`, undefined, root)).body.identities,
          found: (await call('GET', `/users?extern_uid=${uid}&${at}`, undefined, root)).body,
          ofProvider: (
            await call('GET', `/users?saml_provider_id=${group.id}&username=${name}`, undefined, root)
          ).body,
          signIns: (await call('GET', `/groups/${group.id}/saml/identities?per_page=100`)).body,
          signIn: [(await call('GET', `/groups/${group.id}/saml/${uid}`)).status],
          renamed: [(await call('PATCH', `/groups/${group.id}/saml/${uid}`, { extern_uid: uid })).status],
          members: inside.body.filter(({ username }: Answer['body']) => username === name),
        };
        const has = (value: unknown) =>
          JSON.stringify(value).includes(uid) || JSON.stringify(value).includes(name);
        return Object.entries(answers)
          .filter(([, value]) => has(value) || /20\d/.test(String(value)))
          .map(([who]) => who);
      };
      expect(await shown()).toEqual([
        'account',
        'found',
        'ofProvider',
        'signIns',
        'signIn',
        'renamed',
        'members',
      ]);
      const json =
        method === 'PATCH' ? patchOf({ op: 'replace', path: 'active', value: false }) : { active: false };
      await group.agent(method, `/Users/${uid}`, method === 'DELETE' ? undefined : json);
      expect(await shown()).toEqual([]);
      // A member again by hand, they sign in there no more.
      await call('POST', `/groups/${group.id}/members`, { user_id: id, access_level: 10 });
      expect((await call('GET', `/groups/${group.id}/members/${id}`)).body.group_saml_identity).toBe(null);

      const known = (await group.agent('GET', `/Users/${uid}`)).status;
      const listed = await call('GET', `/groups/${group.id}/scim/${uid}`);
      if (method === 'DELETE') expect([known, listed.status]).toEqual([404, 404]);
      else expect([known, listed.body]).toEqual([200, { extern_uid: uid, user_id: id, active: false }]);
      expect((await group.agent('POST', '/Users', person(name))).status).toBe(201);
      expect((await shown()).slice(0, 3)).toEqual(['account', 'found', 'ofProvider']);
      await group.agent('DELETE', `/Users/${uid}`);
    },
  );

  test('of an account now owned by its user can still be named and removed by the provider', async () => {
    await group.agent('POST', '/Users', person('risen'));
    const id = await idOf('risen');
    const root = service.rootToken;
    await call('PUT', `/users/${id}`, { admin: true }, root);
    const identities = async () => (await call('GET', `/users/${id}`, undefined, root)).body.identities;
    const patch = (path: string, value: unknown, uid: string) =>
      group.agent('PATCH', `/Users/${uid}`, patchOf({ op: 'replace', path, value }));
    expect((await patch('externalId', 'ext-up', 'ext-risen')).status).toBe(204);
    expect(await identities()).toMatchObject([{ extern_uid: 'ext-up' }]);
    expect((await patch('active', false, 'ext-up')).status).toBe(204);
    expect(await identities()).toEqual([]);
    await group.agent('DELETE', '/Users/ext-up');
  });

  test('cannot have an id that no path can contain', async () => {
    const { status, body } = await call('PATCH', `/groups/${group.id}/scim/ext-ann`, { extern_uid: '.' });
    expect([status, body]).toMatchObject([400, { message: 'externalId is invalid' }]);
  });

  test('are shown with members to owners only', async () => {
    await call('POST', `/groups/${group.id}/members`, { user_id: maintainer.id, access_level: 40 });
    const members = async (token: string) =>
      new Map<string, Answer['body']>(
        (await call('GET', `/groups/${group.id}/members`, undefined, token)).body.map(
          (member: Answer['body']) => [member.username, member],
        ),
      );
    const seen = await members(owner.token);
    expect(seen.get('ann').group_saml_identity).toEqual({
      provider: 'group_saml',
      extern_uid: 'ext-ann',
      saml_provider_id: group.id,
    });
    expect(seen.get('dot').group_saml_identity).toBe(null);
    expect((await members(maintainer.token)).get('ann')).not.toHaveProperty('group_saml_identity');
    const one = `/groups/${group.id}/members/${await idOf('bea')}`;
    expect((await call('GET', one)).body.group_saml_identity.extern_uid).toBe('ext-bea');
    const inner = await made('within', { parent_id: group.id });
    const all = (await call('GET', `/groups/${inner}/members/all`)).body;
    expect(all.find((member: Answer['body']) => member.username === 'ann')).toHaveProperty(
      'group_saml_identity',
    );
  });

  test('can be renamed and removed through the API', async () => {
    const rename = (uid: string, extern_uid: unknown, kind = 'scim') =>
      call('PATCH', `/groups/${group.id}/${kind}/${uid}`, { extern_uid });
    expect((await rename('ext-bea', 'ext-bee')).status).toBe(204);
    expect((await call('GET', `/groups/${group.id}/saml/ext-bee`)).status).toBe(200);
    expect((await rename('ext-bee', 'ext-bea', 'saml')).status).toBe(204);
    expect((await rename('ext-bea', 'ext-ann')).status).toBe(409);
    expect((await rename('ext-bea', '')).body).toEqual({ error: 'extern_uid is empty' });
    expect((await rename('nobody', 'x')).status).toBe(404);
    const bea = await idOf('bea');
    expect((await call('DELETE', `/groups/${group.id}/scim/ext-bea`)).status).toBe(204);
    expect((await call('DELETE', `/groups/${group.id}/scim/ext-bea`)).status).toBe(404);
    expect((await call('GET', `/groups/${group.id}/members/${bea}`)).status).toBe(404);
    expect((await recordedOf(group.id))[0]).toMatchObject({ remove: 'user_access', author_name: 'owner' });
  });

  test('are deleted with the group, and accounts no longer sign in there', async () => {
    const gone = await scimGroup(service, owner.token, 'doomed', { trusted_email_domains: ['corp.example'] });
    await gone.agent('POST', '/Users', person('orphan'));
    const user = await idOf('orphan');
    await call('DELETE', `/groups/${gone.id}`);
    await expect.poll(() => storeOf().scimIdentities.get(gone.id, 'ext-orphan')).toBe(undefined);
    await expect.poll(() => storeOf().scimTokens.ofGroup(gone.id)).toBe(undefined);
    expect((await call('GET', `/users/${user}`, undefined, service.rootToken)).body.identities).toEqual([]);
    expect(await scim(service, 'GET', 'doomed/Users', { token: gone.token })).toMatchObject({ status: 401 });
  });
});
