import { describe, expect, test } from 'vitest';
import { eventsPartition } from '../../../lib/store/row-keys/events.ts';
import { notesOfHolder, threadsOfHolder } from '../../../lib/store/row-keys/notes.ts';
import { TEXTS } from '../../../lib/store/texts/texts.ts';
import { mailTo } from '../../harness/mail.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { expectSchema } from '../../harness/schemas.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';

const { service, world, as } = ownWorld();

const project = () => `/projects/${world.ids['public']}`;

/** @returns the path of a new issue, and the issue */
async function issue(json: object = {}, who: Who = 'owner', at = project()) {
  const { status, body } = await as(who, 'POST', `${at}/issues`, { title: 'Talk', ...json });
  expect(status, JSON.stringify(body)).toBe(201);
  return { path: `${at}/issues/${body.iid}`, ...(body as { id: number; iid: number }) };
}

const texts = ({ body }: { body: { body: string }[] }) => body.map((note) => note.body);
const said = async (who: Who, path: string, json: object) => {
  const answer = await as(who, 'POST', `${path}/notes`, json);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body as { id: number; updated_at: string; created_at: string };
};
/** The schema is of a later release, without `attachment`, whose people always have an avatar. */
const inSchema = ({ attachment: _a, author, ...note }: Record<string, unknown>) => ({
  ...note,
  author: { ...(author as object), avatar_url: 'https://example.com/a' },
});

