import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freshWindow } from '../../harness/fresh-window.ts';
import { expectSchema } from '../../harness/schemas.ts';
import { type Service, startService } from '../../harness/service.ts';
import { ask, makeWorld, type Who, type World } from '../../harness/world.ts';

let service: Service;
let world: World;
beforeAll(async () => {
  service = await startService();
  world = await makeWorld(service);
});
afterAll(() => service.stop());

const as = (who: Who, method: string, path: string, json?: unknown) => ask(world, who, method, path, json);
const issuesOf = (project: string) => `/projects/${world.ids[project]}/issues`;

/** @returns the path of a new issue */
async function issue(who: Who, json: object, project = 'public'): Promise<string> {
  const { status, body } = await as(who, 'POST', issuesOf(project), json);
  expect(status, JSON.stringify(body)).toBe(201);
  return `${issuesOf(project)}/${body.iid}`;
}

/** The schema is of a later release, whose people have `locked` and always an avatar. */
const shownAsLater = (body: unknown) =>
  JSON.parse(JSON.stringify(body), (_, value) =>
    value?.username === undefined ? value : { ...value, locked: false, avatar_url: 'http://localhost/a.png' },
  );

describe('an issue', () => {
  test('is created with all that a Reporter says, and shown with what the schema asks for', async () => {
    const json = {
      title: '  Broken door ',
      description: '- [ ] buy a hinge\n- [x] find the screws\n```\n- [ ] no task\n```',
      assignee_ids: [world.ids['developer'], world.ids['guest'], world.ids['developer']],
      due_date: '2030-01-31',
      issue_type: 'incident',
      severity: 'HIGH',
      weight: 4,
      health_status: 'at_risk',
      discussion_locked: true,
      confidential: true,
    };
    const { status, body } = await as('reporter', 'POST', issuesOf('private'), json);
    expect(status).toBe(201);
    expectSchema('issue', shownAsLater(body));
    const project = (await as('reporter', 'GET', `/projects/${world.ids['private']}`)).body;
    expect(body).toMatchObject({
      ...{ title: 'Broken door', description: json.description, state: 'opened', project_id: project.id },
      ...{ due_date: '2030-01-31', issue_type: 'incident', type: 'INCIDENT', severity: 'HIGH', weight: 4 },
      ...{ health_status: 'at_risk', discussion_locked: true, confidential: true, user_notes_count: 0 },
      ...{ closed_at: null, closed_by: null, labels: [], milestone: null, moved_to_id: null },
      author: { username: 'reporter' },
      assignees: [{ username: 'developer' }, { username: 'guest' }],
      assignee: { username: 'developer' },
      has_tasks: true,
      task_status: '1 of 2 tasks completed',
      task_completion_status: { count: 2, completed_count: 1 },
      web_url: `${project.web_url}/-/issues/${body.iid}`,
      reference: `#${body.iid}`,
      references: {
        short: `#${body.iid}`,
        relative: `#${body.iid}`,
        full: `${project.path_with_namespace}#${body.iid}`,
      },
      time_stats: { time_estimate: 0, total_time_spent: 0, human_time_estimate: null },
    });
    expect((await as('guest', 'GET', `${issuesOf('private')}/${body.iid}`)).body).toEqual(body);
    expect((await as('administrator', 'GET', `/issues/${body.id}`)).body).toMatchObject({
      references: { relative: body.references.full },
    });
  });

  test('of a Guest has what Guests decide; the rest is ignored', async () => {
    const json = {
      ...{ title: 'Small', description: 'd', confidential: true, due_date: '2030-01-31', weight: 1 },
      ...{ assignee_ids: [world.ids['guest']], iid: 4000, created_at: '2001-01-01', issue_type: 'incident' },
    };
    const { body } = await as('guest', 'POST', issuesOf('public'), json);
    expect(body).toMatchObject({ title: 'Small', description: 'd', confidential: true });
    expect(body).toMatchObject({ due_date: null, weight: null, assignees: [], issue_type: 'issue' });
    expect(body.iid).toBeLessThan(4000);
    expect(body.created_at > '2020').toBe(true);
  });

  test('tells administrators, and nobody else, with what program it was created', async () => {
    const path = issuesOf('public');
    const token = world.tokens.owner!;
    const headers = { 'User-Agent': `lemon/${'1'.repeat(600)}` };
    const { body } = await service.call('POST', path, { token, headers, json: { title: 'By a lemon' } });
    const detail = `${path}/${body.iid}/user_agent_detail`;
    const told = await as('administrator', 'GET', detail);
    expect([told.status, told.body]).toEqual([
      200,
      {
        user_agent: headers['User-Agent'].slice(0, 512),
        ip_address: '127.0.0.1',
        spamcheck_submitted: false,
        akismet_submitted: false,
      },
    ]);
    expect((await as('owner', 'GET', detail)).status).toBe(403);
    const to = await as('owner', 'POST', `${path}/${body.iid}/clone`, {
      to_project_id: world.ids['internal'],
    });
    const cloned = `/projects/${world.ids['internal']}/issues/${to.body.iid}/user_agent_detail`;
    expect((await as('administrator', 'GET', cloned)).body).toEqual({
      message: '404 UserAgentDetail Not Found',
    });
    await as('owner', 'DELETE', `${path}/${body.iid}`);
    expect((await as('administrator', 'GET', detail)).status).toBe(404);
  });

  test('of an owner has the number and the time they choose, and later numbers are above it', async () => {
    const json = { title: 'Old', iid: 5000, created_at: '2001-02-03T04:05:06Z' };
    const { body } = await as('owner', 'POST', issuesOf('internal'), json);
    expect(body).toMatchObject({ iid: 5000, created_at: '2001-02-03T04:05:06.000Z' });
    expect(await as('owner', 'POST', issuesOf('internal'), json)).toMatchObject({
      status: 409,
      body: { message: 'Duplicated issue' },
    });
    expect((await as('guest', 'POST', issuesOf('internal'), { title: 'New' })).body.iid).toBe(5001);
  });

  test('is not assigned to who cannot read it', async () => {
    const assignee_ids = [world.ids['stranger'], 999_999, world.ids['guest']];
    const { body } = await as('reporter', 'POST', issuesOf('private'), { title: 'Work', assignee_ids });
    expect(body.assignees.map(({ username }: { username: string }) => username)).toEqual(['guest']);
  });

  test('with a long description shows all of it, and the next one', async () => {
    const path = await issue('guest', { title: 'Long', description: 'ü'.repeat(300_000) });
    expect((await as('guest', 'GET', path)).body.description).toBe('ü'.repeat(300_000));
    await as('guest', 'PUT', path, { description: 'short' });
    expect((await as('guest', 'GET', path)).body.description).toBe('short');
    await as('guest', 'PUT', path, { description: null });
    expect((await as('guest', 'GET', path)).body.description).toBe(null);
  });

  test.each([
    [{}, { error: 'title is missing' }],
    [{ title: ' ' }, { message: { title: ["can't be blank"] } }],
    [{ title: 'x'.repeat(256) }, { message: { title: ['is too long (maximum is 255 characters)'] } }],
    [{ title: 'x', confidential: 'maybe' }, { error: 'confidential is invalid' }],
    [{ title: 'x', confidential: null }, { error: 'confidential is empty' }],
    [{ title: 'x', due_date: 'soon' }, { error: 'due_date is invalid' }],
    [{ title: 'x', issue_type: 'wish' }, { error: 'issue_type does not have a valid value' }],
    [{ title: 'x', weight: -1 }, { message: { weight: ['must be greater than or equal to 0'] } }],
    [
      { title: 'x', description: 'x'.repeat(1_048_577) },
      { message: { description: ['is too long (maximum is 1048576 characters)'] } },
    ],
  ])('is refused as %j', async (json, body) => {
    expect(await as('owner', 'POST', issuesOf('public'), json)).toMatchObject({ status: 400, body });
  });
});

