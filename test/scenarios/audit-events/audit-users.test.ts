/** What is recorded of accounts, keys and addresses: each action with exactly its events, and refusals with none. */
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { recordedBy, type Told } from '../../harness/audit.ts';
import { newPgpKey, newSshKey } from '../../harness/keys.ts';
import { ownService } from '../../harness/own-service.ts';
import { type Answer, request } from '../../harness/service.ts';
import { storeOf } from '../../harness/world.ts';

const service = ownService();
let root: { readonly id: number };
beforeAll(async () => {
  root = (await service.call('GET', '/user', { token: service.rootToken })).body;
});

interface Person {
  readonly id: number;
  readonly username: string;
  readonly token: string;
}

let count = 0;
const newUser = (more: Record<string, unknown> = {}): Promise<Person> =>
  service.user(`person${++count}`, more);
const asRoot = (method: string, path: string, json?: unknown): Promise<Answer> =>
  service.call(method, path, { token: service.rootToken, ...(json === undefined ? {} : { json }) });
const as = ({ token }: Person, method: string, path: string, json?: unknown): Promise<Answer> =>
  service.call(method, path, { token, ...(json === undefined ? {} : { json }) });

type Details = Readonly<Record<string, unknown>>;
/** Events of one person's account, about the account itself where they say nothing else. */
const of =
  (person: { readonly id: number; readonly username: string }, by = 'Administrator') =>
  (...details: Details[]): Told[] =>
    details.map((each) => ({
      of: `User ${person.id}`,
      by,
      target_id: person.id,
      target_type: 'User',
      target_details: person.username,
      ...each,
    }));

