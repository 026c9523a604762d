/** What is recorded of tokens of every kind: made, revoked, rotated, and attempts at it that were refused. */
import { beforeAll, describe, expect, test } from 'vitest';
import { recordedBy, type Told } from '../../harness/audit.ts';
import { ownService } from '../../harness/own-service.ts';
import type { Answer } from '../../harness/service.ts';

interface Person {
  readonly id: number;
  readonly username: string;
  readonly token: string;
}

const service = ownService();
let ada: Person;
let eve: Person;
let project: { readonly id: number; readonly path_with_namespace: string };
let group: { readonly id: number; readonly full_path: string };
beforeAll(async () => {
  [ada, eve] = await Promise.all([service.user('ada'), service.user('eve')]);
  project = (await as(ada, 'POST', '/projects', { name: 'Thing', visibility: 'public' })).body;
  group = (await as(ada, 'POST', '/groups', { name: 'Club', path: 'club', visibility: 'public' })).body;
});

const call = (token: string, method: string, path: string, json?: unknown): Promise<Answer> =>
  service.call(method, path, { token, ...(json === undefined ? {} : { json }) });
const as = ({ token }: Person, method: string, path: string, json?: unknown) =>
  call(token, method, path, json);
const asRoot = (method: string, path: string, json?: unknown) => call(service.rootToken, method, path, json);

/** Something that was made, with the events of that. */
async function making(work: () => Promise<Answer>): Promise<{ made: Answer['body']; events: Told[] }> {
  let answer: Answer | undefined;
  const events = await recordedBy(service, async () => {
    answer = await work();
  });
  expect(answer!.status).toBe(201);
  return { made: answer!.body, events };
}

const about = (
  of: string,
  by: string,
  token: { id: number; name: string },
  custom_message: string,
): Told => ({
  of,
  by,
  custom_message,
  target_id: token.id,
  target_type: 'PersonalAccessToken',
  target_details: token.name,
});
const attempt = (of: string, by: string, target: object, custom_message: string): Told => ({
  of,
  by,
  custom_message,
  ...target,
});
const target = (type: string, id: number, path: string) => ({
  target_id: id,
  target_type: type,
  target_details: path,
});
const input = { name: 'Script', scopes: ['api', 'read_user'] };

