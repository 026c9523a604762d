/** To-dos: what causes them and for whom, the list and its filters, and when they are done. */
import { describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';

const { as, root, service, someone, world } = ownWorld();

interface Person {
  readonly id: number;
  readonly username: string;
  readonly token: string;
}

interface Todo {
  readonly id: number;
  readonly body: string;
  readonly action_name: string;
  readonly author: { readonly id: number };
  readonly project: { readonly name: string };
  readonly target: { readonly title: string };
}

const call = (who: Person, method: string, path: string, json?: unknown) =>
  service.call(method, path, { token: who.token, ...(json === undefined ? {} : { json }) });
const todosOf = async (who: Person, query = '') => {
  await settled();
  const { status, body, headers } = await call(who, 'GET', `/todos${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return Object.assign(body as Todo[], { headers });
};
const actionsOf = async (who: Person) =>
  (await todosOf(who)).map(({ action_name, target }) => [action_name, target.title]);

/** A private project of somebody new, with members of the levels given. */
async function team(...levels: number[]) {
  const owner: Person = await someone();
  const made = await call(owner, 'POST', '/projects', { name: 'Team', visibility: 'private' });
  const members: Person[] = [];
  for (const access_level of levels) {
    const member = await someone();
    await call(owner, 'POST', `/projects/${made.body.id}/members`, { user_id: member.id, access_level });
    members.push(member);
  }
  const issues = `/projects/${made.body.id}/issues`;
  const issue = async (json: Record<string, unknown>, by = owner) => {
    const { status, body } = await call(by, 'POST', issues, json);
    expect(status, JSON.stringify(body)).toBe(201);
    return body;
  };
  return { owner, members, project: made.body, issues, issue };
}

describe('a to-do', () => {
  test('is created by the caller for an issue, once, and shown with its target', async () => {
    const { owner, project, issues, issue } = await team();
    const { iid } = await issue({ title: 'Work' });
    const { status, body } = await call(owner, 'POST', `${issues}/${iid}/todo`);
    const { subscribed: _, ...target } = (await call(owner, 'GET', `${issues}/${iid}`)).body;
    expect([status, body]).toEqual([
      201,
      {
        id: expect.any(Number),
        project: {
          id: project.id,
          description: null,
          name: 'Team',
          name_with_namespace: project.name_with_namespace,
          path: 'team',
          path_with_namespace: project.path_with_namespace,
          created_at: project.created_at,
        },
        author: expect.objectContaining({ id: owner.id }),
        action_name: 'marked',
        target_type: 'Issue',
        target,
        target_url: target.web_url,
        body: 'Work',
        state: 'pending',
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ]);
    expect((await call(owner, 'POST', `${issues}/${iid}/todo`)).status).toBe(304);
    expect([...(await todosOf(owner))]).toEqual([body]);
    expect((await call(owner, 'GET', '/user_counts')).body.todos).toBe(1);
    expect((await call(owner, 'POST', `${issues}/99/todo`)).status).toBe(404);
  });

  test('is done alone, with all others, or because its user closes the issue', async () => {
    const { owner, issues, issue } = await team();
    const mark = async () =>
      (await call(owner, 'POST', `${issues}/${(await issue({ title: 'W' })).iid}/todo`)).body;
    const [first, second, third] = [await mark(), await mark(), await mark()];
    const done = await call(owner, 'POST', `/todos/${first.id}/mark_as_done`);
    expect([done.status, done.body]).toEqual([
      201,
      { ...first, state: 'done', updated_at: expect.any(String) },
    ]);
    expect((await call(owner, 'POST', `/todos/${first.id}/mark_as_done`)).body.state).toBe('done');
    expect((await todosOf(owner)).map(({ id }) => id)).toEqual([third.id, second.id]);
    await call(owner, 'PUT', `${issues}/${third.target.iid}`, { state_event: 'close' });
    expect((await todosOf(owner)).map(({ id }) => id)).toEqual([second.id]);
    expect((await call(owner, 'POST', '/todos/mark_as_done')).status).toBe(204);
    expect(await todosOf(owner)).toHaveLength(0);
    expect((await todosOf(owner, '?state=done')).map(({ id }) => id)).toEqual([
      third.id,
      second.id,
      first.id,
    ]);
    // What is done may have to be done again.
    expect((await call(owner, 'POST', `${issues}/${first.target.iid}/todo`)).status).toBe(201);
    const stranger: Person = await someone();
    expect((await call(stranger, 'POST', `/todos/${second.id}/mark_as_done`)).status).toBe(404);
  });

  test('is done because its user awards an emoji, to the issue or to a note on it', async () => {
    const { owner, members, issues, issue } = await team(30);
    const [member] = members as [Person];
    const made = [];
    for (const title of ['Liked', 'Discussed', 'Left'])
      made.push(await issue({ title, assignee_ids: [member.id] }));
    const [liked, discussed] = made;
    await settled();
    const note = await call(owner, 'POST', `${issues}/${discussed.iid}/notes`, { body: 'Well' });
    await call(member, 'POST', `${issues}/${liked.iid}/award_emoji`, { name: 'thumbsup' });
    const onNote = `${issues}/${discussed.iid}/notes/${note.body.id}/award_emoji`;
    await call(member, 'POST', onNote, { name: 'thumbsup' });
    // Another's award changes nothing.
    await call(owner, 'POST', `${issues}/${made[2].iid}/award_emoji`, { name: 'thumbsup' });
    expect(await actionsOf(member)).toEqual([['assigned', 'Left']]);
  });

  test('of more than one request marks is done by a worker', async () => {
    const { owner, issues, issue } = await team();
    for (let i = 0; i < 155; i++) {
      const { iid } = await issue({ title: `W ${i}` });
      await call(owner, 'POST', `${issues}/${iid}/todo`);
    }
    expect((await call(owner, 'POST', '/todos/mark_as_done')).status).toBe(204);
    expect(await todosOf(owner)).toHaveLength(0);
    expect((await todosOf(owner, '?state=done')).headers.get('x-total')).toBe('155');
  });
});

describe('an issue makes to-dos', () => {
  test('for those who are assigned, addressed and mentioned, but not for its author or strangers', async () => {
    const { owner, members, issue } = await team(20, 20, 20);
    const [ada, bob, cyd] = members as [Person, Person, Person];
    const dan: Person = await someone();
    const description = `@${ada.username} @${bob.username}: what does @${cyd.username} say to @${dan.username} and @${owner.username}? \`@x\``;
    await issue({ title: 'New', description, assignee_ids: [bob.id] });
    expect(await actionsOf(ada)).toEqual([['directly_addressed', 'New']]);
    expect(await actionsOf(bob)).toEqual([['assigned', 'New']]);
    expect(await actionsOf(cyd)).toEqual([['mentioned', 'New']]);
    expect(await actionsOf(dan)).toEqual([]);
    expect(await actionsOf(owner)).toEqual([]);
    expect((await todosOf(ada))[0]!.author.id).toBe(owner.id);
  });

  test('when it is changed, for those who had none', async () => {
    const { owner, members, issues, issue } = await team(20, 20);
    const [ada, bob] = members as [Person, Person];
    const { iid } = await issue({ title: 'Later', assignee_ids: [ada.id] });
    const changed = { assignee_ids: [ada.id, bob.id, owner.id], description: `@${ada.username}` };
    expect((await call(owner, 'PUT', `${issues}/${iid}`, changed)).status).toBe(200);
    expect(await actionsOf(ada)).toEqual([['assigned', 'Later']]);
    expect(await actionsOf(bob)).toEqual([['assigned', 'Later']]);
    expect(await actionsOf(owner)).toEqual([['assigned', 'Later']]);
  });

  test('when a note mentions or addresses somebody, and ends those of whoever writes it', async () => {
    const { owner, members, issues, issue } = await team(20, 20, 10);
    const [ada, bob, guest] = members as [Person, Person, Person];
    const { iid, web_url } = await issue({ title: 'Talk', assignee_ids: [ada.id] });
    const note = async (who: Person, json: object) =>
      (await call(who, 'POST', `${issues}/${iid}/notes`, json)).body as { id: number };
    const text = `@${bob.username}, does @${guest.username} know? @${owner.username} \`@${ada.username}\``;
    const { id } = await note(owner, { body: text });
    const [todo] = await todosOf(bob);
    expect(todo).toMatchObject({ action_name: 'directly_addressed', body: text, author: { id: owner.id } });
    expect(todo).toMatchObject({ target_url: `${web_url}#note_${id}`, target: { title: 'Talk' } });
    expect(await actionsOf(guest)).toEqual([['mentioned', 'Talk']]);
    expect([await actionsOf(owner), await actionsOf(ada)]).toEqual([[], [['assigned', 'Talk']]]);
    // A text that is changed calls those whom it did not call before.
    await note(guest, { body: 'I do' });
    await note(ada, { body: 'Me too' });
    expect([await actionsOf(guest), await actionsOf(ada)]).toEqual([[], []]);
    await call(owner, 'PUT', `${issues}/${iid}/notes/${id}`, { body: `${text} @${ada.username}` });
    expect([await actionsOf(guest), await actionsOf(ada)]).toEqual([[], [['mentioned', 'Talk']]]);
    // An internal note is not for guests.
    await note(bob, { body: 'between us' });
    await note(owner, { body: `@${bob.username} @${guest.username}`, internal: true });
    expect(await actionsOf(bob)).toEqual([['directly_addressed', 'Talk']]);
    expect(await actionsOf(guest)).toEqual([]);
  });

  test('when a text mentions a group or all members, for those who may see it', async () => {
    const { owner, members, project, issue, issues } = await team(10, 20);
    const [guest, reporter] = members as [Person, Person];
    const stranger: Person = await someone();
    const group = (await call(owner, 'POST', '/groups', { name: 'Crew', path: `crew${owner.id}` })).body;
    for (const { id: user_id } of [guest, reporter, stranger])
      await call(owner, 'POST', `/groups/${group.id}/members`, { user_id, access_level: 10 });
    await issue({ title: 'Called', description: `for @${group.path}, is it not` });
    const { iid } = await issue({ title: 'Secret', description: `@${group.path}: hush`, confidential: true });
    expect(await actionsOf(guest)).toEqual([['mentioned', 'Called']]);
    expect(await actionsOf(reporter)).toEqual([
      ['directly_addressed', 'Secret'],
      ['mentioned', 'Called'],
    ]);
    expect([await actionsOf(stranger), await actionsOf(owner)]).toEqual([[], []]);
    expect((await call(reporter, 'POST', '/todos/mark_as_done')).status).toBe(204);
    await call(owner, 'POST', `${issues}/${iid}/notes`, { body: 'Well, @all' });
    expect(await actionsOf(reporter)).toEqual([['mentioned', 'Secret']]);
    expect(await actionsOf(guest)).toEqual([['mentioned', 'Called']]);
    // Who may not see a group calls nobody by it, and nobody is called who was called before.
    expect((await call(reporter, 'POST', '/todos/mark_as_done')).status).toBe(204);
    await call(owner, 'PUT', `/groups/${group.id}`, { mentions_disabled: true });
    await call(owner, 'POST', `/projects/${project.id}/issues`, {
      title: 'Quiet',
      description: `@${group.path}`,
    });
    expect(await actionsOf(reporter)).toEqual([]);
  });

  test('that only those get and keep who may see it', async () => {
    const { owner, members, project, issue, issues } = await team(10, 20);
    const [guest, reporter] = members as [Person, Person];
    const text = `see @${guest.username} @${reporter.username}`;
    await issue({ title: 'Secret', description: text, confidential: true });
    const { iid } = await issue({ title: 'Open', description: text });
    expect(await actionsOf(guest)).toEqual([['mentioned', 'Open']]);
    expect(await actionsOf(reporter)).toEqual([
      ['mentioned', 'Open'],
      ['mentioned', 'Secret'],
    ]);
    await call(owner, 'PUT', `${issues}/${iid}`, { confidential: true });
    expect(await actionsOf(guest)).toEqual([]);
    await call(owner, 'DELETE', `/projects/${project.id}/members/${reporter.id}`);
    expect(await actionsOf(reporter)).toEqual([]);
  });

  test('that are counted, and fill pages, as far as their user may see them', async () => {
    const { owner, members, issue, issues } = await team(10);
    const [guest] = members as [Person];
    const made = [];
    for (const title of ['A', 'B', 'C', 'D']) {
      made.push(await issue({ title, description: `see @${guest.username}` }));
      await settled();
    }
    await call(owner, 'PUT', `${issues}/${made[2].iid}`, { confidential: true });
    await call(owner, 'DELETE', `${issues}/${made[1].iid}`);
    const page = async (number: number) => {
      const { body, headers } = await call(guest, 'GET', `/todos?per_page=1&page=${number}`);
      return [body.map(({ body: text }: Todo) => text), headers.get('x-next-page')];
    };
    await settled();
    expect([await page(1), await page(2), await page(3)]).toEqual([
      [['D'], '2'],
      [['A'], ''],
      [[], ''],
    ]);
    expect((await todosOf(guest)).headers.get('x-total')).toBe('2');
    expect((await call(guest, 'GET', '/user_counts')).body.todos).toBe(2);
  });
});

