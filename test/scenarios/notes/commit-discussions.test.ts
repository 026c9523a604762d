import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAX_NOTE_LENGTH } from '../../../lib/records/notes.ts';
import { eventsPartition } from '../../../lib/store/row-keys/events.ts';
import { expectSchema } from '../../harness/schemas.ts';
import { type Service, startService } from '../../harness/service.ts';
import { ask, makeWorld, type World } from '../../harness/world.ts';
import { type Pushed, pushedProject } from '../repository/pushed-project.ts';

let service: Service;
let world: World;
let project: Pushed;
let at: string;
beforeAll(async () => {
  service = await startService();
  world = await makeWorld(service);
  project = await pushedProject(service, { username: 'owner', token: world.tokens.owner! }, 'talk', (git) =>
    git.feed(
      'commit refs/heads/main\ncommitter C <c@example.com> 1600000000 +0000\ndata 1\n1\nM 100644 inline a\ndata 2\na\n',
      'fast-import',
      '--quiet',
    ),
  );
  at = `/projects/${project.id}/repository/commits/main/discussions`;
});
afterAll(async () => {
  project.git[Symbol.dispose]();
  await service.stop();
});

const told = ({ body }: { body: { notes: { body: string }[] }[] }) =>
  body.map(({ notes }) => notes.map((note) => note.body));
// The schema is of a release without `attachment`, of noteables that have numbers, and of authors with avatars.
const inSchema = ({ attachment: _a, commit_id: _c, author, ...note }: Record<string, unknown>) => ({
  ...note,
  author: { ...(author as object), avatar_url: 'https://example.com/a' },
  noteable_id: 0,
  noteable_iid: 0,
});

test('a discussion of a commit takes replies, in order, and its notes are changed and deleted', async () => {
  const started = await ask(world, 'owner', 'POST', at, { body: 'one' });
  expect(started.status).toBe(201);
  expect(started.body).toMatchObject({ id: expect.stringMatching(/^[0-9a-f]{40}$/), individual_note: false });
  const [first] = started.body.notes;
  expect(first).toMatchObject({
    type: 'DiscussionNote',
    body: 'one',
    noteable_type: 'Commit',
    commit_id: project.git.oid('main'),
    resolvable: false,
  });
  expectSchema('notes', [inSchema(first)]);

  const discussion = `${at}/${started.body.id}`;
  const second = await ask(world, 'administrator', 'POST', `${discussion}/notes`, { body: 'two' });
  expect([second.status, second.body.type, second.body.author.username]).toEqual([
    201,
    'DiscussionNote',
    'root',
  ]);
  const third = await ask(world, 'owner', 'POST', `${discussion}/notes`, { body: 'three' });
  const other = await ask(world, 'owner', 'POST', at, { body: 'other' });
  expect(told(await service.call('GET', at, { token: world.tokens.owner! }))).toEqual([
    ['one', 'two', 'three'],
    ['other'],
  ]);

  const note = `${discussion}/notes/${second.body.id}`;
  const changed = await ask(world, 'administrator', 'PUT', note, { body: 'zwei' });
  expect([changed.status, changed.body.body]).toEqual([200, 'zwei']);
  const shown = await ask(world, 'owner', 'GET', note);
  expect(shown.body.body).toBe('zwei');
  expect(Date.parse(shown.body.updated_at)).toBeGreaterThan(Date.parse(shown.body.created_at));

  // Without its first note, the discussion goes on under the same id.
  expect((await ask(world, 'owner', 'DELETE', `${discussion}/notes/${first.id}`)).status).toBe(204);
  const rest = await ask(world, 'owner', 'GET', discussion);
  expect(rest.body.notes.map((each: { body: string }) => each.body)).toEqual(['zwei', 'three']);
  for (const { body } of [second, third])
    expect((await ask(world, 'owner', 'DELETE', `${discussion}/notes/${body.id}`)).status).toBe(204);
  expect((await ask(world, 'owner', 'GET', discussion)).status).toBe(404);
  const left = await service.call('GET', at, { token: world.tokens.owner! });
  expect([told(left), left.headers.get('x-total')]).toEqual([[['other']], '1']);
  expect(
    (await ask(world, 'owner', 'DELETE', `${at}/${other.body.id}/notes/${other.body.notes[0].id}`)).status,
  ).toBe(204);
});

test('a comment on a commit is an individual note among its discussions, and takes no replies', async () => {
  const comments = at.replace(/discussions$/, 'comments');
  expect((await ask(world, 'owner', 'POST', comments, { note: 'alone' })).status).toBe(201);
  const { body } = await ask(world, 'owner', 'GET', at);
  expect(body).toMatchObject([{ individual_note: true, notes: [{ type: null, body: 'alone' }] }]);
  const reply = await ask(world, 'owner', 'POST', `${at}/${body[0].id}/notes`, { body: 'no' });
  expect([reply.status, reply.body]).toEqual([
    400,
    { message: '400 Bad request - Discussion can not be replied to.' },
  ]);
  expect(
    (await ask(world, 'owner', 'DELETE', `${at}/${body[0].id}/notes/${body[0].notes[0].id}`)).status,
  ).toBe(204);
  expect((await ask(world, 'owner', 'GET', comments)).body).toEqual([]);
});

