import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, type Service, startService } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';

let service: Service;
/** A group, a subgroup with a project, another group. */
let group: number;
let sub: number;
let project: number;
let elsewhere: number;
const iterations: Record<string, { id: number; title: string }> = {};

const call = (method: string, path: string, json?: unknown, token = service.rootToken): Promise<Answer> =>
  service.call(method, path, { token, ...(json === undefined ? {} : { json }) });
const done = async (method: string, path: string, json?: unknown): Promise<Answer['body']> => {
  const answer = await call(method, path, json);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
};
const issue = async (title: string, json: object = {}): Promise<Answer['body'] & { path: string }> => {
  const body = await done('POST', `/projects/${project}/issues`, { title, ...json });
  return { ...body, path: `/projects/${project}/issues/${body.iid}` };
};
const notes = async (path: string): Promise<string[]> =>
  (await done('GET', `${path}/notes?sort=asc&activity_filter=only_activity`)).map(
    ({ body }: { body: string }) => body,
  );
const idOf = (name: string): number => iterations[name]!.id;

beforeAll(async () => {
  service = await startService();
  group = (await done('POST', '/groups', { name: 'plan', path: 'plan' })).id;
  sub = (await done('POST', '/groups', { name: 'sub', path: 'sub', parent_id: group })).id;
  elsewhere = (await done('POST', '/groups', { name: 'else', path: 'else' })).id;
  project = (await done('POST', '/projects', { name: 'code', namespace_id: sub })).id;
  for (const [title, of, start_date, due_date] of [
    ['now', group, '2020-01-01', '2999-12-31'],
    ['past', sub, '2019-01-01', '2019-01-14'],
    ['gone', sub, '2018-01-01', '2018-01-14'],
    ['other', elsewhere, '2020-01-01', '2999-12-31'],
  ] as const)
    iterations[title] = await done('POST', `/groups/${of}/iterations`, { title, start_date, due_date });
});
afterAll(() => service.stop());

describe('an issue', () => {
  test('is put into an iteration and taken out, which is told as events', async () => {
    const { path, id, iteration } = await issue('Gate');
    expect(iteration).toBeNull();
    const changed = await done('PUT', path, { iteration_id: idOf('now') });
    expect(changed.iteration).toEqual(iterations['now']);
    await done('PUT', path, { iteration_id: idOf('past') });
    expect((await done('PUT', path, { iteration_id: 0 })).iteration).toBeNull();
    expect(await notes(path)).toEqual([]);
    const events = await done('GET', `${path}/resource_iteration_events`);
    expect(events.map((event: Answer['body']) => [event.action, event.iteration])).toEqual([
      ['add', iterations['now']],
      ['add', iterations['past']],
      ['remove', iterations['past']],
    ]);
    expect(events[0]).toMatchObject({ resource_type: 'Issue', resource_id: id, user: { username: 'root' } });
    const one = await call('GET', `${path}/resource_iteration_events/${events[0].id}`);
    expect(one.body).toEqual(events[0]);
  });

  test('is in no iteration but those of groups above its project', async () => {
    const { path } = await issue('Wall');
    for (const id of [idOf('other'), 99_999_999, -1])
      expect(await call('PUT', path, { iteration_id: id })).toMatchObject({ status: 404 });
    expect(await call('PUT', path, { iteration_id: 'x' })).toMatchObject({ status: 400 });
    expect((await done('GET', path)).iteration).toBeNull();
  });

  test('is put into one by quick actions, by number, title or the day', async () => {
    const { path } = await issue('Door', { description: `Text\n/iteration *iteration:${idOf('past')}` });
    const title = async () => (await done('GET', path)).iteration?.title;
    const act = (body: string) => call('POST', `${path}/notes`, { body });
    expect(await title()).toBe('past');
    expect((await act('/iteration --current')).body).toMatchObject({
      commands_changes: { iteration_id: idOf('now') },
      summary: [`Set the iteration to *iteration:${idOf('now')}.`],
    });
    expect(await title()).toBe('now');
    await act('/iteration *iteration:"past"');
    expect(await title()).toBe('past');
    await act('/iteration now');
    expect(await title()).toBe('now');
    for (const none of ['other', `*iteration:${idOf('other')}`, 'nothing']) await act(`/iteration ${none}`);
    expect(await title()).toBe('now');
    await act('/remove_iteration');
    expect(await title()).toBeUndefined();
  });
});

test('lists leave issues by their iteration', async () => {
  const { id: own } = await done('POST', '/projects', { name: 'listed', namespace_id: sub });
  for (const [title, name] of [
    ['n', 'now'],
    ['p', 'past'],
    ['z', undefined],
  ] as const)
    await done('POST', `/projects/${own}/issues`, {
      title,
      ...(name === undefined ? {} : { iteration_id: idOf(name) }),
    });
  // In the same group, so that lists of it have to tell them apart.
  const [now, past] = [idOf('now'), idOf('past')];
  for (const [query, wanted] of [
    [`iteration_id=${now}`, 'n'],
    [`iteration_id=${past}`, 'p'],
    ['iteration_id=None', 'z'],
    ['iteration_id=Any', 'np'],
    ['iteration_id=Current', 'n'],
    ['iteration_title=past', 'p'],
    ['iteration_title=nothing', ''],
    ['iteration_id=99999999', ''],
    [`not[iteration_id]=${now}`, 'pz'],
    ['not[iteration_id]=Current', 'pz'],
    ['not[iteration_title]=past', 'nz'],
    [`iteration_id=${now}&not[iteration_title]=now`, ''],
  ] as const)
    for (const scope of [`/projects/${own}/issues?`, `/groups/${sub}/issues?`, '/issues?scope=all&']) {
      const listed = await done('GET', `${scope}${query}&sort=asc&per_page=100`);
      const shown = listed.filter((each: Answer['body']) => each.project_id === own);
      expect(shown.map((each: Answer['body']) => each.title).join(''), scope + query).toBe(wanted);
    }
  expect(await call('GET', '/issues?iteration_id=soon')).toMatchObject({ status: 400 });
});

test('issues lose an iteration that is deleted, and one of a group that their project left', async () => {
  const [left, kept] = [await issue('left', { iteration_id: idOf('gone') }), await issue('kept')];
  await done('PUT', kept.path, { iteration_id: idOf('past') });
  await done('DELETE', `/groups/${sub}/iterations/${idOf('gone')}`);
  expect((await done('GET', left.path)).iteration).toBeNull();
  await settled();
  const { body } = await call('GET', `/projects/${project}/issues?iteration_id=None`);
  expect(body.map(({ title }: { title: string }) => title)).toContain('left');
  await done('PUT', `/projects/${project}/transfer`, { namespace: elsewhere });
  expect((await done('GET', kept.path)).iteration).toBeNull();
  await settled();
  expect(await done('GET', `/projects/${project}/issues?iteration_id=Any`)).toEqual([]);
});