describe('audit events of personal and impersonation tokens', () => {
  test.each([
    ['personal_access_tokens', 'personal access token'],
    ['impersonation_tokens', 'impersonation token'],
  ])('%s: record creation, refusal and revocation', async (path, kind) => {
    const base = `/users/${eve.id}/${path}`;
    const of = `User ${eve.id}`;
    const { made, events } = await making(() => asRoot('POST', base, input));
    const told = (message: string) => [about(of, 'Administrator', made, message)];
    expect(events).toEqual(told(`Created ${kind} with id ${made.id} with scopes: api, read_user`));

    const refused = await recordedBy(service, async () => {
      const { status } = await asRoot('POST', base, { ...input, name: ' ' });
      expect(status).toBe(kind === 'impersonation token' ? 400 : 422);
    });
    expect(refused).toEqual([
      attempt(
        of,
        'Administrator',
        target('User', eve.id, 'eve'),
        expect.stringMatching(
          new RegExp(`^Attempted to create ${kind} but failed with message: [Nn]ame can't be blank$`),
        ),
      ),
    ]);
    const absent = () => asRoot('POST', `/users/999999/${path}`, input);
    expect(await recordedBy(service, absent), 'of nobody').toEqual([]);

    const one = kind === 'impersonation token' ? `${base}/${made.id}` : `/personal_access_tokens/${made.id}`;
    const revoke = () => asRoot('DELETE', one);
    expect(await recordedBy(service, revoke)).toEqual(told(`Revoked ${kind} with id ${made.id}`));
    expect(await recordedBy(service, revoke), 'twice is as good as once').toEqual([]);
  });

  test('record revocation by the owner and by another user, who is not shown the token', async () => {
    const { made } = await making(() => asRoot('POST', `/users/${ada.id}/personal_access_tokens`, input));
    const other = () => as(eve, 'DELETE', `/personal_access_tokens/${made.id}`);
    const failed = 'but failed with message: 400 Bad request';
    const refused = `Attempted to revoke personal access token with id ${made.id} ${failed}`;
    expect(await recordedBy(service, other)).toEqual([
      attempt(`User ${ada.id}`, 'eve', target('User', ada.id, 'ada'), refused),
    ]);
    const nothing = () => as(eve, 'DELETE', '/personal_access_tokens/999999');
    expect(await recordedBy(service, nothing)).toEqual([]);
    const self = () => call(made.token, 'DELETE', '/personal_access_tokens/self');
    const revoked = `Revoked personal access token with id ${made.id}`;
    expect(await recordedBy(service, self)).toEqual([about(`User ${ada.id}`, 'ada', made, revoked)]);
    expect(await recordedBy(service, self)).toEqual([]);
  });

  test('record one event when a token is revoked several times at once', async () => {
    const { made } = await making(() => asRoot('POST', `/users/${eve.id}/personal_access_tokens`, input));
    const events = await recordedBy(service, async () => {
      const all = [1, 2, 3, 4].map(() => asRoot('DELETE', `/personal_access_tokens/${made.id}`));
      expect((await Promise.all(all)).map(({ status }) => status)).toEqual([204, 204, 204, 204]);
    });
    expect(events).toHaveLength(1);
  });

  test('record a rotation, and the revocation of the successor when an old token is reused', async () => {
    const { made } = await making(() => asRoot('POST', `/users/${eve.id}/personal_access_tokens`, input));
    const rotate = (token: string) => call(token, 'POST', '/personal_access_tokens/self/rotate');
    let next: Answer['body'];
    const rotated = await recordedBy(service, async () => {
      next = (await rotate(made.token)).body;
    });
    const message = `Rotated personal access token with id ${made.id}, replaced by id ${next!.id}`;
    expect(rotated).toEqual([about(`User ${eve.id}`, 'eve', made, message)]);
    // An unknown caller has the old text.
    const reused = await recordedBy(service, async () => {
      expect((await rotate(made.token)).status).toBe(401);
    });
    const why = `token ${made.id}, whose place it took, was used to rotate`;
    const told = `Revoked personal access token with id ${next!.id}: ${why}`;
    expect(reused).toEqual([about(`User ${eve.id}`, '(System)', next!, told)]);
    expect(await recordedBy(service, () => rotate(made.token))).toEqual([]);
  });

  test('record one event for simultaneous rotations, and none for an expiry in the past', async () => {
    const { made } = await making(() => asRoot('POST', `/users/${ada.id}/personal_access_tokens`, input));
    const rotate = (json: object) => as(ada, 'POST', `/personal_access_tokens/${made.id}/rotate`, json);
    const past = () => rotate({ expires_at: '2001-01-01' });
    expect(await recordedBy(service, past)).toEqual([]);
    const events = await recordedBy(service, async () => {
      const statuses = (await Promise.all([1, 2, 3].map(() => rotate({})))).map(({ status }) => status);
      expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(1);
    });
    const said = events.map((event) => String(event['custom_message']).split(' ')[0]);
    // Who comes after the first has read it revoked, or loses: the former ends the family.
    expect(said.filter((word) => word === 'Rotated')).toHaveLength(1);
    expect(said.length).toBeLessThanOrEqual(2);
  });

  test('record at most twenty refusals a minute per author', async () => {
    const mallory = await service.user('mallory');
    const { made } = await making(() => asRoot('POST', `/users/${ada.id}/personal_access_tokens`, input));
    const events = await recordedBy(service, async () => {
      for (let n = 0; n < 41; n++) await as(mallory, 'DELETE', `/personal_access_tokens/${made.id}`);
    });
    // A minute may end in between.
    expect(events.length).toBeGreaterThanOrEqual(20);
    expect(events.length).toBeLessThan(41);
  });
});