describe('a confidential issue', () => {
  test('is there for its author, its assignees, Reporters and administrators, and for nobody else', async () => {
    const path = await issue('reporter', {
      title: 'hush',
      confidential: true,
      assignee_ids: [world.ids['guest']],
    });
    const mine = await issue('stranger', { title: 'mine', confidential: true });
    for (const who of ['guest', 'reporter', 'owner', 'administrator'] as const)
      expect((await as(who, 'GET', path)).status, who).toBe(200);
    for (const who of ['anonymous', 'stranger', 'external'] as const) {
      const answer = await as(who, 'GET', path);
      expect(answer, who).toMatchObject({ status: 404, body: { message: '404 Not found' } });
    }
    expect((await as('stranger', 'GET', mine)).status).toBe(200);
    expect((await as('guest', 'GET', mine)).status).toBe(404);
    expect((await as('guest', 'PUT', mine, { title: 'x' })).status).toBe(404);
    expect((await as('guest', 'DELETE', mine)).status).toBe(404);
  });
});

describe('a change of an issue', () => {
  test('may say everything in the query, without a body', async () => {
    const path = await issue('owner', { title: 'Old' });
    const query = `title=New&state_event=close&assignee_ids[]=${world.ids['guest']}&confidential=true&due_date=2031-01-01`;
    const { body } = await as('owner', 'PUT', `${path}?${query}`);
    expect(body).toMatchObject({ title: 'New', state: 'closed', confidential: true, due_date: '2031-01-01' });
    expect(body.assignees).toMatchObject([{ username: 'guest' }]);
    const cleared = await as('owner', 'PUT', `${path}?assignee_ids=0&due_date=`);
    expect(cleared.body).toMatchObject({ assignees: [], due_date: null });
  });

  test('sets, adds and removes labels, and creates those that are missing', async () => {
    const path = await issue('owner', { title: 'Door', labels: 'wood, metal ,wood' });
    const labels = async (json: object) => (await as('reporter', 'PUT', path, json)).body.labels;
    expect((await as('owner', 'GET', path)).body.labels).toEqual(['metal', 'wood']);
    expect(await labels({ add_labels: ['glass', 'wood'] })).toEqual(['glass', 'metal', 'wood']);
    expect(await labels({ remove_labels: 'wood,none', add_labels: 'Wood' })).toEqual([
      'Wood',
      'glass',
      'metal',
    ]);
    expect(await labels({ labels: ['iron'] })).toEqual(['iron']);
    expect(await labels({ labels: '' })).toEqual([]);
    const many = Array.from({ length: 100 }, (_, i) => `l${String(i).padStart(3, '0')}`);
    expect(await labels({ labels: many })).toEqual(many);
    expect(await labels({ labels: null })).toEqual([]);
    const tooMany = Array.from({ length: 501 }, (_, i) => `m${i}`).join();
    expect((await as('owner', 'PUT', path, { add_labels: tooMany })).status).toBe(400);
    const guests = await issue('guest', { title: 'Window', labels: 'glass' });
    expect((await as('guest', 'GET', guests)).body.labels).toEqual([]);
  });

  test('closes and reopens once; to repeat it changes nothing', async () => {
    const path = await issue('owner', { title: 'Door' });
    const closed = (await as('reporter', 'PUT', path, { state_event: 'close' })).body;
    expect(closed).toMatchObject({ state: 'closed', closed_by: { username: 'reporter' } });
    const again = await as('owner', 'PUT', path, { state_event: 'close' });
    expect(again).toMatchObject({
      status: 200,
      body: { closed_at: closed.closed_at, closed_by: { username: 'reporter' } },
    });
    const reopened = await as('owner', 'PUT', path, { state_event: 'reopen' });
    expect(reopened.body).toMatchObject({ state: 'opened', closed_at: null, closed_by: null });
  });

  test('is for Reporters; authors and assignees below change its texts and state alone', async () => {
    const path = await issue('guest', { title: 'Mine' });
    for (const who of ['stranger', 'external'] as const)
      expect((await as(who, 'PUT', path, { title: 'x' })).status, who).toBe(403);
    const json = { title: 'Better', description: 'd', weight: 5, confidential: true, state_event: 'close' };
    expect((await as('guest', 'PUT', path, json)).body).toMatchObject({
      ...{ title: 'Better', description: 'd', weight: null, confidential: false, state: 'closed' },
    });
    const others = await issue('owner', { title: 'Other' });
    expect((await as('guest', 'PUT', others, { title: 'x' })).status).toBe(403);
    await as('owner', 'PUT', others, { assignee_id: world.ids['guest'] });
    expect((await as('guest', 'PUT', others, { title: 'Assigned' })).body.title).toBe('Assigned');
  });

  test('says something', async () => {
    const path = await issue('owner', { title: 'Door' });
    const { status, body } = await as('owner', 'PUT', path, {});
    expect(status).toBe(400);
    expect(body.error).toMatch(/^title, .* are missing, at least one parameter must be provided$/);
    for (const [json, error] of [
      [{ title: '' }, undefined],
      [{ state_event: 'open' }, 'state_event does not have a valid value'],
      [{ updated_at: 'never' }, 'updated_at is invalid'],
    ] as const)
      expect(await as('owner', 'PUT', path, json)).toMatchObject({
        status: 400,
        ...(error === undefined ? {} : { body: { error } }),
      });
    expect(await as('owner', 'PUT', `${issuesOf('public')}/99999`, { title: 'x' })).toMatchObject({
      status: 404,
      body: { message: '404 Not found' },
    });
    expect(await as('owner', 'GET', `${issuesOf('public')}/none`)).toMatchObject({
      status: 400,
      body: { error: 'issue_iid is invalid' },
    });
  });

  test('loses nothing that others change at the same time', async () => {
    const path = await issue('owner', { title: 'Busy' });
    const changes = [
      ...[{ title: 'Changed' }, { weight: 7 }, { due_date: '2030-03-03' }, { state_event: 'close' }],
      ...[{ confidential: true }, { description: 'text' }],
    ];
    const answers = await Promise.all(changes.map((json) => as('owner', 'PUT', path, json)));
    expect(answers.map(({ status }) => status)).toEqual(changes.map(() => 200));
    expect((await as('owner', 'GET', path)).body).toMatchObject({
      ...{ title: 'Changed', weight: 7, due_date: '2030-03-03', state: 'closed', confidential: true },
      description: 'text',
    });
  });
});

