import { beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { absent, BAD } from '../../harness/refusals.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { request } from '../../harness/service.ts';
import type { Who } from '../../harness/world.ts';

const { service, world, as } = ownWorld();
beforeAll(async () => {
  const made = await as('administrator', 'POST', `/users/${world.ids['guest']}/emails`, {
    email: 'Guest@Home.example',
    skip_confirmation: true,
  });
  expect(made.status).toBe(201);
  world.ids['email'] = made.body.id;
});

const gone = absent('User');

describe('permission on email addresses', () =>
  scenarios(
    () => world,
    [
      { request: 'GET /user/emails', as: { anonymous: 401, guest: 200, ...BAD, read_user: 200 } },
      { request: 'GET /user/emails/{email}', as: { anonymous: 401, guest: 200, owner: absent('Email') } },
      {
        request: 'GET /users/{guest}/emails',
        as: { anonymous: 401, guest: 403, owner: 403, administrator: 200, ...BAD },
        hides: ['home.example'],
        look: ({ status, body }) => {
          if (status !== 200) return;
          expect(body).toEqual([
            { id: world.ids['email'], email: 'Guest@Home.example', confirmed_at: expect.any(String) },
          ]);
        },
      },
      { request: 'GET /users/999999/emails', as: { guest: 403, administrator: gone } },
      { request: 'POST /users/{guest}/emails', json: { email: 'x' }, as: { anonymous: 401, guest: 403 } },
      { request: 'DELETE /users/{guest}/emails/{email}', as: { anonymous: 401, guest: 403 } },
      { request: 'DELETE /user/emails/{email}', as: { anonymous: 401, owner: absent('Email') } },
    ],
  ));

describe('email addresses', () => {
  const add = (who: Who, email: string) => as(who, 'POST', '/user/emails', { email });
  const found = async (email: string) => {
    const { body } = await as('administrator', 'GET', `/users?search=${encodeURIComponent(email)}`);
    return body.map(({ username }: { username: string }) => username);
  };

  test.each([
    ['nothing', undefined, { error: 'email is missing' }],
    ['no address', 'home', { message: { email: ['is invalid'] } }],
    ['a blank one', '', { message: { email: ["can't be blank"] } }],
    [
      "somebody's first in another case",
      'Owner@EXAMPLE.com',
      { message: { email: ['has already been taken'] } },
    ],
    [
      "somebody's other in another case",
      'guest@HOME.example',
      { message: { email: ['has already been taken'] } },
    ],
  ])('refuse %s', async (_, email, body) => {
    expect(await as('reporter', 'POST', '/user/emails', { email })).toMatchObject({
      status: 400,
      body,
    });
  });

  test('cannot be taken by the creation of another account', async () => {
    const json = { email: 'GUEST@home.example', name: 'x', username: 'second', force_random_password: true };
    const answer = await as('administrator', 'POST', '/users', json);
    expect(answer).toMatchObject({ status: 409, body: { message: 'Email has already been taken' } });
  });

  test('are unique in any case, for simultaneous requests too', async () => {
    const answers = await Promise.all(
      ['Race@x.example', 'raCe@x.example'].map((email) => add('former', email)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
  });

  test('count once they are confirmed by the mailed link, which works once', async () => {
    const email = 'Dev@home.example';
    const { status, body } = await add('developer', email);
    expect([status, body.confirmed_at]).toEqual([201, null]);
    expect(await found(email)).toEqual([]);
    const [mail] = await service.mailTo(email);
    const link = /http:\S+/.exec(mail!.text!)![0];
    const page = await request(link, 'GET');
    expect(page.body).toContain('<button>Confirm</button>');
    // Looking is not enough.
    expect((await as('developer', 'GET', `/user/emails/${body.id}`)).body.confirmed_at).toBeNull();
    const token = new URL(link).searchParams.get('confirmation_token')!;
    const confirm = () =>
      request(`${service.url}/users/confirmation`, 'POST', {
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: `confirmation_token=${token}`,
      });
    const answers = await Promise.all([confirm(), confirm()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect((await as('developer', 'GET', `/user/emails/${body.id}`)).body.confirmed_at).toEqual(
      expect.any(String),
    );
    expect(await found('dev@HOME.example')).toEqual(['developer']);
    await as('developer', 'DELETE', `/user/emails/${body.id}`);
    expect(await found(email)).toEqual([]);
    expect((await add('maintainer', email)).status).toBe(201);
  });

  test('cannot be confirmed after their deletion', async () => {
    const { body } = await add('maintainer', 'away@home.example');
    const [mail] = await service.mailTo('away@home.example');
    await as('maintainer', 'DELETE', `/user/emails/${body.id}`);
    const token = new URL(/http:\S+/.exec(mail!.text!)![0]).searchParams.get('confirmation_token')!;
    const answer = await request(`${service.url}/users/confirmation`, 'POST', {
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: `confirmation_token=${token}`,
    });
    expect([answer.status, answer.body]).toEqual([
      400,
      expect.stringContaining('Confirmation token is invalid'),
    ]);
  });
});
