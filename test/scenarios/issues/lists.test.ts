import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectSchema } from '../../harness/schemas.ts';
import { type Service, startService } from '../../harness/service.ts';
import { ask, makeWorld, type Who, type World } from '../../harness/world.ts';

let service: Service;
let world: World;
let group: number;
let sub: number;
/** Projects directly in the group and in its subgroup. */
let upper: number;
let lower: number;

const as = (who: Who, method: string, path: string, json?: unknown) => ask(world, who, method, path, json);
const made = async (who: Who, path: string, json: object) => {
  const { status, body } = await as(who, 'POST', path, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
};

/** Titles that a list shows. */
async function titles(who: Who, path: string): Promise<string[]> {
  const { status, body } = await as(who, 'GET', path);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.map(({ title }: { title: string }) => title);
}

const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);

beforeAll(async () => {
  service = await startService();
  world = await makeWorld(service);
  group = (await made('owner', '/groups', { name: 'top', path: 'top', visibility: 'public' })).id;
  const nested = { name: 'sub', path: 'sub', visibility: 'public', parent_id: group };
  sub = (await made('owner', '/groups', nested)).id;
  const project = { visibility: 'public' };
  upper = (await made('owner', '/projects', { ...project, name: 'upper', namespace_id: group })).id;
  lower = (await made('owner', '/projects', { ...project, name: 'lower', namespace_id: sub })).id;
  for (const [who, access_level] of [
    ['reporter', 20],
    ['guest', 10],
  ] as const)
    await made('owner', `/groups/${group}/members`, { user_id: world.ids[who], access_level });
  await made('owner', `/groups/${group}/labels`, { name: 'bug', color: '#ff0000', description: 'Broken' });
  await made('owner', `/projects/${upper}/labels`, { name: 'door', color: '#00ff00', priority: 1 });
  const milestone = await made('owner', `/groups/${group}/milestones`, { title: 'v1', due_date: day(20) });
  const started = await made('owner', `/projects/${upper}/milestones`, {
    ...{ title: 'now', start_date: day(-5), due_date: day(5) },
  });
  const issue = (who: Who, id: number, json: object) => made(who, `/projects/${id}/issues`, json);
  const { developer } = world.ids;
  await issue('owner', upper, {
    ...{ title: 'one', labels: 'bug,door', assignee_ids: [developer], due_date: day(0), weight: 3 },
    ...{ description: 'a rusty hinge', milestone_id: milestone.id, created_at: '2020-01-01T00:00:00Z' },
  });
  await issue('guest', upper, { title: 'two', description: 'Paint it' });
  await issue('reporter', upper, { title: 'three', labels: 'bug', weight: 1, due_date: day(-40) });
  await issue('owner', upper, { title: 'hush', confidential: true, labels: 'bug' });
  await issue('guest', upper, { title: 'whisper', confidential: true });
  await issue('owner', lower, {
    ...{
      title: 'four',
      labels: 'bug',
      issue_type: 'incident',
      assignee_ids: [developer, world.ids['guest']],
    },
    ...{ created_at: '2020-06-01T00:00:00Z' },
  });
  await issue('owner', upper, { title: 'five', milestone_id: started.id, due_date: day(1) });
  await as('owner', 'PUT', `/projects/${upper}/issues/2`, { state_event: 'close' });
});
afterAll(() => service.stop());

const all = ['five', 'whisper', 'hush', 'three', 'two', 'four', 'one'];

