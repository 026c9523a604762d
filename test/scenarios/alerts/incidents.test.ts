import { describe, expect, test } from 'vitest';
import { settled } from '../../harness/settled.ts';
import { header, ownMail } from '../mail/mail-fixture.ts';
import { monitoring } from './monitoring.ts';

const { service, people, call, forget, mails } = ownMail(['ada', 'bob', 'cyd']);
const { integrated, send, alertsOf } = monitoring((who, method, path, json) =>
  service.call(method, path, {
    token: people[who === 'owner' ? 'ada' : who]!.token,
    ...(json === undefined ? {} : { json }),
  }),
);

const ENDED = '2026-11-20T10:00:00Z';
const sent = { title: 'Disk full', severity: 'high', fingerprint: 'disk' };
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
const issuesOf = async ({ at }: { at: string }): Promise<any[]> => {
  await settled();
  return call('ada', 'GET', `${at}/issues?order_by=created_at&sort=asc`);
};
const notesOf = async (at: string, iid: number): Promise<string[]> =>
  (await call('ada', 'GET', `${at}/issues/${iid}/notes?sort=asc`)).map(({ body }: { body: string }) => body);

describe('an integration', () => {
  test('says what its alerts lead to', async () => {
    const made = await integrated();
    const at = `${made.at}/alert_integrations/${made.id}`;
    const shown = { create_issue: false, auto_close_incident: true, send_email: false };
    expect(await call('ada', 'GET', at)).toMatchObject(shown);
    const changed = { create_issue: true, auto_close_incident: false, send_email: true };
    expect(await call('ada', 'PUT', at, changed)).toMatchObject(changed);
    expect(await call('ada', 'PUT', at, { name: 'x', send_email: false })).toMatchObject({
      ...changed,
      send_email: false,
    });
  });

  test('opens no incident unless it is to', async () => {
    const made = await integrated();
    await send(made.url, made.key, sent);
    expect(await alertsOf(made)).toMatchObject([{ issue_iid: null }]);
    expect(await issuesOf(made)).toEqual([]);
  });
});