describe('notes on an issue', () => {
  test('are listed newest first, by creation or last change, in pages with totals', async () => {
    const { path, id, iid } = await issue();
    const notes = [];
    for (const body of ['one', 'two', 'three', 'four']) notes.push(await said('owner', path, { body }));
    expect(texts(await as('owner', 'GET', `${path}/notes`))).toEqual(['four', 'three', 'two', 'one']);
    expect(texts(await as('owner', 'GET', `${path}/notes?sort=asc`))).toEqual([
      'one',
      'two',
      'three',
      'four',
    ]);
    const page = await as('owner', 'GET', `${path}/notes?sort=asc&per_page=3&page=2`);
    expect([texts(page), page.headers.get('x-total')]).toEqual([['four'], '4']);

    const changed = await as('owner', 'PUT', `${path}/notes/${notes[1]!.id}`, { body: 'zwei' });
    expect([changed.status, changed.body.body]).toEqual([200, 'zwei']);
    const byChange = await as('owner', 'GET', `${path}/notes?order_by=updated_at`);
    expect(texts(byChange)).toEqual(['zwei', 'four', 'three', 'one']);
    expectSchema('notes', byChange.body.map(inSchema));
    expect(byChange.body[0]).toMatchObject({
      ...{ type: null, system: false, confidential: false, resolvable: false, commands_changes: {} },
      ...{ noteable_id: id, noteable_iid: iid, noteable_type: 'Issue', attachment: null },
      author: { username: 'owner' },
    });
    expect((await as('owner', 'GET', path)).body.user_notes_count).toBe(4);
    expect((await as('owner', 'DELETE', `${path}/notes/${notes[0]!.id}`)).status).toBe(204);
    expect((await as('owner', 'GET', path)).body.user_notes_count).toBe(3);
    expect((await as('owner', 'GET', `${path}/notes/${notes[0]!.id}`)).body).toEqual({
      message: '404 Note Not Found',
    });
    expect(texts(await as('owner', 'GET', `${path}/notes?activity_filter=only_activity`))).toEqual([]);
    expect(texts(await as('owner', 'GET', `${path}/notes?activity_filter=only_comments`))).toHaveLength(3);
  });

  test('of ten who write at once are all there, and all counted', async () => {
    const { path } = await issue();
    await Promise.all(Array.from({ length: 10 }, (_, n) => said('owner', path, { body: `n${n}` })));
    const { body, headers } = await as('owner', 'GET', `${path}/notes`);
    expect([body.length, headers.get('x-total')]).toEqual([10, '10']);
    expect((await as('owner', 'GET', path)).body.user_notes_count).toBe(10);
  });

  test('need a caller, and an issue that the caller sees', async () => {
    const open = await issue();
    expect((await service.call('GET', `${open.path}/notes`)).status).toBe(401);
    const hidden = await issue({ confidential: true });
    for (const path of [hidden.path, `${project()}/issues/99999`]) {
      for (const [method, below] of [
        ['GET', 'notes'],
        ['POST', 'notes'],
        ['GET', 'discussions'],
        ['POST', 'discussions'],
      ] as const) {
        const { status, body } = await as(
          'guest',
          method,
          `${path}/${below}`,
          method === 'POST' ? { body: 'x' } : undefined,
        );
        expect([method, below, status, body]).toEqual([method, below, 404, { message: '404 Not found' }]);
      }
    }
  });

  test('are refused where they are invalid', async () => {
    const { path } = await issue();
    const { id } = await said('owner', path, { body: 'mine' });
    const blank = { message: `400 Bad request - Note {:note=>["can't be blank"]}` };
    for (const [method, at, json, status, body] of [
      ['POST', 'notes', {}, 400, { error: 'body is missing' }],
      ['POST', 'notes', { body: ' ' }, 400, blank],
      ['PUT', `notes/${id}`, { body: '' }, 400, { error: 'body is empty' }],
      ['GET', 'notes?sort=up', undefined, 400, { error: 'sort does not have a valid value' }],
      ['GET', 'notes/nan', undefined, 400, { error: 'note_id is invalid' }],
    ] as const) {
      const answer = await as('owner', method, `${path}/${at}`, json);
      expect([at, answer.status, answer.body]).toEqual([at, status, body]);
    }
    const others = await as('guest', 'PUT', `${path}/notes/${id}`, { body: 'yours' });
    expect([others.status, others.body]).toEqual([403, { message: '403 Forbidden' }]);
    const secret = await as('owner', 'PUT', `${path}/notes/${id}`, { confidential: true });
    const changed = 'Note {:confidential=>["can not be changed for existing notes"]}';
    expect(secret).toMatchObject({ status: 400, body: { message: `400 Bad request - ${changed}` } });
    const same = await as('owner', 'PUT', `${path}/notes/${id}`, { confidential: false });
    expect(same).toMatchObject({ status: 200, body: { confidential: false } });
  });

  test('have authors with the address that they show to everyone, and since when they are there', async () => {
    const { path } = await issue();
    const { body: user } = await as('administrator', 'GET', `/users/${world.ids['guest']}`);
    const author = async () => {
      const note = await said('guest', path, { body: 'it is me' });
      return (await as('stranger', 'GET', `${path}/notes/${note.id}`)).body.author;
    };
    const { id, username, name, state, created_at } = user;
    expect(await author()).toMatchObject({ id, username, name, state, created_at, email: null });
    const put = (json: object) => as('administrator', 'PUT', `/users/${id}`, json);
    await put({ public_email: user.email, private_profile: true });
    expect(await author()).toMatchObject({ email: user.email, created_at: null });
    await put({ public_email: '', private_profile: false });
  });

  test('of a locked issue come from members only', async () => {
    const { path } = await issue({ discussion_locked: true });
    expect((await as('stranger', 'POST', `${path}/notes`, { body: 'me too' })).status).toBe(403);
    expect((await as('guest', 'POST', `${path}/notes`, { body: 'welcome' })).status).toBe(201);
  });
});

