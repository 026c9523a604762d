/** What notes and discussions refuse, on whatever they are written, and with what words. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import type { Who } from '../../harness/world.ts';

const { service, world, as } = ownWorld();

/** Things that can be noted on, which strangers do not see. */
const KINDS = ['an issue', 'a merge request', 'a snippet', 'an epic'] as const;
type Kind = (typeof KINDS)[number];

interface Place {
  readonly path: string;
  /** The same with the number of nothing. */
  readonly nothing: string;
  readonly note: number;
  readonly discussion: string;
}
const places: Partial<Record<Kind, Place>> = {};

const made = async (path: string, json: object) => {
  const { status, body } = await as('owner', 'POST', path, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
};

beforeAll(async () => {
  const group = await made('/groups', { name: 'words', path: 'words', visibility: 'private' });
  const at = `/projects/${world.ids['private']}`;
  for (const [who, access_level] of [
    ['guest', 10],
    ['developer', 30],
  ] as const)
    await made(`/groups/${group.id}/members`, { user_id: world.ids[who], access_level });
  const commit = (branch: string, start: object = {}) =>
    made(`${at}/repository/commits`, {
      ...{ branch, commit_message: branch, ...start },
      actions: [{ action: 'create', file_path: branch, content: 'x' }],
    });
  await commit('main');
  await commit('side', { start_branch: 'main' });
  const of = {
    'an issue': [`${at}/issues`, { title: 'x' }],
    'a merge request': [`${at}/merge_requests`, { title: 'x', source_branch: 'side', target_branch: 'main' }],
    'a snippet': [
      `${at}/snippets`,
      { title: 'x', visibility: 'private', files: [{ file_path: 'a', content: 'a' }] },
    ],
    'an epic': [`/groups/${group.id}/epics`, { title: 'x' }],
  } as const;
  for (const kind of KINDS) {
    const [list, json] = of[kind];
    const { id, iid } = await made(list, json);
    // Notes on epics are below their ids, as those on snippets.
    const path = `${list}/${kind === 'an epic' || kind === 'a snippet' ? id : iid}`;
    const { id: note } = await made(`${path}/notes`, { body: 'mine' });
    const { id: discussion } = await made(`${path}/discussions`, { body: 'ours' });
    places[kind] = { path, nothing: `${list}/999999`, note, discussion };
  }
});

const BLANK = { message: `400 Bad request - Note {:note=>["can't be blank"]}` };
const LONG = { message: '400 Bad request - Note {:note=>["is too long (maximum is 1000000 characters)"]}' };
const NO_NOTE = { message: '404 Note Not Found' };
const NO_DISCUSSION = { message: '404 Discussion Not Found' };
const long = 'ü'.repeat(1_000_001);
const unknown = 'f'.repeat(40);

/** Who asks for what, and is answered what. */
const TABLE: readonly (readonly [Who, string, object | undefined, number, object])[] = [
  ['anonymous', 'GET notes', undefined, 401, { message: '401 Unauthorized' }],
  ['anonymous', 'POST notes', { body: 'x' }, 401, { message: '401 Unauthorized' }],
  ['anonymous', 'GET discussions', undefined, 401, { message: '401 Unauthorized' }],
  ['owner', 'POST notes', {}, 400, { error: 'body is missing' }],
  ['owner', 'POST notes', { body: '' }, 400, BLANK],
  ['owner', 'POST notes', { body: ' \n' }, 400, BLANK],
  ['owner', 'POST notes', { body: long }, 400, LONG],
  ['owner', 'POST notes', { body: 'x', created_at: 'then' }, 400, { error: 'created_at is invalid' }],
  ['owner', 'GET notes?order_by=size', undefined, 400, { error: 'order_by does not have a valid value' }],
  [
    'owner',
    'GET notes?activity_filter=x',
    undefined,
    400,
    { error: 'activity_filter does not have a valid value' },
  ],
  ['owner', 'GET notes/x', undefined, 400, { error: 'note_id is invalid' }],
  ['owner', 'GET notes/999999999', undefined, 404, NO_NOTE],
  ['owner', 'PUT notes/999999999', { body: 'x' }, 404, NO_NOTE],
  ['owner', 'DELETE notes/999999999', undefined, 404, NO_NOTE],
  ['owner', 'PUT notes/:note', { body: '' }, 400, { error: 'body is empty' }],
  ['owner', 'PUT notes/:note', { body: '  ' }, 400, { error: 'body is empty' }],
  ['owner', 'PUT notes/:note', { body: long }, 400, LONG],
  ['developer', 'PUT notes/:note', { body: 'yours' }, 403, { message: '403 Forbidden' }],
  ['developer', 'DELETE notes/:note', undefined, 403, { message: '403 Forbidden' }],
  ['owner', 'POST discussions', {}, 400, { error: 'body is missing' }],
  ['owner', 'POST discussions', { body: ' ' }, 400, BLANK],
  ['owner', 'POST discussions', { body: long }, 400, LONG],
  ['owner', 'GET discussions/nope', undefined, 404, NO_DISCUSSION],
  ['owner', `GET discussions/${unknown}`, undefined, 404, NO_DISCUSSION],
  ['owner', `POST discussions/${unknown}/notes`, { body: 'x' }, 404, NO_DISCUSSION],
  ['owner', 'POST discussions/:discussion/notes', {}, 400, { error: 'body is missing' }],
  ['owner', 'POST discussions/:discussion/notes', { body: ' ' }, 400, BLANK],
  ['owner', 'GET discussions/:discussion/notes/:note', undefined, 404, NO_NOTE],
  ['owner', 'PUT discussions/:discussion/notes/:note', { body: 'x' }, 404, NO_NOTE],
  ['owner', 'DELETE discussions/:discussion/notes/:note', undefined, 404, NO_NOTE],
];

describe.each(KINDS)('notes on %s', (kind) => {
  const at = (text: string) => {
    const { path, note, discussion } = places[kind]!;
    const [method, rest] = text.split(' ') as [string, string];
    const below = rest.replace(':discussion', discussion).replace(':note', String(note));
    return [method, `${path}/${below}`] as const;
  };

  test('are refused with the words of the product', async () => {
    for (const [who, request, json, status, body] of TABLE) {
      const answer = await as(who, ...at(request), json);
      expect([who, request, answer.status, answer.body]).toEqual([who, request, status, body]);
    }
  });

  test('are nowhere for those who do not see what they are on, nor on what there is not', async () => {
    const { path, nothing } = places[kind]!;
    const hidden = { message: kind === 'an epic' ? '404 Group Not Found' : '404 Project Not Found' };
    for (const [who, place, body] of [
      ['stranger', path, hidden],
      ['owner', nothing, { message: '404 Not found' }],
    ] as const)
      for (const [method, below] of [
        ['GET', 'notes'],
        ['POST', 'notes'],
        ['GET', 'notes/1'],
        ['PUT', 'notes/1'],
        ['DELETE', 'notes/1'],
        ['GET', 'discussions'],
        ['POST', 'discussions'],
        ['GET', `discussions/${unknown}`],
        ['POST', `discussions/${unknown}/notes`],
      ] as const) {
        const json = method === 'POST' || method === 'PUT' ? { body: 'x' } : undefined;
        const answer = await as(who, method, `${place}/${below}`, json);
        expect([who, method, below, answer.status, answer.body]).toEqual([who, method, below, 404, body]);
      }
  });

  test('are not deleted when they were changed since', async () => {
    const { path, note, discussion } = places[kind]!;
    const headers = { 'If-Unmodified-Since': 'Mon, 01 Jan 2001 00:00:00 GMT' };
    const [{ id }] = (await as('owner', 'GET', `${path}/discussions/${discussion}`)).body.notes;
    for (const each of [`${path}/notes/${note}`, `${path}/discussions/${discussion}/notes/${id}`]) {
      const answer = await service.call('DELETE', each, { token: world.tokens.owner!, headers });
      expect([answer.status, answer.body]).toEqual([412, { message: '412 Precondition Failed' }]);
      expect((await as('owner', 'GET', each)).status).toBe(200);
    }
  });
});

test('notes on an issue are refused where it is locked, or only Reporters may write so', async () => {
  const { path, note, discussion } = places['an issue']!;
  const [{ id }] = (await as('owner', 'GET', `${path}/discussions/${discussion}`)).body.notes;
  const forbidden = { message: '403 Forbidden' };
  const issues = `/projects/${world.ids['public']}/issues`;
  const { iid } = await made(issues, { title: 'locked', discussion_locked: true });
  const { id: thread } = await made(`${issues}/${iid}/discussions`, { body: 'ours' });
  for (const [who, method, at, json, status, body] of [
    ['stranger', 'POST', `${issues}/${iid}/notes`, { body: 'x' }, 403, forbidden],
    ['stranger', 'POST', `${issues}/${iid}/notes`, { body: ':tada:' }, 403, forbidden],
    ['stranger', 'POST', `${issues}/${iid}/notes`, { body: '/todo' }, 403, forbidden],
    ['stranger', 'POST', `${issues}/${iid}/discussions`, { body: 'x' }, 403, forbidden],
    ['stranger', 'POST', `${issues}/${iid}/discussions/${thread}/notes`, { body: 'x' }, 403, forbidden],
    ['guest', 'POST', `${path}/notes`, { body: 'x', confidential: true }, 403, forbidden],
    [
      ...['owner', 'PUT', `${path}/notes/${note}`],
      ...[{ body: 'x', confidential: true }, 400],
      { message: '400 Bad request - Note {:confidential=>["can not be changed for existing notes"]}' },
    ],
    [
      ...['owner', 'PUT', `${path}/discussions/${discussion}/notes/${id}`, { resolved: true }, 400],
      { message: '400 Bad request - Note is not resolvable' },
    ],
    [
      ...['owner', 'PUT', `${path}/discussions/${discussion}/notes/${id}`, {}, 400],
      { error: 'body, resolved are missing, exactly one parameter must be provided' },
    ],
    [
      ...[
        'owner',
        'PUT',
        `${path}/discussions/${discussion}/notes/${id}`,
        { body: 'x', resolved: true },
        400,
      ],
      { error: 'body, resolved are mutually exclusive' },
    ],
    ['owner', 'POST', `${path}/notes`, { body: '/relate #99999' }, 400, { message: expect.anything() }],
  ] as [Who, string, string, object, number, object][]) {
    const answer = await as(who, method, at, json);
    expect([who, method, at, json, answer.status, answer.body]).toEqual([
      who,
      method,
      at,
      json,
      status,
      body,
    ]);
  }
});
