/** Feeds tell of epics: they are of groups, so the feeds of who did it have them, and those of projects do not. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventsPartition } from '../../../lib/store/row-keys/events.ts';
import { type Answer, type Service, startService } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';
import { storeOf } from '../../harness/world.ts';

let service: Service;
let group: number;
let open: number;
let author: string;
let count = 0;
const tokens: Record<string, string> = {};

const as = (who: string | undefined, method: string, path: string, json?: unknown): Promise<Answer> =>
  service.call(method, path, {
    ...(who === undefined ? {} : { token: who === 'root' ? service.rootToken : tokens[who]! }),
    ...(json === undefined ? {} : { json }),
  });
const done = async (who: string, method: string, path: string, json?: unknown): Promise<Answer['body']> => {
  const { status, body } = await as(who, method, path, json);
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
  return body;
};
/** What a feed tells, the newest first. */
const feed = async (who: string | undefined, path: string): Promise<string[]> => {
  const { status, body } = await as(who, 'GET', path);
  expect(status).toBe(200);
  return body.map(
    (event: Record<string, unknown>) =>
      `${event['action_name']} ${event['target_type']} ${event['target_title']}`,
  );
};
const told = (who: string | undefined, query = '') => feed(who, `/users/${author}/events?${query}`);

const person = async (name: string, level: number): Promise<void> => {
  const user = await service.user(name);
  tokens[name] = user.token;
  for (const id of level === 0 ? [] : [group, open])
    await done('root', 'POST', `/groups/${id}/members`, { user_id: user.id, access_level: level });
};
const epicIn = (id: number, json: object = {}, who = author) =>
  done(who, 'POST', `/groups/${id}/epics`, { title: 'Goal', ...json });

beforeAll(async () => {
  service = await startService();
  group = (await done('root', 'POST', '/groups', { name: 'plan', path: 'plan' })).id;
  open = (await done('root', 'POST', '/groups', { name: 'open', path: 'open', visibility: 'public' })).id;
  for (const [name, level] of [
    ['guest', 10],
    ['reporter', 20],
    ['stranger', 0],
  ] as const)
    await person(name, level);
});
// Each test has an author of its own, whose feed is empty.
beforeEach(async () => {
  author = `author-${++count}`;
  await person(author, 50);
});
afterAll(() => service.stop());

const everything = ['commented on Note Goal', 'opened Epic Goal', 'closed Epic Goal', 'opened Epic Goal'];
async function did(id: number, json: object = {}): Promise<string> {
  const { id: epicId, iid } = await epicIn(id, json);
  const path = `/groups/${id}/epics/${iid}`;
  // What is so already is not told again.
  for (const state_event of ['close', 'close', 'reopen', 'reopen'])
    await done(author, 'PUT', path, { state_event });
  await done(author, 'POST', `/groups/${id}/epics/${epicId}/notes`, { body: 'Well done' });
  return path;
}