describe('deletion of an issue', () => {
  test('is for owners, and heeds the time of the last change', async () => {
    const path = await issue('owner', { title: 'Away' });
    for (const who of ['guest', 'reporter', 'maintainer'] as const)
      expect((await as(who, 'DELETE', path)).status, who).toBe(403);
    const early = { 'If-Unmodified-Since': 'Mon, 01 Jan 2001 00:00:00 GMT' };
    const token = world.tokens.owner!;
    expect((await service.call('DELETE', path, { token, headers: early })).status).toBe(412);
    expect((await as('owner', 'DELETE', path)).status).toBe(204);
    expect((await as('owner', 'GET', path)).status).toBe(404);
    expect(await as('owner', 'DELETE', path)).toMatchObject({
      status: 404,
      body: { message: '404 Issue Not Found' },
    });
  });
});

test('issues are refused where the project has switched them off, and read only by members where it keeps them', async () => {
  const made = await as('owner', 'POST', '/projects', { name: 'quiet', visibility: 'public' });
  const path = `/projects/${made.body.id}`;
  await as('owner', 'POST', `${path}/issues`, { title: 'Old' });
  await as('owner', 'PUT', path, { issues_access_level: 'private' });
  expect((await as('owner', 'GET', `${path}/issues/1`)).status).toBe(200);
  expect((await as('stranger', 'GET', `${path}/issues/1`)).status).toBe(403);
  expect((await as('anonymous', 'GET', `${path}/issues/1`)).status).toBe(401);
  await as('owner', 'PUT', path, { issues_access_level: 'disabled' });
  for (const who of ['owner', 'stranger', 'administrator', 'anonymous'] as const)
    expect((await as(who, 'GET', `${path}/issues/1`)).status, who).toBe(403);
  expect((await as('owner', 'POST', `${path}/issues`, { title: 'New' })).status).toBe(403);
});