describe('the list of a project', () => {
  const path = (query = '') => `/projects/${upper}/issues?${query}`;

  test('shows the newest first, with totals, and what the schema asks for', async () => {
    const answer = await as('reporter', 'GET', path());
    expectSchema(
      'issues',
      JSON.parse(JSON.stringify(answer.body), (_, value) =>
        value?.username === undefined ? value : { ...value, locked: false, avatar_url: 'http://localhost/a' },
      ),
    );
    expect(answer.body.map(({ title }: { title: string }) => title)).toEqual(
      all.filter((title) => title !== 'four'),
    );
    expect(answer.headers.get('x-total')).toBe('6');
    expect(answer.body.at(-1)).toMatchObject({
      labels: ['bug', 'door'],
      milestone: { title: 'v1', group_id: group },
      references: { relative: '#1' },
    });
    const second = await as('reporter', 'GET', path('per_page=2&page=2'));
    expect(second.body.map(({ title }: { title: string }) => title)).toEqual(['hush', 'three']);
    expect(second.headers.get('x-next-page')).toBe('3');
  });

  test('has confidential issues for Reporters, and for others their own, in totals too', async () => {
    const total = async (who: Who) => (await as(who, 'GET', path())).headers.get('x-total');
    expect(await titles('guest', path())).toEqual(['five', 'whisper', 'three', 'two', 'one']);
    expect(await total('guest')).toBe('5');
    expect(await titles('stranger', path())).toEqual(['five', 'three', 'two', 'one']);
    expect(await total('anonymous')).toBe('4');
    expect(await titles('stranger', path('confidential=true'))).toEqual([]);
    expect(await titles('guest', path('confidential=true'))).toEqual(['whisper']);
    // By their numbers no others are found than without them.
    const numbers = [1, 2, 3, 4, 5, 6].map((iid) => `iids[]=${iid}`).join('&');
    const upperOnes = all.filter((title) => title !== 'four');
    expect(await titles('owner', path(numbers))).toEqual(upperOnes);
    expect(await titles('guest', path(numbers))).toEqual(upperOnes.filter((title) => title !== 'hush'));
    expect(await titles('stranger', path(`${numbers}&confidential=true`))).toEqual([]);
    expect(await titles('owner', path('confidential=true'))).toEqual(['whisper', 'hush']);
    expect(await titles('guest', path('labels=bug'))).toEqual(['three', 'one']);
    expect(await titles('reporter', path('labels=bug'))).toEqual(['hush', 'three', 'one']);
  });

  test.each([
    ['state=opened', ['five', 'whisper', 'hush', 'three', 'one']],
    ['state=closed', ['two']],
    ['state=all&sort=asc&per_page=2', ['one', 'two']],
    ['labels=bug,door', ['one']],
    ['labels[]=bug&labels[]=door', ['one']],
    ['labels=none', ['five', 'whisper', 'two']],
    ['labels=No+Label', ['five', 'whisper', 'two']],
    ['labels=No%2BLabel', ['five', 'whisper', 'two']],
    ['labels=Any', ['hush', 'three', 'one']],
    ['labels=Bug', []],
    ['not[labels]=bug', ['five', 'whisper', 'two']],
    ['not[labels]=door,bug', ['five', 'whisper', 'two']],
    ['author_username=guest', ['whisper', 'two']],
    ['author_username=nobody', []],
    ['not[author_username]=owner', ['whisper', 'three', 'two']],
    ['not[author_username]=owner&not[assignee_username]=nobody', ['whisper', 'three', 'two']],
    ['assignee_username=developer', ['one']],
    ['assignee_id=None', ['five', 'whisper', 'hush', 'three', 'two']],
    ['assignee_id=Any', ['one']],
    ['assignee_id=0&author_username=guest', ['whisper', 'two']],
    ['author_username=owner&labels=bug', ['hush', 'one']],
    ['milestone=v1', ['one']],
    ['milestone=v1&labels=bug', ['one']],
    ['milestone=none', ['whisper', 'hush', 'three', 'two']],
    ['milestone_id=Any', ['five', 'one']],
    ['milestone=%23started', ['five']],
    ['milestone_id=Upcoming', ['one']],
    ['not[milestone]=v1&milestone=any', ['five']],
    ['iids[]=1&iids[]=3', ['three', 'one']],
    ['not[iids]=1,2,3,4', ['five', 'whisper']],
    ['search=RUSTY', ['one']],
    ['search=paint%20two', ['two']],
    ['search=%22paint%20two%22', []],
    ['search=%22rusty%20hinge%22%20one', ['one']],
    ['search=%22hinge%20rusty%22', []],
    ['search=paint&in=title', []],
    ['due_date=0', ['whisper', 'hush', 'two']],
    ['due_date=&state=opened', ['five', 'whisper', 'hush', 'three', 'one']],
    ['due_date=any', ['five', 'three', 'one']],
    ['due_date=today', ['one']],
    ['due_date=tomorrow', ['five']],
    ['due_date=overdue', ['three']],
    ['due_date=next_month_and_previous_two_weeks', ['five', 'one']],
    ['weight=3', ['one']],
    ['weight=None&state=closed', ['two']],
    ['not[weight]=1&weight=Any', ['one']],
    ['created_before=2020-01-01T00:00:00Z', ['one']],
    ['created_after=2020-01-02', ['five', 'whisper', 'hush', 'three', 'two']],
    ['updated_before=2020-01-02', []],
    ['my_reaction_emoji=Any', []],
    ['iteration_id=Any', []],
    ['order_by=title&sort=asc', ['five', 'hush', 'one', 'three', 'two', 'whisper']],
    ['order_by=weight&sort=asc&weight=Any', ['three', 'one']],
    ['order_by=weight&per_page=2', ['one', 'three']],
    ['order_by=due_date&sort=asc&due_date=any', ['three', 'one', 'five']],
    ['order_by=milestone_due&sort=asc&milestone_id=any', ['five', 'one']],
    ['order_by=label_priority&sort=asc&per_page=1', ['one']],
    ['order_by=updated_at&per_page=1', ['two']],
    ['order_by=popularity&sort=asc&per_page=1', ['one']],
    ['scope=assigned_to_me', []],
    ['scope=created-by-me', ['three']],
    ['author_id={guest}', ['whisper', 'two']],
    ['not[author_id]={owner}', ['whisper', 'three', 'two']],
    ['assignee_id={developer}', ['one']],
    ['not[assignee_id]={developer}', ['five', 'whisper', 'hush', 'three', 'two']],
    ['not[assignee_id]=None', ['one']],
    ['not[assignee_username]=developer', ['five', 'whisper', 'hush', 'three', 'two']],
    ['not[milestone_id]=Any', ['whisper', 'hush', 'three', 'two']],
    ['not[milestone_id]=Started', ['whisper', 'hush', 'three', 'two', 'one']],
    ['not[weight]=Any', ['five', 'whisper', 'hush', 'two']],
    ['not[labels]=door&not[author_username]=guest', ['five', 'hush', 'three']],
    ['not[my_reaction_emoji]=Any&state=closed', ['two']],
    ['search=rusty&in=description', ['one']],
    ['search=one&in=description', []],
    ['search=one&in=title,description', ['one']],
    ['confidential=false', ['five', 'three', 'two', 'one']],
    ['issue_type=issue&state=closed', ['two']],
    ['issue_type=test_case', []],
    ['health_status=Any', []],
    ['health_status=None&state=closed', ['two']],
    ['updated_after=2020-01-02&state=closed', ['two']],
    ['created_after=2020-01-01T00:00:00Z&created_before=2020-01-01T00:00:00Z', ['one']],
    ['order_by=priority&sort=asc&per_page=2', ['five', 'one']],
    ['order_by=priority&sort=desc&per_page=3', ['one', 'five', 'whisper']],
  ])('with %s', async (query, expected) => {
    const named = query.replaceAll(/\{(\w+)\}/g, (_, name) => String(world.ids[name]));
    expect(await titles('reporter', path(named))).toEqual(expected);
  });

  test.each([
    ['assignee_id=1&assignee_username=x', 'assignee_id, assignee_username are mutually exclusive'],
    ['author_id=1&author_username=x', 'author_id, author_username are mutually exclusive'],
    ['milestone=x&milestone_id=None', 'milestone, milestone_id are mutually exclusive'],
    ['iteration_id=1&iteration_title=x', 'iteration_id, iteration_title are mutually exclusive'],
    ['order_by=size', 'order_by does not have a valid value'],
    ['state=gone', 'state does not have a valid value'],
    ['due_date=soon', 'due_date does not have a valid value'],
    ['weight=much', "weight should be an integer, 'None' or 'Any', however got 'much'"],
    ['created_after=never', 'created_after is invalid'],
    ['not[author_id]=x', 'not[author_id] is invalid'],
  ])('refuses %s', async (query, error) => {
    expect(await as('reporter', 'GET', path(query))).toMatchObject({ status: 400, body: { error } });
  });

  test('shows labels with their details on request', async () => {
    const { body } = await as('reporter', 'GET', path('with_labels_details=true&iids=3'));
    expect(body[0].labels).toMatchObject([
      { name: 'bug', color: '#ff0000', description: 'Broken', text_color: '#FFFFFF' },
    ]);
  });
});