describe('audit events of an administrator’s changes to an account', () => {
  test('record its creation once in the account, also with a password reset link', async () => {
    for (const choice of [
      { force_random_password: true },
      { password: 'long enough 1' },
      { reset_password: true },
    ]) {
      const name = `made${++count}`;
      let made: Answer | undefined;
      const events = await recordedBy(service, async () => {
        const json = { username: name, name, email: `${name}@example.com`, ...choice };
        made = await asRoot('POST', '/users', json);
      });
      expect(events).toEqual(of({ id: made!.body.id, username: name })({ add: 'user' }));
    }
  });

  const email = (person: Person, address: string) => ({
    target_id: address,
    target_type: 'Email',
    target_details: address,
    of: `User ${person.id}`,
  });

  test.each<[string, (p: Person) => Details, (p: Person) => Details[]]>([
    ['a name', () => ({ name: 'Other' }), (p) => [{ change: 'name', from: p.username, to: 'Other' }]],
    ['the same name', (p) => ({ name: p.username }), () => []],
    [
      'a username',
      (p) => ({ username: `${p.username}-new` }),
      (p) => [{ change: 'username', from: p.username, to: `${p.username}-new` }],
    ],
    [
      'the administrator flag',
      () => ({ admin: true }),
      () => [{ change: 'admin status', from: 'false', to: 'true' }],
    ],
    [
      'whether external',
      () => ({ external: true }),
      () => [{ change: 'external status', from: 'false', to: 'true' }],
    ],
    [
      'an address, at once',
      (p) => ({ email: `${p.username}@new.example`, skip_reconfirmation: true }),
      (p) => [
        { change: 'email address', from: `${p.username}@example.com`, to: `${p.username}@new.example` },
      ],
    ],
    [
      'an address that is to be confirmed',
      (p) => ({ email: `${p.username}@later.example` }),
      (p) => [{ change: 'unconfirmed email address', from: '', to: `${p.username}@later.example` }],
    ],
    ['a password', () => ({ password: 'quite another 1' }), () => [{ change: 'password' }]],
    [
      'a link to choose a password',
      () => ({ reset_password: true }),
      () => [{ custom_message: 'Ask for password reset' }],
    ],
    [
      'an identity',
      (p) => ({ provider: 'saml', extern_uid: `uid-${p.username}` }),
      (p) => [
        {
          add: 'identity',
          target_id: `uid-${p.username}`,
          target_type: 'Identity',
          target_details: 'saml',
        },
      ],
    ],
    [
      'several things at once',
      () => ({ name: 'Both', admin: true, bio: 'and what nobody is told' }),
      (p) => [
        { change: 'name', from: p.username, to: 'Both' },
        { change: 'admin status', from: 'false', to: 'true' },
      ],
    ],
    ['the profile alone', () => ({ bio: 'nothing of note', private_profile: true }), () => []],
    ['a name that is none, with a flag', () => ({ name: ' ', admin: true }), () => []],
    ['a username that is taken, with a flag', () => ({ username: 'root', admin: true }), () => []],
  ])('record changes of %s', async (_, json, details) => {
    const person = await newUser();
    const events = await recordedBy(service, () => asRoot('PUT', `/users/${person.id}`, json(person)));
    expect(events.sort(byChange)).toEqual(of(person)(...details(person)).sort(byChange));
  });

  test('record the value before and after each of several simultaneous changes', async () => {
    const person = await newUser();
    const names = ['Anna', 'Berta', 'Clara', 'Dora'];
    let done = 0;
    const events = await recordedBy(service, async () => {
      const all = names.map((name) => asRoot('PUT', `/users/${person.id}`, { name }));
      done = (await Promise.all(all)).filter(({ status }) => status === 200).length;
    });
    expect([events.length, done > 0]).toEqual([done, true]);
    const next = new Map(events.map((event) => [event['from'], event['to']]));
    let [name, steps] = [person.username as unknown, 0];
    for (; next.has(name); steps++) name = next.get(name);
    expect([steps, name]).toEqual([done, (await asRoot('GET', `/users/${person.id}`)).body.name]);
  });

  test('record the removal of an identity', async () => {
    const person = await newUser({ provider: 'ldap', extern_uid: 'x' });
    const path = `/users/${person.id}/identities/ldap`;
    const told = { remove: 'identity', target_id: 'x', target_type: 'Identity', target_details: 'ldap' };
    expect(await recordedBy(service, () => asRoot('DELETE', path))).toEqual(of(person)(told));
    expect(await recordedBy(service, () => asRoot('DELETE', path))).toEqual([]);
  });

  test('record that an address was confirmed', async () => {
    const person = await newUser({ skip_confirmation: false });
    const events = await recordedBy(service, () =>
      asRoot('PUT', `/users/${person.id}`, {
        email: `${person.username}@example.com`,
        skip_confirmation: true,
      }),
    );
    const address = email(person, `${person.username}@example.com`);
    expect(events).toEqual([{ by: 'Administrator', custom_message: 'Confirmed email', ...address }]);
  });

  test('record each block and unblock once, and nothing when the state does not change', async () => {
    const person = await newUser();
    for (const [action, told] of [
      ['block', 'Blocked user'],
      ['unblock', 'Unblocked user'],
      ['ban', 'Banned user'],
      ['unban', 'Unbanned user'],
      ['deactivate', 'Deactivated user'],
      ['activate', 'Activated user'],
    ] as const) {
      const once = () => asRoot('POST', `/users/${person.id}/${action}`);
      expect(await recordedBy(service, once), action).toEqual(of(person)({ custom_message: told }));
      expect(await recordedBy(service, once), `${action} again`).toEqual([]);
    }
    const itself = () => asRoot('POST', `/users/${root.id}/block`);
    expect(await recordedBy(service, itself)).toEqual([]);
  });

  test('record the approval or rejection of a sign-up', async () => {
    const store = storeOf();
    const asking = async () => {
      const person = await newUser();
      await store.users.update((await store.users.get(person.id))!, { state: 'blocked_pending_approval' });
      return person;
    };
    const let_in = await asking();
    const approve = () => asRoot('POST', `/users/${let_in.id}/approve`);
    const approved = of(let_in)({ custom_message: 'Instance access request approved' });
    expect(await recordedBy(service, approve)).toEqual(approved);
    expect(await recordedBy(service, approve)).toEqual([]);
    const turned = await asking();
    const reject = () => asRoot('POST', `/users/${turned.id}/reject`);
    const told = of(turned)({ custom_message: 'Instance access request rejected' }, { remove: 'user' });
    expect((await recordedBy(service, reject)).sort(byChange)).toEqual(told.sort(byChange));
    expect(await recordedBy(service, reject)).toEqual([]);
  });

  test('are not written when the caller lacks the permission', async () => {
    const [person, other] = [await newUser(), await newUser()];
    const events = await recordedBy(service, async () => {
      for (const [method, path, json] of [
        ['PUT', `/users/${other.id}`, { admin: true }],
        ['POST', `/users/${other.id}/block`],
        ['DELETE', `/users/${other.id}`],
        ['POST', '/users', { username: 'no', name: 'no', email: 'no@example.com', reset_password: true }],
        ['POST', `/users/${other.id}/keys`, { title: 'no', key: newSshKey() }],
      ] as const)
        expect((await as(person, method, path, json)).status).toBe(403);
    });
    expect(events).toEqual([]);
  });
});