describe('an alert', () => {
  test('opens one incident, which tells what was sent', async () => {
    const made = await integrated({ create_issue: true });
    const more = {
      ...{ description: 'See **the manual**', service: '@all', monitoring_tool: 'A `quoted` tool' },
      ...{ hosts: ['web_1', 'web_2'], gitlab_environment_name: 'production' },
      start_time: '2026-11-20T09:00:00Z',
    };
    for (let i = 0; i < 3; i++) await send(made.url, made.key, { ...sent, ...more });
    const [issue, ...others] = await issuesOf(made);
    expect(others).toEqual([]);
    expect(issue).toMatchObject({
      ...{ title: 'Disk full', issue_type: 'incident', type: 'INCIDENT', severity: 'HIGH', state: 'opened' },
      author: { username: 'alert-bot', name: 'Alert Bot' },
    });
    expect(issue.description.split('\n')).toEqual([
      '- **Start time:** 20 November 2026 at 09:00:00 UTC',
      '- **Severity:** high',
      '- **Service:** `@all`',
      '- **Monitoring tool:** `` A `quoted` tool ``',
      '- **Hosts:** `web_1`, `web_2`',
      '- **Environment:** `production`',
      `- **Alert:** ${service.url}/api/v4${made.at}/alerts/1`,
      '',
      'See **the manual**',
    ]);
    expect(await alertsOf(made)).toMatchObject([{ issue_iid: issue.iid, event_count: 3 }]);
    const events = await call('ada', 'GET', `${made.at}/events?target_type=issue`);
    expect(events).toMatchObject([{ action_name: 'opened', author_username: 'alert-bot' }]);
  });

  test('that is noted twice opens one incident', async () => {
    const made = await integrated({ create_issue: true });
    const { deps } = await import('../../../functions/deps.ts');
    const { noteAlert } = await import('../../../lib/domain/alerts/note.ts');
    const taken = { projectId: made.project, integrationId: made.id, at: new Date().toISOString() };
    const payload = '{"title":"x","fingerprint":"x"}';
    await Promise.all([1, 2, 3].map(() => noteAlert(deps(), { ...taken, payload }, 'the same')));
    const ended = JSON.stringify({ title: 'x', fingerprint: 'x', end_time: ENDED });
    for (let i = 0; i < 2; i++) await noteAlert(deps(), { ...taken, payload: ended }, 'the end');
    await noteAlert(deps(), { ...taken, payload }, 'the same');
    expect(await alertsOf(made)).toMatchObject([{ event_count: 1, status: 'resolved' }]);
    expect(await issuesOf(made)).toMatchObject([{ state: 'closed' }]);
  });

  test('that ends closes its incident; one that comes again opens another', async () => {
    const made = await integrated({ create_issue: true });
    await send(made.url, made.key, sent);
    const [{ iid }] = await issuesOf(made);
    await send(made.url, made.key, { ...sent, end_time: ENDED });
    expect(await issuesOf(made)).toMatchObject([
      { iid, state: 'closed', closed_by: { username: 'alert-bot' } },
    ]);
    expect(await notesOf(made.at, iid)).toEqual([]);
    expect(await call('ada', 'GET', `${made.at}/issues/${iid}/resource_state_events`)).toMatchObject([
      { state: 'closed', user: { username: 'alert-bot' } },
    ]);
    expect(await alertsOf(made)).toMatchObject([
      { status: 'resolved', ended_at: '2026-11-20T10:00:00.000Z', event_count: 1 },
    ]);
    // It has ended already: a message that comes late is an alert of its own that is over, and opens nothing.
    await send(made.url, made.key, { ...sent, end_time: ENDED });
    expect(await issuesOf(made)).toHaveLength(1);
    await send(made.url, made.key, sent);
    expect(await issuesOf(made)).toMatchObject([{ state: 'closed' }, { state: 'opened' }]);
  });

  test('that ends leaves its incident open where it is to', async () => {
    const made = await integrated({ create_issue: true, auto_close_incident: false });
    await send(made.url, made.key, sent);
    await settled();
    await send(made.url, made.key, { ...sent, end_time: ENDED });
    expect(await issuesOf(made)).toMatchObject([{ state: 'opened' }]);
    expect(await alertsOf(made)).toMatchObject([{ status: 'resolved' }]);
  });

  test('is resolved by who closes its incident, and not by who moves it', async () => {
    const made = await integrated({ create_issue: true });
    for (const fingerprint of ['a', 'b', 'c']) {
      await send(made.url, made.key, { ...sent, fingerprint });
      await settled();
    }
    const [a, b, c] = await issuesOf(made);
    await call('ada', 'PUT', `${made.at}/issues/${a.iid}`, { state_event: 'close' });
    const { id } = await call('ada', 'POST', '/projects', { name: 'elsewhere' });
    await call('ada', 'POST', `${made.at}/issues/${b.iid}/move`, { to_project_id: id });
    await call('ada', 'DELETE', `${made.at}/issues/${c.iid}`);
    expect(await alertsOf(made)).toMatchObject([
      { status: 'triggered' },
      { status: 'triggered' },
      { status: 'resolved' },
    ]);
    // The incidents of the others are gone: they are resolved all the same.
    for (const fingerprint of ['b', 'c'])
      await send(made.url, made.key, { ...sent, fingerprint, end_time: ENDED });
    const statuses = (await alertsOf(made)).map(({ status }: { status: string }) => status);
    expect(statuses).toEqual(['resolved', 'resolved', 'resolved']);
    const [moved] = await call('ada', 'GET', `/projects/${id}/issues`);
    expect(moved.state).toBe('opened');
    await call('ada', 'PUT', `/projects/${id}/issues/${moved.iid}`, { state_event: 'close' });
  });

  test('opens no incident in a project without issues', async () => {
    const made = await integrated({ create_issue: true });
    await call('ada', 'PUT', made.at, { issues_access_level: 'disabled' });
    await send(made.url, made.key, sent);
    expect(await alertsOf(made)).toMatchObject([{ issue_iid: null, status: 'triggered' }]);
  });

  test('is told to Maintainers and Owners by mail, when it is new and when it ends', async () => {
    const made = await integrated({ create_issue: true, send_email: true });
    for (const [name, access_level] of [
      ['bob', 40],
      ['cyd', 30],
    ] as const)
      await call('ada', 'POST', `${made.at}/members`, { user_id: people[name]!.id, access_level });
    await settled();
    forget();
    await send(made.url, made.key, { ...sent, hosts: 'web_1' });
    await settled();
    await send(made.url, made.key, sent);
    const found = await mails();
    expect(Object.keys(found).sort()).toEqual(['ada', 'bob']);
    const [mail, ...more] = found['bob']!;
    expect(more).toEqual([]);
    const name = made.path.split('/')[1]!.replace('-', ' ');
    expect(mail!.subject).toBe(`${name} | Alert: Disk full`);
    expect(mail!.text).toContain(`An alert has been triggered in ${made.path}: Disk full`);
    expect(mail!.text).toContain('Hosts: web_1');
    expect(mail!.text).toContain(`${service.url}/${made.path}/-/issues/1`);
    expect(header(mail!, 'x-lemnos-alert-severity')).toBe('high');
    forget();
    await send(made.url, made.key, { ...sent, end_time: ENDED });
    const subjects = (await mails())['bob']!.map(({ subject }) => subject);
    expect(subjects).toEqual([`Re: ${name} | Alert: Disk full`]);
  });
});