describe('an internal note', () => {
  test('is hidden from those below Reporter, in lists, totals, discussions and feeds', async () => {
    const { path } = await issue({ title: 'With secrets' });
    const open = await said('reporter', path, { body: 'for all' });
    const secret = await said('reporter', path, { body: 'hush', confidential: true });
    expect(secret).toMatchObject({ confidential: true, internal: true });
    const mine = await as('guest', 'POST', `${path}/notes`, { body: 'x', internal: true });
    expect(mine.status).toBe(403);
    for (const who of ['guest', 'stranger'] as const) {
      const list = await as(who, 'GET', `${path}/notes`);
      expect([texts(list), list.headers.get('x-total')]).toEqual([['for all'], '1']);
      const discussions = await as(who, 'GET', `${path}/discussions`);
      expect([discussions.body.length, discussions.headers.get('x-total')]).toEqual([1, '1']);
      for (const method of ['GET', 'DELETE'])
        expect((await as(who, method, `${path}/notes/${secret.id}`)).status).toBe(404);
      const feed = await as(who, 'GET', `${project()}/events?action=commented&per_page=100`);
      expect(JSON.stringify(feed.body)).toContain('for all');
      expect(JSON.stringify(feed.body)).not.toContain('hush');
      const author = await as(who, 'GET', `/users/${world.ids['reporter']}/events?per_page=100`);
      expect(JSON.stringify(author.body)).not.toContain('hush');
    }
    const all = await as('reporter', 'GET', `${path}/discussions`);
    expect(all.body.map(({ notes }: { notes: { id: number }[] }) => notes[0]!.id)).toEqual([
      open.id,
      secret.id,
    ]);
    const feed = await as('reporter', 'GET', `${project()}/events?action=commented&per_page=100`);
    expect(JSON.stringify(feed.body)).toContain('hush');
    // A reply stays in the circle.
    const replied = await as('reporter', 'POST', `${path}/discussions/${all.body[1].id}/notes`, {
      body: 'hush hush',
    });
    expect([replied.status, replied.body.confidential]).toEqual([201, true]);
    expect(texts(await as('guest', 'GET', `${path}/notes`))).toEqual(['for all']);
  });

  test('the comments on an issue that becomes confidential leave the feeds', async () => {
    const { path } = await issue();
    await said('owner', path, { body: 'soon covered' });
    const feed = async () =>
      JSON.stringify((await as('guest', 'GET', `${project()}/events?action=commented&per_page=100`)).body);
    expect(await feed()).toContain('soon covered');
    await as('owner', 'PUT', path, { confidential: true });
    expect(await feed()).not.toContain('soon covered');
  });
});

describe('discussions of an issue', () => {
  test('a note that stands alone becomes a thread by a reply', async () => {
    const { path } = await issue();
    const first = await said('owner', path, { body: 'alone' });
    const { body: before } = await as('owner', 'GET', `${path}/discussions`);
    expect(before).toMatchObject([{ individual_note: true, notes: [{ id: first.id, type: null }] }]);
    const at = `${path}/discussions/${before[0].id}`;
    const reply = await as('guest', 'POST', `${at}/notes`, { body: 'not any more' });
    expect([reply.status, reply.body.type]).toEqual([201, 'DiscussionNote']);
    expect((await as('owner', 'GET', at)).body).toMatchObject({
      individual_note: false,
      notes: [
        { id: first.id, type: 'DiscussionNote' },
        { id: reply.body.id, type: 'DiscussionNote' },
      ],
    });
    // A note of a thread is changed and deleted under either path.
    expect((await as('guest', 'PUT', `${path}/notes/${reply.body.id}`, { body: 'here' })).status).toBe(200);
    expect((await as('owner', 'GET', `${at}/notes/${reply.body.id}`)).body.body).toBe('here');
    expect((await as('guest', 'DELETE', `${path}/notes/${reply.body.id}`)).status).toBe(204);
    expect((await as('owner', 'GET', at)).body.notes).toHaveLength(1);
  });

  test('are started by forms too', async () => {
    const { path } = await issue();
    const form = new FormData();
    form.set('body', 'from a form');
    const token = world.tokens.owner!;
    const started = await service.call('POST', `${path}/discussions`, { token, raw: form });
    expect([started.status, started.body.notes[0].body]).toEqual([201, 'from a form']);
  });
});