describe('audit events of keys and email addresses', () => {
  type Kind = { readonly path: string; readonly noun: string; readonly make: () => Details };
  const KINDS: readonly Kind[] = [
    { path: 'keys', noun: 'SSH', make: () => ({ title: 'Laptop', key: newSshKey() }) },
    { path: 'gpg_keys', noun: 'GPG', make: () => ({ key: newPgpKey('x@example.com') }) },
  ];
  test.each(KINDS)(
    'record $noun keys added and removed by their owner and by an administrator',
    async ({ path, noun, make }) => {
      const person = await newUser();
      for (const [by, base, ask] of [
        [person.username, `/user/${path}`, as.bind(null, person)],
        ['Administrator', `/users/${person.id}/${path}`, asRoot],
      ] as const) {
        let id = 0;
        const json = make();
        const added = await recordedBy(service, async () => {
          id = (await ask('POST', base, json)).body.id;
        });
        const target_details = noun === 'SSH' ? 'Laptop' : expect.stringMatching(/^[0-9A-F]{16}$/);
        const told = (custom_message: string) => of(person, by)({ custom_message, target_details });
        expect(added).toEqual(told(`Added ${noun} key`));
        expect(await recordedBy(service, () => ask('POST', base, json)), 'taken').toEqual([]);
        expect(
          await recordedBy(service, () => ask('POST', base, { title: 'x', key: 'x' })),
          'no key',
        ).toEqual([]);
        const remove = () => ask('DELETE', `${base}/${id}`);
        expect(await recordedBy(service, remove)).toEqual(told(`Removed ${noun} key`));
        expect(await recordedBy(service, remove)).toEqual([]);
      }
    },
  );

  test('record the revocation of a GPG key as a removal', async () => {
    const person = await newUser();
    const { id } = (await as(person, 'POST', '/user/gpg_keys', { key: newPgpKey('y@example.com') })).body;
    const events = await recordedBy(service, () => as(person, 'POST', `/user/gpg_keys/${id}/revoke`));
    expect(events).toMatchObject([{ custom_message: 'Removed GPG key' }]);
  });

  test('record one event when two callers remove the same key', async () => {
    const person = await newUser();
    const { id } = (await as(person, 'POST', '/user/keys', { title: 'Once', key: newSshKey() })).body;
    const events = await recordedBy(service, async () => {
      const twice = [1, 2, 3].map(() => as(person, 'DELETE', `/user/keys/${id}`));
      expect((await Promise.all(twice)).map(({ status }) => status).sort()).toEqual([204, 404, 404]);
    });
    expect(events).toHaveLength(1);
  });

  test('record that an address was added, confirmed by its link, and removed', async () => {
    const person = await newUser();
    const address = `second-${person.username}@example.com`;
    const about = {
      of: `User ${person.id}`,
      target_id: address,
      target_type: 'Email',
      target_details: address,
    };
    let id = 0;
    const added = await recordedBy(service, async () => {
      id = (await as(person, 'POST', '/user/emails', { email: address })).body.id;
    });
    expect(added).toEqual([{ ...about, by: person.username, add: 'email' }]);
    const again = () => as(person, 'POST', '/user/emails', { email: address });
    expect(await recordedBy(service, again)).toEqual([]);
    const link = linkIn((await service.mailTo(address))[0]!.text!);
    const follow = () => posted(link, 'confirmation_token');
    const confirmed = await recordedBy(service, follow);
    // The reader of the mail sends no token.
    const nobody = 'An unauthenticated user';
    expect(confirmed).toEqual([{ ...about, by: nobody, custom_message: 'Confirmed email' }]);
    expect(await recordedBy(service, follow)).toEqual([]);
    const removed = await recordedBy(service, () => as(person, 'DELETE', `/user/emails/${id}`));
    expect(removed).toEqual([{ ...about, by: person.username, remove: 'email' }]);
  });

  test('record a new primary address only when its link is followed', async () => {
    const person = await newUser();
    const address = `next-${person.username}@example.com`;
    await asRoot('PUT', `/users/${person.id}`, { email: address });
    const link = linkIn((await service.mailTo(address))[0]!.text!);
    const events = await recordedBy(service, () => posted(link, 'confirmation_token'));
    const told = { change: 'email address', from: `${person.username}@example.com`, to: address };
    expect(events).toEqual(of(person, 'An unauthenticated user')(told));
  });

  test('record once that a password was set through a mailed link', async () => {
    const person = await newUser();
    await asRoot('PUT', `/users/${person.id}`, { reset_password: true });
    const mail = (await service.mailTo(`${person.username}@example.com`))[0]!;
    const link = linkIn(mail.text!);
    link.pathname = link.pathname.replace(/\/edit$/, '');
    const choose = () => posted(link, 'reset_password_token', { password: 'chosen by myself 1' });
    const told = of(person, 'An unauthenticated user')({ change: 'password' });
    expect(await recordedBy(service, choose)).toEqual(told);
    expect(await recordedBy(service, choose)).toEqual([]);
  });
});