test('the list is filtered by state, action, author, project, group and type, and paged', async () => {
  const owner: Person = await someone();
  const group = (await call(owner, 'POST', '/groups', { name: 'G', path: `g${owner.id}` })).body;
  const make = async (name: string, namespace_id?: number) =>
    (await call(owner, 'POST', '/projects', { name, ...(namespace_id && { namespace_id }) })).body;
  const [inside, outside] = [await make('Inside', group.id), await make('Outside')];
  for (const { id } of [inside, outside]) {
    for (const title of ['A', 'B']) {
      const { body } = await call(owner, 'POST', `/projects/${id}/issues`, { title });
      await call(owner, 'POST', `/projects/${id}/issues/${body.iid}/todo`);
    }
  }
  const titles = async (query: string) =>
    (await todosOf(owner, query)).map(({ body, project }) => `${project.name} ${body}`);
  const all = ['Outside B', 'Outside A', 'Inside B', 'Inside A'];
  expect(await titles('')).toEqual(all);
  expect(await titles('?state=pending&action=marked&type=Issue')).toEqual(all);
  expect(await titles('?action=assigned')).toEqual([]);
  expect(await titles('?type=MergeRequest')).toEqual([]);
  expect(await titles(`?project_id=${inside.id}`)).toEqual(['Inside B', 'Inside A']);
  expect(await titles(`?group_id=${group.id}`)).toEqual(['Inside B', 'Inside A']);
  expect(await titles(`?author_id=${owner.id}`)).toEqual(all);
  expect(await titles('?author_id=1')).toEqual([]);
  expect(await titles('?per_page=3&page=2')).toEqual(['Inside A']);
  expect((await todosOf(owner, '?per_page=3')).headers.get('x-total')).toBe('4');
  expect((await todosOf(owner, `?per_page=1&project_id=${inside.id}`)).headers.get('x-total')).toBe('2');
  for (const [query, error] of [
    ['state=x', 'state does not have a valid value'],
    ['action=x', 'action does not have a valid value'],
    ['type=x', 'type does not have a valid value'],
    ['author_id=x', 'author_id is invalid'],
  ]) {
    expect(await call(owner, 'GET', `/todos?${query}`)).toMatchObject({ status: 400, body: { error } });
  }
  expect((await as('anonymous', 'GET', '/todos')).status).toBe(401);
});

test('a deleted user leaves no to-dos', async () => {
  const { members, issue } = await team(20);
  await issue({ title: 'Gone', assignee_ids: [members[0]!.id] });
  expect(await todosOf(members[0]!)).toHaveLength(1);
  expect((await root('DELETE', `/users/${members[0]!.id}`)).status).toBe(204);
  await settled();
  for (const state of ['pending', 'done'] as const)
    expect(await world.store.todos.count(members[0]!.id, state, 10)).toBe(0);
});