test('pages of discussions hold whole discussions', async () => {
  for (let n = 0; n < 5; n++) {
    const { body } = await ask(world, 'owner', 'POST', at, { body: `d${n}` });
    await ask(world, 'owner', 'POST', `${at}/${body.id}/notes`, { body: `r${n}` });
  }
  const page = await ask(world, 'owner', 'GET', `${at}?per_page=2&page=2`);
  expect(told(page)).toEqual([
    ['d2', 'r2'],
    ['d3', 'r3'],
  ]);
  expect([page.headers.get('x-total'), page.headers.get('x-next-page')]).toEqual(['5', '3']);
});

test('everybody who replies at once is in the discussion', async () => {
  const { body } = await ask(world, 'owner', 'POST', at, { body: 'now' });
  const replies = Array.from({ length: 8 }, (_, n) =>
    ask(world, 'owner', 'POST', `${at}/${body.id}/notes`, { body: `at once ${n}` }),
  );
  for (const { status } of await Promise.all(replies)) expect(status).toBe(201);
  const { body: found } = await ask(world, 'owner', 'GET', `${at}/${body.id}`);
  expect(found.notes.map((note: { body: string }) => note.body).sort()).toEqual(
    ['now', ...replies.map((_, n) => `at once ${n}`)].sort(),
  );
});

test('of discussions is refused what is invalid, and found what exists', async () => {
  const { body: own } = await ask(world, 'owner', 'POST', at, { body: 'own' });
  const noteId = own.notes[0].id;
  const discussion = `${at}/${own.id}`;
  const cases: [string, string, object | undefined, number, object][] = [
    ['POST', at, {}, 400, { error: 'body is missing' }],
    ['POST', at, { body: ' ' }, 400, { message: `400 Bad request - Note {:note=>["can't be blank"]}` }],
    [
      'POST',
      at,
      { body: 'é'.repeat(MAX_NOTE_LENGTH + 1) },
      400,
      { message: '400 Bad request - Note {:note=>["is too long (maximum is 1000000 characters)"]}' },
    ],
    ['POST', at.replace('main', 'nope'), { body: 'x' }, 404, { message: '404 Commit Not Found' }],
    ['GET', `${at}/nope`, undefined, 404, { message: '404 Discussion Not Found' }],
    ['GET', `${at}/${'0'.repeat(40)}`, undefined, 404, { message: '404 Discussion Not Found' }],
    ['POST', `${at}/${'f'.repeat(40)}/notes`, { body: 'x' }, 404, { message: '404 Discussion Not Found' }],
    ['GET', `${discussion}/notes/999999`, undefined, 404, { message: '404 Note Not Found' }],
    ['PUT', `${discussion}/notes/999999`, { body: 'x' }, 404, { message: '404 Note Not Found' }],
    ['PUT', `${discussion}/notes/${noteId}`, { body: '' }, 400, { error: 'body is empty' }],
    [
      'PUT',
      `${discussion}/notes/${noteId}`,
      {},
      400,
      { error: 'body, resolved are missing, exactly one parameter must be provided' },
    ],
    [
      'PUT',
      `${discussion}/notes/${noteId}`,
      { resolved: true },
      400,
      { message: '400 Bad request - Note is not resolvable' },
    ],
    ['DELETE', `${discussion}/notes/999999`, undefined, 404, { message: '404 Note Not Found' }],
  ];
  for (const [method, path, json, status, body] of cases) {
    const answer = await ask(world, 'owner', method, path, json);
    expect([method, path, answer.status, answer.body]).toEqual([method, path, status, body]);
  }
  const since = { 'If-Unmodified-Since': 'Mon, 01 Jan 2001 00:00:00 GMT' };
  const late = await service.call('DELETE', `${discussion}/notes/${noteId}`, {
    token: world.tokens.owner!,
    headers: since,
  });
  expect([late.status, late.body]).toEqual([412, { message: '412 Precondition Failed' }]);
});

test('an owner chooses when a note was written, others do not', async () => {
  const created_at = '2020-02-29T12:00:00Z';
  const own = await ask(world, 'owner', 'POST', at, { body: 'then', created_at });
  expect(own.body.notes[0].created_at).toBe('2020-02-29T12:00:00.000Z');
  await service.call('PUT', `/projects/${project.id}`, {
    token: world.tokens.owner!,
    json: { visibility: 'public' },
  });
  const reply = await ask(world, 'stranger', 'POST', `${at}/${own.body.id}/notes`, {
    body: 'now',
    created_at,
  });
  expect([reply.status, reply.body.created_at > '2021']).toEqual([201, true]);
});

test('the event of a note goes with the note', async () => {
  const { body } = await ask(world, 'owner', 'POST', at, { body: 'said and gone' });
  const events = async () => {
    const feed = await ask(
      world,
      'owner',
      'GET',
      `/projects/${project.id}/events?action=commented&per_page=100`,
    );
    return feed.body.filter(({ target_id }: { target_id: number }) => target_id === body.notes[0].id);
  };
  expect(await events()).toMatchObject([{ target_type: 'DiscussionNote', note: { body: 'said and gone' } }]);
  await ask(world, 'owner', 'DELETE', `${at}/${body.id}/notes/${body.notes[0].id}`);
  const rows = world.store.table.queryAll({
    partition: eventsPartition({ kind: 'project', id: project.id }),
  });
  for await (const { target } of rows) expect(target).not.toMatchObject({ id: body.notes[0].id });
});