describe('the list of a group', () => {
  const path = (query = '') => `/groups/${group}/issues?scope=all&${query}`;

  test('has the issues of all projects below, as far as the reader sees them', async () => {
    expect(await titles('reporter', path())).toEqual(all);
    expect(await titles('guest', path())).toEqual(all.filter((title) => title !== 'hush'));
    expect(await titles('anonymous', path())).toEqual(['five', 'three', 'two', 'four', 'one']);
    expect(await titles('anonymous', `/groups/${group}/issues`)).toEqual([
      'five',
      'three',
      'two',
      'four',
      'one',
    ]);
    const answer = await as('guest', 'GET', path());
    expect(answer.headers.get('x-total')).toBe('6');
    const [four] = answer.body.filter(({ title }: { title: string }) => title === 'four');
    expect(four.references.relative).toBe('sub/lower#1');
    expect(await titles('owner', `/groups/${sub}/issues?scope=all`)).toEqual(['four']);
  });

  test.each([
    ['labels=bug', ['hush', 'three', 'four', 'one']],
    ['labels=bug&author_username=owner', ['hush', 'four', 'one']],
    ['assignee_username=developer', ['four', 'one']],
    ['milestone=v1', ['one']],
    ['state=closed', ['two']],
    ['issue_type=incident', ['four']],
    ['order_by=updated_at&per_page=1', ['two']],
    ['order_by=title&sort=asc&per_page=2', ['five', 'four']],
    ['search=hinge', ['one']],
  ])('with %s', async (query, expected) => {
    expect(await titles('reporter', path(query))).toEqual(expected);
  });

  test("is of the caller's own issues where nothing else is said", async () => {
    expect(await titles('guest', `/groups/${group}/issues`)).toEqual(['whisper', 'two']);
    expect(await titles('guest', `/groups/${group}/issues?scope=assigned_to_me`)).toEqual(['four']);
  });

  test('leaves out archived projects unless asked for', async () => {
    const put = { name: 'past', namespace_id: group, visibility: 'public' };
    const past = (await made('owner', '/projects', put)).id;
    await made('owner', `/projects/${past}/issues`, { title: 'bygone' });
    await made('owner', `/projects/${past}/archive`, {});
    expect(await titles('owner', path())).not.toContain('bygone');
    expect(await titles('owner', path('non_archived=false'))).toContain('bygone');
    await as('administrator', 'DELETE', `/projects/${past}`);
  });
});