describe('what becomes of an alert', () => {
  const noted = async (at: string, iid = 1) =>
    (await call('ada', 'GET', `${at}/alerts/${iid}/notes?sort=asc`)).map(
      ({ body, author }: { body: string; author: { username: string } }) => `${author.username}: ${body}`,
    );

  test('is noted: status, people, incident, end', async () => {
    const made = await integrated({ create_issue: true });
    await call('ada', 'POST', `${made.at}/members`, { user_id: people['bob']!.id, access_level: 30 });
    await call('ada', 'POST', `${made.at}/members`, { user_id: people['cyd']!.id, access_level: 20 });
    await send(made.url, made.key, { ...sent, monitoring_tool: 'A *tool*' });
    await settled();
    const alert = `${made.at}/alerts/1`;
    const assignee_ids = [people['bob']!.id, people['cyd']!.id];
    const changed = await call('ada', 'PUT', alert, { status: 'acknowledged', assignee_ids });
    expect(changed).toMatchObject({ status: 'acknowledged', assignees: [{ username: 'bob' }] });
    expect(await call('ada', 'GET', alert)).toMatchObject({ assignees: [{ username: 'bob' }] });
    expect(await call('bob', 'PUT', alert, { assignee_ids: [] })).toMatchObject({ assignees: [] });
    await call('ada', 'PUT', alert, { status: 'acknowledged' });
    await send(made.url, made.key, { ...sent, end_time: ENDED });
    await settled();
    expect(await noted(made.at)).toEqual([
      'alert-bot: created incident #1 for this alert',
      'ada: changed the status to **Acknowledged**',
      'ada: assigned to @bob',
      'bob: unassigned @bob',
      'alert-bot: logged a recovery alert from **A tool**',
    ]);
    const [note] = await call('ada', 'GET', `${alert}/notes`);
    expect(note).toMatchObject({ system: true, noteable_type: 'AlertManagement::Alert', noteable_iid: 1 });
    expect(await call('ada', 'GET', `${alert}/notes/${note.id}`)).toEqual(note);
  });

  test('is noted where its incident is closed by hand, and where it ends without one', async () => {
    const made = await integrated({ create_issue: true });
    await send(made.url, made.key, sent);
    await settled();
    await call('ada', 'PUT', `${made.at}/issues/1`, { state_event: 'close' });
    expect((await noted(made.at)).at(-1)).toBe('ada: changed the status to **Resolved** by closing #1');
    const plain = await integrated();
    await send(plain.url, plain.key, sent);
    await settled();
    await send(plain.url, plain.key, { ...sent, end_time: ENDED });
    await settled();
    expect(await noted(plain.at)).toEqual(['alert-bot: logged a recovery alert from a monitoring tool']);
  });

  test('is told of nothing: a change names a status or people', async () => {
    const made = await integrated();
    await send(made.url, made.key, sent);
    await settled();
    const token = people['ada']!.token;
    for (const json of [{}, { status: 'gone' }, { assignee_ids: ['x'] }])
      expect((await service.call('PUT', `${made.at}/alerts/1`, { token, json })).status).toBe(400);
    expect((await service.call('GET', `${made.at}/alerts/2/notes`, { token })).status).toBe(404);
    expect((await service.call('GET', `${made.at}/alerts/1/notes/99`, { token })).status).toBe(404);
  });

  test('is decided again where two decide at once', async () => {
    const made = await integrated();
    await send(made.url, made.key, sent);
    await settled();
    await call('ada', 'POST', `${made.at}/members`, { user_id: people['bob']!.id, access_level: 30 });
    const ids = [people['ada']!.id, people['bob']!.id];
    await Promise.all(ids.map((id) => call('ada', 'PUT', `${made.at}/alerts/1`, { assignee_ids: [id] })));
    // Of two notes the second one tells what it replaced.
    const [first, second, ...more] = await noted(made.at);
    expect(more).toEqual([]);
    expect(first).toMatch(/^ada: assigned to @\w+$/);
    expect(second).toMatch(/^ada: assigned to @\w+ and unassigned @\w+$/);
  });
});