describe('the feeds of an author', () => {
  test('tell of epics that are created, closed, opened again and commented on', async () => {
    const path = await did(open);
    const { id, iid } = await done(author, 'GET', path);
    const { body } = await as(author, 'GET', '/events');
    expect(body.at(-1)).toMatchObject({
      ...{ project_id: null, action_name: 'opened', target_type: 'Epic', target_id: id, target_iid: iid },
      ...{ target_title: 'Goal', author_username: author },
    });
    expect(body[0]).toMatchObject({
      ...{ project_id: null, target_type: 'Note' },
      note: { body: 'Well done', noteable_type: 'Epic', noteable_id: id, noteable_iid: iid },
    });
    expect(await feed(author, '/events')).toEqual(everything);
    expect(await feed(author, '/events?scope=all')).toEqual(everything);
    expect(await told(undefined)).toEqual(everything);
    expect(await told('stranger', 'action=closed')).toEqual(['closed Epic Goal']);
    expect(await told('stranger', 'action=created')).toEqual(['opened Epic Goal']);
    expect(await told('stranger', 'target_type=note')).toEqual(['commented on Note Goal']);
    expect(await told('stranger', 'target_type=issue')).toEqual([]);
  });

  test('tell of epics of a private group to those who see the group', async () => {
    await did(group);
    for (const who of ['guest', 'reporter', 'root', author]) expect(await told(who), who).toEqual(everything);
    for (const who of ['stranger', undefined]) expect(await told(who)).toEqual([]);
    const { headers } = await as('stranger', 'GET', `/users/${author}/events`);
    expect(headers.get('x-total')).toBe('0');
  });

  test('tell of confidential epics to those who read them', async () => {
    await did(open, { confidential: true });
    for (const who of ['reporter', 'root', author]) expect(await told(who), who).toEqual(everything);
    for (const who of ['guest', 'stranger', undefined]) {
      expect(await told(who), who).toEqual([]);
      for (const query of ['action=commented', 'action=created'])
        expect(await told(who, query), who).toEqual([]);
    }
  });

  test('follow an epic that becomes confidential', async () => {
    const path = await did(open);
    await done(author, 'PUT', path, { confidential: true });
    expect(await told('stranger')).toEqual([]);
    expect(await told('reporter')).toEqual(everything);
    await done(author, 'PUT', path, { confidential: false });
    expect(await told('stranger')).toEqual(everything);
  });

  test('tell of internal notes on epics to those who read them', async () => {
    const { id } = await epicIn(open);
    await done(author, 'POST', `/groups/${open}/epics/${id}/notes`, { body: 'hush', internal: true });
    expect(await told('reporter')).toEqual(['commented on Note Goal', 'opened Epic Goal']);
    for (const who of ['guest', 'stranger']) expect(await told(who)).toEqual(['opened Epic Goal']);
  });

  test('tell a guest of their own confidential issues and epics only while they see these', async () => {
    const { id } = await done('root', 'POST', '/projects', {
      name: author,
      namespace_id: open,
      visibility: 'public',
    });
    const path = `/projects/${id}/issues`;
    const mine = await done(author, 'POST', path, { title: 'hush', confidential: true });
    const { iid } = await epicIn(open, { confidential: true });
    const { id: userId } = await done(author, 'GET', '/user');
    await done('root', 'PUT', `/groups/${open}/members/${userId}`, { access_level: 10 });
    const own = ['opened Epic Goal', 'opened Issue hush'];
    expect(await feed(author, '/events')).toEqual(own);
    expect(await told(author)).toEqual(own);
    expect(await told('guest')).toEqual([]);
    expect(await told('reporter')).toEqual(own);
    await done('root', 'DELETE', `${path}/${mine.iid}`);
    await done('root', 'DELETE', `/groups/${open}/epics/${iid}`);
    expect(await told(author)).toEqual([]);
  });

  test('tell of an issue that becomes an epic', async () => {
    const { id } = await done('root', 'POST', '/projects', {
      name: author,
      namespace_id: open,
      visibility: 'public',
    });
    const { iid } = await done('root', 'POST', `/projects/${id}/issues`, { title: 'Large' });
    expect(
      (await as(author, 'POST', `/projects/${id}/issues/${iid}/notes`, { body: '/promote' })).status,
    ).toBe(202);
    expect((await told('stranger')).sort()).toEqual(['closed Issue Large', 'opened Epic Large']);
  });
});

test('the feed of a project tells of no epics above it', async () => {
  const { id } = await done(author, 'POST', '/projects', {
    name: author,
    namespace_id: open,
    visibility: 'public',
  });
  await did(open);
  expect(await feed(undefined, `/projects/${id}/events`)).toEqual(['created null null']);
});

test('a deleted note, epic or group takes its events along', async () => {
  const { id: own } = await done(author, 'POST', '/groups', { name: `own ${author}`, path: `own-${author}` });
  const { id, iid } = await epicIn(own);
  const rows = async () => {
    const kept: string[] = [];
    for await (const { sk } of storeOf().table.queryAll({
      partition: eventsPartition({ kind: 'group', id: own }),
    }))
      kept.push((sk as string).split('#').at(-1)!);
    return kept.sort();
  };
  const notes = `/groups/${own}/epics/${id}/notes`;
  const [note] = [
    await done(author, 'POST', notes, { body: 'one' }),
    await done(author, 'POST', notes, { body: 'two' }),
  ];
  expect(await rows()).toEqual(['commented.note.epic', 'commented.note.epic', 'created.epic']);
  await done(author, 'DELETE', `${notes}/${note.id}`);
  expect(await rows()).toEqual(['commented.note.epic', 'created.epic']);
  await done(author, 'DELETE', `/groups/${own}/epics/${iid}`);
  expect(await told(author)).toEqual([]);
  await settled();
  expect(await rows()).toEqual(['created.epic']);
  await done(author, 'DELETE', `/groups/${own}`);
  await settled();
  expect(await rows()).toEqual([]);
});