describe('the list of the instance', () => {
  test("is of the caller's own issues, of those assigned to them, or of all they see", async () => {
    expect(await titles('guest', '/issues')).toEqual(['whisper', 'two']);
    expect(await titles('guest', '/issues?scope=assigned_to_me')).toEqual(['four']);
    expect(await titles('guest', '/issues?scope=assigned_to_me&assignee_id=Any')).toEqual(['four']);
    expect(await titles('guest', '/issues?scope=assigned_to_me&assignee_id=None')).toEqual([]);
    expect(await titles('anonymous', '/issues?scope=all')).toEqual(['five', 'three', 'two', 'four', 'one']);
    expect(await titles('guest', '/issues?scope=all')).toEqual(all.filter((title) => title !== 'hush'));
    expect(await titles('reporter', '/issues?scope=all')).toEqual(all);
    expect(await titles('administrator', '/issues?scope=all&labels=bug')).toEqual([
      'hush',
      'three',
      'four',
      'one',
    ]);
    expect((await as('anonymous', 'GET', '/issues')).status).toBe(401);
    const [four] = (await as('guest', 'GET', '/issues?scope=assigned_to_me')).body;
    expect(four.references).toMatchObject({
      short: '#1',
      relative: 'top/sub/lower#1',
      full: 'top/sub/lower#1',
    });
  });

  test('has nothing of a private project for those who do not see it', async () => {
    await made('owner', `/projects/${world.ids['private']}/issues`, { title: 'secret' });
    expect(await titles('stranger', '/issues?scope=all')).not.toContain('secret');
    expect(await titles('guest', '/issues?scope=all')).toContain('secret');
    expect(await titles('former', '/issues?scope=all')).not.toContain('secret');
  });
});

test('statistics count what the lists show', async () => {
  const counts = async (who: Who, path: string) => {
    const { status, body } = await as(who, 'GET', path);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.statistics.counts;
  };
  const project = `/projects/${upper}/issues_statistics`;
  expect(await counts('reporter', project)).toEqual({ all: 6, closed: 1, opened: 5 });
  expect(await counts('guest', project)).toEqual({ all: 5, closed: 1, opened: 4 });
  expect(await counts('anonymous', project)).toEqual({ all: 4, closed: 1, opened: 3 });
  expect(await counts('reporter', `${project}?labels=bug`)).toEqual({ all: 3, closed: 0, opened: 3 });
  expect(await counts('reporter', `${project}?search=paint`)).toEqual({ all: 1, closed: 1, opened: 0 });
  const ofGroup = `/groups/${group}/issues_statistics?scope=all`;
  expect(await counts('reporter', ofGroup)).toEqual({ all: 7, closed: 1, opened: 6 });
  expect(await counts('anonymous', ofGroup)).toEqual({ all: 5, closed: 1, opened: 4 });
  expect(await counts('guest', '/issues_statistics')).toEqual({ all: 2, closed: 1, opened: 1 });
});

test('what is overdue may be closed', async () => {
  const path = `/projects/${upper}/issues`;
  await as('owner', 'PUT', `${path}/3`, { state_event: 'close' });
  expect(await titles('reporter', `${path}?due_date=overdue`)).toEqual(['three']);
  expect(await titles('reporter', `${path}?due_date=overdue&state=opened`)).toEqual([]);
});