describe('feeds', () => {
  const events = async (who: Who, query = '') => {
    const { status, body, headers } = await as(
      who,
      'GET',
      `/projects/${world.ids['internal']}/events?${query}`,
    );
    expect(status).toBe(200);
    const told = body.map(
      (event: Record<string, unknown>) => `${event['action_name']} ${event['target_title']}`,
    );
    return { told, total: headers.get('x-total') };
  };

  test('tell of issues that are opened, closed and reopened, of confidential ones to those who see them', async () => {
    const path = await issue('guest', { title: 'Roof' }, 'internal');
    await as('reporter', 'PUT', path, { state_event: 'close' });
    await as('owner', 'PUT', path, { state_event: 'reopen' });
    await as('owner', 'PUT', path, { state_event: 'reopen' });
    await issue('owner', { title: 'hush', confidential: true }, 'internal');
    const { told, total } = await events('stranger', 'target_type=issue');
    expect(told.slice(0, 3)).toEqual(['opened Roof', 'closed Roof', 'opened Roof']);
    const all = await events('owner', 'target_type=issue');
    expect(all).toEqual({ told: ['opened hush', ...told], total: String(Number(total) + 1) });
    expect((await events('guest', 'target_type=issue')).told).toEqual(told);
    await as('owner', 'PUT', path, { confidential: true });
    expect((await events('stranger', 'target_type=issue')).told.join()).not.toContain('Roof');
    expect((await events('guest', 'target_type=issue')).told).toContain('closed Roof');
    expect((await events('reporter', 'action=closed')).told).toEqual(['closed Roof']);
    await as('owner', 'DELETE', path);
    expect((await events('owner', 'target_type=issue')).told.join()).not.toContain('Roof');
  });
});