describe('audit events of impersonated requests', () => {
  test('all name the administrator', async () => {
    const person = await newUser();
    const sudo = (method: string, path: string, json: unknown) =>
      service.call(method, path, { token: service.rootToken, json, headers: { Sudo: person.username } });
    const events = await recordedBy(service, async () => {
      expect((await sudo('POST', '/user/keys', { title: 'Theirs', key: newSshKey() })).status).toBe(201);
      expect(
        (await sudo('POST', '/user/emails', { email: `sudo-${person.username}@example.com` })).status,
      ).toBe(201);
    });
    expect(events.map(({ by }) => by)).toEqual([
      `root for ${person.username}`,
      `root for ${person.username}`,
    ]);
  });

  test('name the administrator for impersonation tokens too', async () => {
    const person = await newUser();
    const json = { name: 'As them', scopes: ['api'] };
    const { token } = (await asRoot('POST', `/users/${person.id}/impersonation_tokens`, json)).body;
    const key = { title: 'Theirs', key: newSshKey() };
    const events = await recordedBy(service, async () => {
      expect((await as({ ...person, token }, 'POST', '/user/keys', key)).status).toBe(201);
    });
    expect(events).toMatchObject([{ by: `root for ${person.username}`, of: `User ${person.id}` }]);
  });
});

describe('audit events of account deletion', () => {
  test('keep the account’s name, and its own earlier events keep the name it had', async () => {
    const person = await newUser();
    const other = await newUser();
    await as(person, 'POST', '/user/keys', { title: 'Kept in the record', key: newSshKey() });
    const project = (await as(person, 'POST', '/projects', { name: 'Own', path: 'own' })).body;
    const shared = (await as(other, 'POST', '/projects', { name: 'Shared', path: 'shared' })).body;
    await as(other, 'POST', `/projects/${shared.id}/members`, { user_id: person.id, access_level: 40 });
    const rule = { name: 'release/*' };
    expect((await as(person, 'POST', `/projects/${shared.id}/protected_branches`, rule)).status).toBe(201);
    const list = async (query: string) => (await asRoot('GET', `/audit_events?per_page=100&${query}`)).body;
    const [account, code] = [
      `entity_type=User&entity_id=${person.id}`,
      `entity_type=Project&entity_id=${shared.id}`,
    ];
    const before = { account: await list(account), code: await list(code) };

    const events = await recordedBy(service, async () => {
      expect((await asRoot('DELETE', `/users/${person.id}`)).status).toBe(204);
      await vi.waitFor(async () => {
        expect((await asRoot('GET', `/projects/${project.id}`)).status).toBe(404);
      }, 60_000);
    });
    // Their own project goes with them, in the name of who deleted them.
    expect(events).toEqual([
      ...of(person)({ remove: 'user' }),
      expect.objectContaining({ of: `Project ${project.id}`, by: 'Administrator', remove: 'project' }),
    ]);
    const after = { account: await list(account), code: await list(code) };
    expect(after.account.slice(1)).toEqual(before.account);
    expect(after.code).toEqual(before.code);
    const made = after.code.find(
      ({ details }: { details: Details }) => details['add'] === 'protected_branch',
    );
    expect([made.author_id, made.details.author_name]).toEqual([person.id, person.username]);
  });

  test('record one event for two simultaneous deletions', async () => {
    const person = await newUser();
    const events = await recordedBy(service, () =>
      Promise.all([1, 2, 3].map(() => asRoot('DELETE', `/users/${person.id}`))),
    );
    expect(events).toEqual(of(person)({ remove: 'user' }));
  });

  test('are not written for refused deletions: of oneself, or of a group’s only owner', async () => {
    const person = await newUser();
    await as(person, 'POST', '/groups', { name: 'Sole', path: `sole${count}` });
    const events = await recordedBy(service, async () => {
      expect((await asRoot('DELETE', `/users/${root.id}`)).status).toBe(403);
      expect((await asRoot('DELETE', `/users/${person.id}`)).status).toBe(409);
    });
    expect(events).toEqual([]);
  });
});

const byChange = (one: Told, other: Told) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);

const linkIn = (text: string): URL => new URL(/https?:\S+/.exec(text)![0]);

/** Sends what the form behind a mailed link does. */
async function posted(link: URL, name: string, more: Readonly<Record<string, string>> = {}): Promise<void> {
  const body = new URLSearchParams({ [name]: link.searchParams.get(name)!, ...more });
  await request(`${service.url}${link.pathname}`, 'POST', { body });
}