test('a deleted issue takes its notes, their long texts, their events and its participants along', async () => {
  const { path } = await issue({}, 'owner', `/projects/${world.ids['private']}`);
  const long = await said('owner', path, { body: 'x'.repeat(40_000) });
  await said('reporter', path, { body: 'short' });
  expect((await as('owner', 'GET', `${path}/notes/${long.id}`)).body.body).toHaveLength(40_000);
  const kept = async () => (await world.store.blobs.list(`${TEXTS}project/`)).keys.length;
  expect(await kept()).toBe(1);
  expect((await as('owner', 'DELETE', path)).status).toBe(204);
  await settled();
  expect(await kept()).toBe(0);
  const { table } = world.store;
  const id = world.ids['private']!;
  const holder = { kind: 'project', id } as const;
  for (const partition of [notesOfHolder(holder), threadsOfHolder(holder)])
    for await (const row of table.queryAll({ partition })) expect(row['sk']).not.toMatch(/issue#/);
  for await (const event of table.queryAll({ partition: eventsPartition(holder) }))
    expect(event['target']).not.toMatchObject({ issue: {} });
});

describe('mail about a note on an issue', () => {
  const mails = async () =>
    (await mailTo(service.mailDir, 'guest@example.com', 0)).map(({ text }) => text ?? '');

  test('goes to its author and to whom it calls, in the thread of the issue, and ends with its link', async () => {
    const { path, id, iid } = await issue({ title: 'Loud' }, 'guest');
    await said('owner', path, { body: 'what about it?' });
    await settled();
    const mail = (await mailTo(service.mailDir, 'guest@example.com')).at(-1);
    expect(mail!.subject).toMatch(new RegExp(`^Re: .* \\| Loud \\(#${iid}\\)$`));
    expect(mail!.text).toContain('what about it?');
    expect(JSON.stringify(mail!.headers)).toContain(`issue_${id}.project_`);
    const link = /\/users\/unsubscribe\?token=[\w.%-]+/.exec(mail!.text!)![0];
    const { status } = await fetch(`${service.url}${link}`, { method: 'POST' });
    expect(status).toBe(200);
    await settled();
    const before = (await mails()).length;
    await said('owner', path, { body: 'still there?' });
    await settled();
    expect((await mails()).length).toBe(before);
  });

  test('does not go to those who may not read an internal note, though it calls them', async () => {
    const { path } = await issue({ title: 'Quiet' });
    await said('owner', path, { body: '@guest must not know', internal: true });
    await settled();
    expect((await mails()).join()).not.toContain('must not know');
  });
});

describe('a change of an issue', () => {
  test('is noted for its readers, in its transaction, and counts as no note of people', async () => {
    const { path } = await issue({ title: 'Old door' });
    await said('owner', path, { body: 'why?' });
    const change = {
      ...{ title: 'New door', description: 'text', due_date: '2030-01-31', discussion_locked: true },
      assignee_ids: [world.ids['developer']],
    };
    expect((await as('reporter', 'PUT', path, change)).status).toBe(200);
    const list = await as('guest', 'GET', `${path}/notes?activity_filter=only_activity`);
    expect(list.body.map(inSchema).every(({ system }: { system?: boolean }) => system)).toBe(true);
    expect(texts(list).sort()).toEqual([
      'assigned to @developer',
      'changed due date to January 31, 2030',
      'changed the description',
      'changed title from **{-Old-} door** to **{+New+} door**',
      'locked this issue',
    ]);
    expect(list.body[0].author.username).toBe('reporter');
    expect(texts(await as('guest', 'GET', `${path}/notes?activity_filter=only_comments`))).toEqual(['why?']);
    expect((await as('guest', 'GET', path)).body.user_notes_count).toBe(1);
    // What is said already is not said again.
    expect((await as('reporter', 'PUT', path, change)).status).toBe(200);
    expect((await as('guest', 'GET', `${path}/notes`)).headers.get('x-total')).toBe('6');
  });

  test('is noted for good: nobody changes, deletes or answers such a note', async () => {
    const { path } = await issue();
    await as('owner', 'PUT', path, { title: 'Another' });
    const [{ id }] = (await as('owner', 'GET', `${path}/notes`)).body;
    const [discussion] = (await as('owner', 'GET', `${path}/discussions`)).body;
    expect((await as('owner', 'PUT', `${path}/notes/${id}`, { body: 'x' })).status).toBe(403);
    expect((await as('owner', 'DELETE', `${path}/notes/${id}`)).status).toBe(403);
    const reply = await as('owner', 'POST', `${path}/discussions/${discussion.id}/notes`, { body: 'x' });
    expect(reply.status).toBe(400);
  });
});
