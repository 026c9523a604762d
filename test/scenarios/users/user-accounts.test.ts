/** Accounts change and go: what `PUT` and `DELETE` of users do, and the link to choose a password. */
import { describe, expect, test, vi } from 'vitest';
import { tokenHash } from '../../../lib/domain/access/token-check.ts';
import { verifyPassword } from '../../../lib/domain/accounts/password-hash.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { ADMIN_ONLY, absent } from '../../harness/refusals.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { expectSchema } from '../../harness/schemas.ts';

const { service, world, as, root, someone } = ownWorld();

const recordOf = async (id: number) => (await world.store.users.get(id))!;
/** Until something that a worker does has happened. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  await vi.waitUntil(holds, { timeout: 60_000, interval: 20 });
}

describe('permission to change users', () => {
  const ADMINS_WRITE = { ...ADMIN_ONLY, read_user: 403, read_api: 403 } as const;
  scenarios(
    () => world,
    [
      {
        request: 'PUT /users/{guest}',
        json: { bio: 'changed' },
        as: { ...ADMINS_WRITE, guest: 403, administrator: 200 },
        holds: { bio: 'changed', username: 'guest' },
        look: ({ status, body }) => status === 200 && expectSchema('user/admin', body),
      },
      {
        request: 'PUT /users/999999',
        json: {},
        as: { stranger: 403, administrator: absent('User') },
      },
      {
        request: 'PUT /users/guest',
        json: {},
        as: { administrator: { status: 404, holds: { error: '404 Not Found' } } },
      },
      {
        request: 'DELETE /users/999999',
        as: { ...ADMINS_WRITE, administrator: absent('User') },
      },
      {
        request: 'DELETE /users/{guest}/identities/none',
        as: { ...ADMINS_WRITE, administrator: absent('Identity') },
      },
      {
        request: 'DELETE /users/{administrator}',
        as: {
          administrator: { status: 403, holds: { message: '403 Forbidden - You cannot delete yourself' } },
        },
      },
      {
        request: 'PUT /users/{administrator}',
        json: { admin: false },
        as: {
          administrator: {
            status: 403,
            holds: {
              message: '403 Forbidden - You cannot take the rights of an administrator from yourself',
            },
          },
        },
      },
    ],
  );
});

describe('changing a user', () => {
  test('stores every parameter, and keeps those not given', async () => {
    const { id, username } = await someone();
    const given = {
      name: 'New Name',
      bio: 'b',
      location: 'l',
      organization: 'o',
      job_title: 'j',
      pronouns: 'they',
      skype: 's',
      linkedin: 'i',
      twitter: 't',
      website_url: 'https://w.example',
      note: 'n',
      theme_id: 3,
      color_scheme_id: 2,
      projects_limit: 7,
      can_create_group: false,
      private_profile: true,
      admin: true,
      shared_runners_minutes_limit: 5,
      public_email: `${username}@example.com`,
    };
    const changed = await root('PUT', `/users/${id}`, {
      ...given,
      extern_uid: '7',
      provider: 'github',
      view_diffs_file_by_file: true,
    });
    const { admin, ...shown } = given;
    const identities = [{ provider: 'github', extern_uid: '7', saml_provider_id: null }];
    expect([changed.status, changed.body]).toMatchObject([
      200,
      { ...shown, is_admin: admin, identities, username },
    ]);
    expect((await root('PUT', `/users/${id}`, { bio: 'c', private_profile: null })).body).toMatchObject({
      ...shown,
      bio: 'c',
      private_profile: false,
      identities,
    });
    // Another identity at the same provider takes its place.
    await root('PUT', `/users/${id}`, { extern_uid: '8', provider: 'github' });
    expect((await root('GET', '/users?extern_uid=7&provider=github')).body).toEqual([]);
    expect((await root('GET', '/users?extern_uid=8&provider=github')).body).toMatchObject([{ id }]);
    expect((await root('DELETE', `/users/${id}/identities/github`)).status).toBe(204);
    expect((await root('GET', `/users/${id}`)).body.identities).toEqual([]);
    await root('PUT', `/users/${id}`, { admin: false });
  });

  test('to external sets the limits to zero; a limit that is set later stays', async () => {
    const { id } = await someone();
    const external = await root('PUT', `/users/${id}`, { external: true, projects_limit: 9 });
    expect(external.body).toMatchObject({ external: true, can_create_group: false, projects_limit: 0 });
    const allowed = await root('PUT', `/users/${id}`, { projects_limit: 2, can_create_group: true });
    expect(allowed.body).toMatchObject({ external: true, can_create_group: true, projects_limit: 2 });
    const kept = await root('PUT', `/users/${id}`, { bio: 'still here', external: true });
    expect(kept.body).toMatchObject({ external: true, can_create_group: true, projects_limit: 2 });
    const again = await root('PUT', `/users/${id}`, { external: false });
    expect(again.body).toMatchObject({ external: false, can_create_group: true, projects_limit: 100_000 });
  });

  const is = (field: string, problem: unknown) => ({ message: { [field]: [problem] } });
  test.each([
    [
      { email: 'Guest@EXAMPLE.com', skip_reconfirmation: true },
      409,
      { message: 'Email has already been taken' },
    ],
    [{ email: 'Guest@EXAMPLE.com' }, 409, { message: 'Email has already been taken' }],
    [{ username: 'GUEST' }, 409, { message: 'Username has already been taken' }],
    [{ username: 'api' }, 400, is('username', 'api is a reserved name')],
    [{ username: 'a/b' }, 400, is('username', expect.stringContaining('can contain only'))],
    [{ email: 'none' }, 400, is('email', 'is invalid')],
    [{ name: ' ' }, 400, is('name', "can't be blank")],
    [{ password: 'short' }, 400, is('password', 'is too short (minimum is 8 characters)')],
    [{ password: 'Password123' }, 400, is('password', expect.stringContaining('commonly used'))],
    [{ projects_limit: -1 }, 400, is('projects_limit', 'must be greater than or equal to 0')],
    [{ website_url: 'javascript:alert(1)' }, 400, is('website_url', 'is not a valid URL')],
    [{ theme_id: 99 }, 400, is('theme_id', 'is not included in the list')],
    [{ public_email: 'guest@example.com' }, 400, is('public_email', 'is not an email you own')],
    [{ extern_uid: '1' }, 400, { error: 'extern_uid, provider provide all or none of parameters' }],
    [{ admin: 'perhaps' }, 400, { error: 'admin is invalid' }],
  ])('with %j is refused and changes nothing', async (json, status, body) => {
    const before = await recordOf(world.ids['reporter']!);
    const answer = await root('PUT', `/users/${before.id}`, { bio: 'half', ...json });
    expect([answer.status, answer.body]).toEqual([status, body]);
    expect(await recordOf(before.id)).toEqual(before);
  });

  test('to an identity of another user is refused', async () => {
    const [a, b] = [await someone(), await someone()];
    const identity = { extern_uid: 'Same', provider: 'github' };
    expect((await root('PUT', `/users/${a.id}`, identity)).status).toBe(200);
    const taken = { message: { 'identities.extern_uid': ['has already been taken'] } };
    const second = await root('PUT', `/users/${b.id}`, { ...identity, extern_uid: 'same' });
    expect([second.status, second.body]).toEqual([400, taken]);
  });

  test('to one email at once, in different case, succeeds for one of six', async () => {
    const people = await Promise.all(Array.from({ length: 6 }, () => someone()));
    const answers = await Promise.all(
      people.map(({ id }, n) =>
        root('PUT', `/users/${id}`, {
          email: n % 2 ? 'Wanted@Example.com' : 'wanted@example.com',
          skip_reconfirmation: true,
        }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    const free = await root('POST', '/users', {
      username: 'former-address',
      name: 'F',
      email: `${people[answers.findIndex(({ status }) => status === 200)]!.username}@example.com`,
      force_random_password: true,
    });
    expect(free.status).toBe(201);
  });

  test('to a new email takes effect when the mailed link is opened', async () => {
    const { id, username } = await someone();
    const email = `${username}-next@example.com`;
    const before = `${username}@example.com`;
    expect((await root('PUT', `/users/${id}`, { email })).body).toMatchObject({ email: before });
    expect((await root('PUT', `/users/${id}`, { public_email: email })).status).toBe(400);
    const [mail] = await service.mailTo(email);
    const token = /confirmation_token=(\S+)/.exec(mail!.text!)![1]!;
    const opened = await fetch(`${service.url}/users/confirmation`, {
      method: 'POST',
      body: new URLSearchParams({ confirmation_token: token }),
    });
    expect(opened.status).toBe(200);
    expect((await root('GET', `/users/${id}`)).body.email).toBe(email);
    expect((await recordOf(id)).unconfirmedEmail).toBeNull();
  });

  test('ends the use of the old email in profiles and commits', async () => {
    const { id, username, token } = await someone();
    const second = `${username}-2@example.com`;
    const added = await root('POST', `/users/${id}/emails`, { email: second, skip_confirmation: true });
    await root('PUT', `/users/${id}`, { public_email: second, commit_email: second });
    const project = await service.call('POST', '/projects', {
      token,
      json: { name: 'signed', initialize_with_readme: true },
    });
    const newest = async (message: string): Promise<string> => {
      const json = { branch: 'main', commit_message: message, actions: [] };
      const made = await service.call('POST', `/projects/${project.body.id}/repository/commits`, {
        token,
        json: { ...json, actions: [{ action: 'create', file_path: message, content: message }] },
      });
      return made.body.author_email;
    };
    expect(await newest('one')).toBe(second);
    expect((await root('DELETE', `/users/${id}/emails/${added.body.id}`)).status).toBe(204);
    const { email, commit_email, public_email } = (await root('GET', `/users/${id}`)).body;
    expect({ commit_email, public_email }).toEqual({ commit_email: email, public_email: null });
    expect(await newest('two')).toBe(email);

    await root('PUT', `/users/${id}`, { public_email: email });
    const third = `${username}-3@example.com`;
    await root('PUT', `/users/${id}`, { email: third, skip_reconfirmation: true });
    expect((await root('GET', `/users/${id}`)).body).toMatchObject({ email: third, public_email: null });
    expect(await newest('three')).toBe(third);
  });

  test('by an administrator can confirm an email', async () => {
    const { id } = await someone({ skip_confirmation: false });
    expect((await root('GET', `/users/${id}`)).body.confirmed_at).toBeNull();
    const { body } = await root('PUT', `/users/${id}`, { skip_confirmation: true });
    expect(body.confirmed_at).toEqual(expect.any(String));
  });

  test('to another username moves the projects, which are found under both names', async () => {
    const { id, username, token } = await someone();
    await service.call('POST', '/projects', { token, json: { name: 'thing', visibility: 'public' } });
    const renamed = await root('PUT', `/users/${id}`, { username: `${username}-now`, name: 'Now' });
    expect(renamed.body).toMatchObject({ username: `${username}-now` });
    for (const name of [`${username}-now`, username]) {
      const found = await as('stranger', 'GET', `/projects/${encodeURIComponent(`${name}/thing`)}`);
      expect([found.status, found.body.path_with_namespace]).toEqual([200, `${username}-now/thing`]);
    }
    expect((await root('GET', `/users?username=${username}`)).body).toEqual([]);
    // All have moved, so that the name may change again at once.
    const again = await root('PUT', `/users/${id}`, { username: `${username}-later` });
    expect([again.status, again.body.username]).toEqual([200, `${username}-later`]);
  });

  test('to a taken username is refused by that name, also while the last change is under way', async () => {
    const { id, username } = await someone();
    const user = (await world.store.users.get(id))!;
    await world.store.users.update(user, { movedFrom: `${username}-was` });
    const answer = async (next: string) => {
      const { status, body } = await root('PUT', `/users/${id}`, { username: next });
      return [status, body.message];
    };
    expect(await answer('Guest')).toEqual([409, 'Username has already been taken']);
    expect(await answer(`${username}-next`)).toEqual([409, '409 Conflict: Resource lock']);
  });
});

describe('passwords', () => {
  test('set by another user must be replaced, and not by the same one', async () => {
    const { id } = await someone();
    expect((await root('PUT', `/users/${id}`, { password: 'quite a long one' })).status).toBe(200);
    const record = await recordOf(id);
    expect(record.passwordExpired).toBe(true);
    expect(await verifyPassword('quite a long one', record.passwordHash!)).toBe(true);
    const same = await root('PUT', `/users/${id}`, { password: 'quite a long one' });
    expect([same.status, same.body]).toEqual([
      400,
      { message: { password: ['must not be the present one'] } },
    ]);
    await root('PUT', `/users/${id}`, { force_random_password: true, password: 'ignored, quite so' });
    expect((await recordOf(id)).passwordHash).toBeNull();
  });

  const submit = async (fields: Record<string, string>) => {
    const answer = await fetch(`${service.url}/users/password`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(fields),
    });
    return { status: answer.status, headers: answer.headers, body: await answer.text() };
  };
  const linkIn = (text: string | undefined) => /(http\S+reset_password_token=(\S+))/.exec(text ?? '')!;

  test('are reset once through the form behind a mailed link', async () => {
    const made = await root('POST', '/users', {
      username: 'invited',
      name: 'In <b>vited',
      email: 'invited@example.com',
      reset_password: true,
      skip_confirmation: true,
    });
    const [mail] = await service.mailTo('invited@example.com');
    const [, link, token] = linkIn(mail!.text);
    const page = await fetch(link!);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await page.text()).toContain(token);
    const fields = { reset_password_token: token!, password: 'my very own one' };

    const differs = await submit({ ...fields, password_confirmation: 'my very own two' });
    expect([differs.status, differs.body]).toEqual([400, expect.stringContaining('match Password')]);
    const short = await submit({ ...fields, password: 'short' });
    expect([short.status, short.body]).toEqual([400, expect.stringContaining('Password is too short')]);
    const answers = await Promise.all([submit(fields), submit(fields)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);
    expect((await submit({ ...fields, password: 'another one of mine' })).status).toBe(404);
    const record = await recordOf(made.body.id);
    expect(await verifyPassword('my very own one', record.passwordHash!)).toBe(true);
    expect(JSON.stringify(record)).not.toContain(token);
  });

  test('are reset by the newest link only, until it expires', async () => {
    const { id, username } = await someone();
    for (let n = 0; n < 2; n++) await root('PUT', `/users/${id}`, { reset_password: true });
    const mails = await service.mailTo(`${username}@example.com`, 2);
    const tokens = mails.map(({ text }) => linkIn(text)[2]!);
    const inForce = (await recordOf(id)).passwordReset!;
    const old = tokens.find((token) => tokenHash(token) !== inForce.hash)!;
    const live = tokens.find((token) => tokenHash(token) === inForce.hash)!;
    expect((await submit({ reset_password_token: old, password: 'long enough' })).status).toBe(404);
    const hours = (Date.parse(inForce.expiresAt) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(5.9);
    expect(hours).toBeLessThan(6.01);
    const over = { ...inForce, expiresAt: new Date(Date.now() - 1).toISOString() };
    await world.store.users.update(await recordOf(id), { passwordReset: over });
    expect((await submit({ reset_password_token: live, password: 'long enough' })).status).toBe(404);
  });

  test('typed into the form are escaped in the answer', async () => {
    const { status, body } = await submit({ reset_password_token: '"><script>', password: 'long enough' });
    expect([status, body.includes('<script>')]).toEqual([404, false]);
  });
});

describe('deleting a user', () => {
  test('ends tokens, memberships, follows and projects, and frees the names', async () => {
    const leaver = await someone();
    const friend = await someone();
    await service.call('POST', '/projects', { token: leaver.token, json: { name: 'own' } });
    const json = { user_id: leaver.id, access_level: 30 };
    await as('owner', 'POST', `/projects/${world.ids['public']}/members`, json);
    await service.call('POST', `/users/${leaver.id}/follow`, { token: friend.token });
    await service.call('POST', `/users/${friend.id}/follow`, { token: leaver.token });
    expect((await root('DELETE', `/users/${leaver.id}`)).status).toBe(204);

    expect((await service.call('GET', '/user', { token: leaver.token })).status).toBe(401);
    expect((await root('GET', `/users/${leaver.id}`)).status).toBe(404);
    expect((await root('DELETE', `/users/${leaver.id}`)).status).toBe(404);
    const path = encodeURIComponent(`${leaver.username}/own`);
    await until(async () => (await root('GET', `/projects/${path}`)).status === 404);
    await until(
      async () =>
        (await as('owner', 'GET', `/projects/${world.ids['public']}/members/${leaver.id}`)).status === 404,
    );
    await until(async () => {
      const { followers, following } = (await root('GET', `/users/${friend.id}`)).body;
      return followers === 0 && following === 0;
    });
    const again = await root('POST', '/users', {
      username: leaver.username,
      name: 'Another',
      email: `${leaver.username}@example.com`,
      force_random_password: true,
    });
    expect(again.status).toBe(201);
  });

  test('is refused for the ghost, which cannot be changed or blocked either', async () => {
    const ghost = await world.store.users.ghost();
    expect((await root('GET', '/users?username=ghost')).body).toMatchObject([{ name: 'Ghost User' }]);
    for (const filter of ['active', 'exclude_internal'])
      expect((await root('GET', `/users?username=ghost&${filter}=true`)).body).toEqual([]);
    expect((await root('DELETE', `/users/${ghost.id}`)).status).toBe(403);
    expect((await root('PUT', `/users/${ghost.id}`, { bio: 'boo' })).status).toBe(403);
    expect((await root('POST', `/users/${ghost.id}/block`)).body).toEqual({
      message: 'An internal user cannot be blocked',
    });
  });

  test('is refused for the only owner of a group, unless the group is deleted too', async () => {
    const [owner, other] = [await someone(), await someone()];
    const group = await service.call('POST', '/groups', {
      token: owner.token,
      json: { name: 'held', path: `held-${owner.id}` },
    });
    const only = await root('DELETE', `/users/${owner.id}`);
    expect([only.status, only.body]).toEqual([
      409,
      { message: 'User cannot be removed while is the sole-owner of a group' },
    ]);
    expect((await service.call('GET', '/user', { token: owner.token })).status).toBe(200);
    await service.call('POST', `/groups/${group.body.id}/members`, {
      token: owner.token,
      json: { user_id: other.id, access_level: 50 },
    });
    // Of two owners who go at once one is told.
    const answers = await Promise.all([owner, other].map(({ id }) => root('DELETE', `/users/${id}`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 409]);
    const left = answers[0]!.status === 204 ? other : owner;
    expect((await root('DELETE', `/users/${left.id}`)).status).toBe(409);
    expect((await root('DELETE', `/users/${left.id}?hard_delete=true`)).status).toBe(204);
    await until(async () => (await root('GET', `/groups/${group.body.id}`)).status === 404);
  });

  test('respects If-Unmodified-Since', async () => {
    const { id } = await someone();
    const headers = { 'If-Unmodified-Since': 'Thu, 01 Jan 2015 00:00:00 GMT' };
    const late = await service.call('DELETE', `/users/${id}`, { token: service.rootToken, headers });
    expect([late.status, (await root('GET', `/users/${id}`)).status]).toEqual([412, 200]);
  });

  test('also deletes what the user creates meanwhile', async () => {
    const leaver = await someone();
    const [deleted, ...made] = await Promise.all([
      root('DELETE', `/users/${leaver.id}`),
      ...Array.from({ length: 5 }, (_, n) =>
        service.call('POST', '/projects', { token: leaver.token, json: { name: `late-${n}` } }),
      ),
    ]);
    expect(deleted.status).toBe(204);
    for (const { status } of made) expect([201, 401, 404]).toContain(status);
    for (const { status, body } of made)
      if (status === 201) await until(async () => (await root('GET', `/projects/${body.id}`)).status === 404);
  });

  test('leaves one of two administrators who delete each other', async () => {
    const [a, b] = [await someone({ admin: true }), await someone({ admin: true })];
    const answers = await Promise.all([
      service.call('DELETE', `/users/${b.id}`, { token: a.token }),
      service.call('DELETE', `/users/${a.id}`, { token: b.token }),
    ]);
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses[0]).toBe(204);
    expect(statuses[1]).not.toBe(204);
  });
});