describe.each(['project', 'group'] as const)('audit events of tokens of a %s', (kind) => {
  const place = () =>
    kind === 'project'
      ? { id: project.id, path: project.path_with_namespace, type: 'Project' }
      : { id: group.id, path: group.full_path, type: 'Group' };
  const base = () => `/${kind}s/${place().id}`;
  const of = () => `${place().type} ${place().id}`;
  const itself = () => target(place().type, place().id, place().path);

  test('record creation, rotation and revocation of access tokens, without their bots’ memberships', async () => {
    const json = { name: 'Robot', scopes: ['api', 'read_api'], access_level: 30 };
    const { made, events } = await making(() => as(ada, 'POST', `${base()}/access_tokens`, json));
    const which = (id: number) => `${kind} access token with token_id: ${id}`;
    const told = (token: { id: number; name: string }, message: string, by = 'ada') => [
      about(of(), by, token, message),
    ];
    expect(events).toEqual(told(made, `Created ${which(made.id)} with scopes: api, read_api`));
    let next: Answer['body'];
    const rotated = await recordedBy(service, async () => {
      next = (await as(ada, 'POST', `${base()}/access_tokens/${made.id}/rotate`)).body;
    });
    expect(rotated).toEqual(told(made, `Rotated ${which(made.id)}, replaced by id ${next!.id}`));
    const revoke = () => as(ada, 'DELETE', `${base()}/access_tokens/${next!.id}`);
    expect(await recordedBy(service, revoke)).toEqual(told(next!, `Revoked ${which(next!.id)}`));
    expect(await recordedBy(service, revoke)).toEqual([]);
  });

  test('record that a bot revoked its own token', async () => {
    const json = { name: 'Robot', scopes: ['api'] };
    const { made } = await making(() => as(ada, 'POST', `${base()}/access_tokens`, json));
    const events = await recordedBy(service, () =>
      call(made.token, 'DELETE', '/personal_access_tokens/self'),
    );
    const message = `Revoked ${kind} access token with token_id: ${made.id}`;
    expect(events).toEqual([about(of(), 'Robot', made, message)]);
  });

  test.each([
    ['a stranger makes one', () => eve, { name: 'x', scopes: ['api'] }, /does not have permission to create/],
    ['a day in the past', () => ada, { name: 'x', scopes: ['api'], expires_at: '2001-01-01' }, /in the past/],
  ])('record why an access token was refused: %s', async (_, who, json, why) => {
    const events = await recordedBy(service, async () => {
      expect((await as(who(), 'POST', `${base()}/access_tokens`, json)).status).toBe(400);
    });
    const message = new RegExp(`^Attempted to create ${kind} access token but failed with .*${why.source}`);
    expect(events).toEqual([attempt(of(), who().username, itself(), expect.stringMatching(message))]);
  });

  test('record who else revoked an access token', async () => {
    const { made } = await making(() =>
      as(ada, 'POST', `${base()}/access_tokens`, { name: 'x', scopes: ['api'] }),
    );
    const events = await recordedBy(service, async () => {
      expect((await as(eve, 'DELETE', `${base()}/access_tokens/${made.id}`)).status).toBe(401);
    });
    const failed = 'but failed with message: 401 Unauthorized';
    const message = `Attempted to revoke ${kind} access token with token_id: ${made.id}, ${failed}`;
    expect(events).toEqual([attempt(of(), 'eve', itself(), message)]);
  });

  test('record deploy tokens that are created, refused and, once, deleted', async () => {
    const json = { name: 'Reader', scopes: ['read_repository'] };
    const { made, events } = await making(() => as(ada, 'POST', `${base()}/deploy_tokens`, json));
    const which = `with name: Reader with token_id: ${made.id} with scopes: read_repository`;
    const told = (verb: string) => [
      attempt(of(), 'ada', target('DeployToken', made.id, 'Reader'), `${verb} ${kind} deploy token ${which}`),
    ];
    expect(events).toEqual(told('Created'));
    const refused = await recordedBy(service, () =>
      as(ada, 'POST', `${base()}/deploy_tokens`, { ...json, username: 'no good!' }),
    );
    const message = new RegExp(
      `^Attempted to create ${kind} deploy token but failed with message: username can`,
    );
    expect(refused).toEqual([attempt(of(), 'ada', itself(), expect.stringMatching(message))]);
    const remove = () => as(ada, 'DELETE', `${base()}/deploy_tokens/${made.id}`);
    expect(await recordedBy(service, () => Promise.all([1, 2, 3].map(remove)))).toEqual(told('Destroyed'));
    expect(await recordedBy(service, remove)).toEqual([]);
  });
});

describe('audit events of the first administrator', () => {
  test('record the account and its initial token as created by the operator', async () => {
    const { body } = await asRoot('GET', '/audit_events?entity_type=User&entity_id=1&per_page=100');
    const events = body as { details: Record<string, unknown>; author_id: number }[];
    const first = events.filter(({ details }) => details['author_name'] === '(Operator)');
    expect(first.map(({ details }) => details['add'] ?? details['custom_message']).sort()).toEqual([
      expect.stringMatching(/^Created personal access token with id \d+ with scopes: api, /),
      'user',
    ]);
  });
});