describe('whom an alert is assigned to', () => {
  const todosOf = async (who: string, query = '') => {
    await settled();
    return call(who, 'GET', `/todos?type=AlertManagement::Alert${query}`);
  };
  const numbersOf = async (who: string, query = '') =>
    (await todosOf(who, query)).map(({ target }: { target: { iid: number } }) => target.iid);
  async function watched(more: object = {}) {
    for (const who of ['ada', 'bob']) await call(who, 'POST', '/todos/mark_as_done');
    const made = await integrated(more);
    await call('ada', 'POST', `${made.at}/members`, { user_id: people['bob']!.id, access_level: 30 });
    const assign = (iid: number, ...whom: string[]) =>
      call('ada', 'PUT', `${made.at}/alerts/${iid}`, {
        assignee_ids: whom.map((who) => people[who]!.id),
      });
    return { ...made, assign };
  }

  test('has a to-do about it, which shows the alert', async () => {
    const made = await watched();
    await send(made.url, made.key, sent);
    await settled();
    await made.assign(1, 'bob');
    const alert = await call('bob', 'GET', `${made.at}/alerts/1`);
    const [todo, ...others] = await todosOf('bob');
    expect(others).toEqual([]);
    const { payload: _, ...shown } = alert;
    const url = `${service.url}/api/v4${made.at}/alerts/1`;
    expect(todo).toMatchObject({
      ...{ action_name: 'assigned', target_type: 'AlertManagement::Alert', state: 'pending' },
      ...{ project: { id: made.project }, author: { username: 'ada' } },
      ...{ target: { ...shown, web_url: url }, target_url: url, body: 'Disk full' },
    });
    expect(await call('bob', 'GET', '/todos?type=Issue')).toEqual([]);
    expect(await numbersOf('bob', `&project_id=${made.project}&action=assigned`)).toEqual([1]);
    const done = await call('bob', 'POST', `/todos/${todo.id}/mark_as_done`);
    expect(done).toMatchObject({ id: todo.id, state: 'done', target: { iid: 1 } });
    expect(await numbersOf('bob')).toEqual([]);
    expect(await numbersOf('bob', '&state=done')).toContain(1);
  });

  test('has one each of alerts with the same number in several projects', async () => {
    const [one, two] = [await watched(), await watched()];
    for (const made of [one, two]) {
      await send(made.url, made.key, sent);
      await settled();
      await made.assign(1, 'bob');
    }
    expect(await numbersOf('bob')).toEqual([1, 1]);
  });

  test('has nothing to do when it is assigned to others', async () => {
    const made = await watched();
    await send(made.url, made.key, sent);
    await settled();
    await made.assign(1, 'ada', 'bob');
    expect([await numbersOf('ada'), await numbersOf('bob')]).toEqual([[1], [1]]);
    await made.assign(1, 'ada');
    expect([await numbersOf('ada'), await numbersOf('bob')]).toEqual([[1], []]);
  });

  test('has nothing to do when it is resolved: by hand, by its tool, or with its incident', async () => {
    const made = await watched({ create_issue: true });
    for (const fingerprint of ['a', 'b', 'c', 'd'])
      await send(made.url, made.key, { ...sent, fingerprint }).then(settled);
    for (const iid of [1, 2, 3, 4]) await made.assign(iid, 'bob');
    expect((await numbersOf('bob')).toSorted()).toEqual([1, 2, 3, 4]);
    await call('ada', 'PUT', `${made.at}/alerts/1`, { status: 'resolved' });
    await send(made.url, made.key, { ...sent, fingerprint: 'b', end_time: ENDED });
    await call('ada', 'PUT', `${made.at}/issues/3`, { state_event: 'close' });
    await call('ada', 'PUT', `${made.at}/alerts/4`, { status: 'acknowledged' });
    expect(await numbersOf('bob')).toEqual([4]);
  });

  test('has nothing to do when it ends and opened no incident', async () => {
    const made = await watched();
    await send(made.url, made.key, sent);
    await settled();
    await made.assign(1, 'bob');
    expect(await numbersOf('bob')).toEqual([1]);
    await send(made.url, made.key, { ...sent, end_time: ENDED });
    expect(await numbersOf('bob')).toEqual([]);
  });

  test('sees it as long as they may read alerts of the project', async () => {
    const made = await watched();
    await send(made.url, made.key, sent);
    await settled();
    await made.assign(1, 'bob');
    expect(await numbersOf('bob')).toEqual([1]);
    await call('ada', 'PUT', `${made.at}/members/${people['bob']!.id}`, { access_level: 20 });
    expect(await numbersOf('bob')).toEqual([]);
  });
});

test('the account that opens incidents is nobody’s: it is not changed, blocked or deleted', async () => {
  const [bot] = await call('root', 'GET', '/users?username=alert-bot');
  for (const [method, path, json] of [
    ['PUT', `/users/${bot.id}`, { name: 'x' }],
    ['POST', `/users/${bot.id}/block`],
    ['DELETE', `/users/${bot.id}`],
  ] as const)
    expect(
      (await service.call(method, path, { token: service.rootToken, ...(json && { json }) })).status,
    ).toBe(403);
});