test('a project counts its open issues, and confidential ones for those who see all of them', async () => {
  const { id } = (await as('owner', 'POST', '/projects', { name: 'counted', visibility: 'public' })).body;
  const count = async (who: Who) => (await as(who, 'GET', `/projects/${id}`)).body.open_issues_count;
  expect(await count('owner')).toBe(0);
  for (const json of [{ title: 'a' }, { title: 'b' }, { title: 'c', confidential: true }])
    await as('owner', 'POST', `/projects/${id}/issues`, json);
  await as('owner', 'PUT', `/projects/${id}/issues/2`, { state_event: 'close' });
  expect(await count('owner')).toBe(2);
  expect(await count('stranger')).toBe(1);
});

test('users create as many issues a minute as the instance allows', async () => {
  await as('administrator', 'PUT', '/application/settings', { issues_create_limit: 2 });
  await freshWindow();
  try {
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++)
      statuses.push((await as('stranger', 'POST', issuesOf('public'), { title: 'Spam' })).status);
    expect(statuses).toContain(429);
    expect(await as('stranger', 'POST', issuesOf('public'), { title: 'Spam' })).toMatchObject({
      status: 429,
      body: {
        message: { error: 'This endpoint has been requested too many times. Try again later.' },
      },
    });
  } finally {
    await as('administrator', 'PUT', '/application/settings', { issues_create_limit: 300 });
  }
});
