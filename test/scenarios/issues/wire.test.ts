/** Requests as clients send them, byte for byte, and the fields that they read whatever they asked for. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';

const { service, world, as } = ownWorld();

let at: string;
let group: number;
beforeAll(async () => {
  group = (await as('owner', 'POST', '/groups', { name: 'Wire', path: 'wire', visibility: 'public' })).body
    .id;
  const json = { name: 'door', namespace_id: group, visibility: 'public' };
  at = `/projects/${(await as('owner', 'POST', '/projects', json)).body.id}`;
});

/** A request with a body as it is, or none, and no content type but the one given. */
async function sent(method: string, path: string, body?: BodyInit, type?: string) {
  const answer = await fetch(`${service.url}/api/v4${path}`, {
    method,
    headers: {
      'PRIVATE-TOKEN': world.tokens.owner!,
      ...(type === undefined ? {} : { 'Content-Type': type }),
    },
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
}

const issue = async (json: object = {}) =>
  (await as('owner', 'POST', `${at}/issues`, { title: 'Work', ...json })).body;

const FORM = 'application/x-www-form-urlencoded';
const multipart = (fields: Readonly<Record<string, string>>) => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return form;
};

describe('an issue', () => {
  test('is created and changed by a query alone, without a body', async () => {
    const created = await sent(
      'POST',
      `${at}/issues?title=From+a+query&labels=a,b&confidential=true&weight=3`,
    );
    expect(created).toMatchObject({
      status: 201,
      body: { title: 'From a query', labels: ['a', 'b'], confidential: true, weight: 3 },
    });
    const { id } = (await as('owner', 'POST', `${at}/milestones`, { title: 'v1' })).body;
    const query = `add_labels[]=c&remove_labels=a&milestone_id=${id}&discussion_locked=true&confidential=0&weight=`;
    const changed = await sent('PUT', `${at}/issues/${created.body.iid}?${query}&description=a%20%2B%20b`);
    expect(changed).toMatchObject({
      status: 200,
      body: {
        ...{
          labels: ['b', 'c'],
          milestone: { id },
          discussion_locked: true,
          confidential: false,
          weight: null,
        },
        description: 'a + b',
      },
    });
    const closed = await sent('PUT', `${at}/issues/${created.body.iid}?state_event=close&labels=`);
    expect(closed).toMatchObject({ status: 200, body: { state: 'closed', labels: [] } });
    const path = `${at}/issues/${created.body.iid}`;
    const unlocked = await as('owner', 'PUT', path, { discussion_locked: null });
    expect(unlocked).toMatchObject({ status: 200, body: { discussion_locked: null } });
  });

  test.each([
    ['JSON with texts', '{"labels":"a,b","assignee_ids":"{owner},{guest}"}', 'application/json'],
    ['JSON with lists', '{"labels":["a","b"],"assignee_ids":[{owner},{guest}]}', 'application/json'],
    [
      'JSON with numbers as texts',
      '{"labels":"a, b","assignee_ids":["{owner}","{guest}"]}',
      'application/json; charset=utf-8',
    ],
    ['a form with texts', 'labels=a%2Cb&assignee_ids=%7Bowner%7D', FORM],
    ['a form with lists', 'labels[]=a&labels[]=b&assignee_ids[]={owner}&assignee_ids[]={guest}', FORM],
    [
      'a form with numbered lists',
      'labels%5B%5D=a&labels%5B%5D=b&assignee_ids%5B%5D={owner}&assignee_ids%5B%5D={guest}',
      FORM,
    ],
  ])('has labels and assignees by %s', async (name, body, type) => {
    const { iid } = await issue();
    const filled = body.replaceAll(/(\{|%7B)(\w+)(\}|%7D)/g, (_, _open, who: string) =>
      String(world.ids[who]),
    );
    const { status, body: changed } = await sent('PUT', `${at}/issues/${iid}`, filled, type);
    expect([status, changed.labels]).toEqual([200, ['a', 'b']]);
    const names = changed.assignees.map(({ username }: { username: string }) => username);
    expect(names).toEqual(name === 'a form with texts' ? ['owner'] : ['owner', 'guest']);
  });

  test('gains and loses labels by lists and by texts with commas', async () => {
    const { iid } = await issue({ labels: 'a' });
    for (const [body, type, labels] of [
      ['{"add_labels":["b","c"]}', 'application/json', ['a', 'b', 'c']],
      ['{"remove_labels":"a,b"}', 'application/json', ['c']],
      ['add_labels[]=d&add_labels[]=e&remove_labels[]=c', FORM, ['d', 'e']],
      ['add_labels=f,g&remove_labels=d', FORM, ['e', 'f', 'g']],
    ] as const)
      expect((await sent('PUT', `${at}/issues/${iid}`, body, type)).body.labels).toEqual(labels);
  });

  test('shows what clients read of it wherever it is shown', async () => {
    const { iid, id, ...created } = await issue({ labels: 'shown' });
    const other = await issue({ title: 'Other' });
    const { id: milestone } = (await as('owner', 'POST', `${at}/milestones`, { title: 'all' })).body;
    const { id: epic } = (await as('owner', 'POST', `/groups/${group}/epics`, { title: 'all' })).body;
    const changed = await sent('PUT', `${at}/issues/${iid}?milestone_id=${milestone}&epic_id=${epic}`);
    const target = `target_project_id=${at.split('/').at(-1)}&target_issue_iid=${iid}`;
    expect((await sent('POST', `${at}/issues/${other.iid}/links?${target}`)).status).toBe(201);
    const epicIid = (await as('owner', 'GET', `/groups/${group}/epics`)).body[0].iid;
    const lists = [
      ...[`${at}/issues?labels=shown`, `/groups/${group}/issues?labels=shown`, '/issues?labels=shown'],
      ...[`${at}/milestones/${milestone}/issues`, `${at}/issues/${other.iid}/links`],
      ...[`/groups/${group}/epics/${epicIid}/issues`, `${at}/search?scope=issues&search=%23${iid}`],
    ];
    const found = await Promise.all(
      lists.map(async (path) =>
        (await as('owner', 'GET', path)).body.find((each: { id: number }) => each.id === id),
      ),
    );
    const all = [
      { ...created, iid, id },
      changed.body,
      (await as('owner', 'GET', `${at}/issues/${iid}`)).body,
      ...found,
    ];
    const full = `wire/door#${iid}`;
    for (const [i, shown] of all.entries())
      expect(shown, lists[i - 3] ?? 'one').toMatchObject({
        ...{
          user_notes_count: 0,
          discussion_locked: null,
          upvotes: 0,
          downvotes: 0,
          has_tasks: expect.any(Boolean),
        },
        web_url: `${service.url}/wire/door/-/issues/${iid}`,
        references: { short: `#${iid}`, full },
      });
    expect(found.map(({ references }) => references.relative)).toEqual([
      ...[`#${iid}`, `door#${iid}`, full, `#${iid}`, `#${iid}`, `door#${iid}`, `#${iid}`],
    ]);
  });
});

test('discussions are started, answered and changed by multipart forms; their notes are reached without them too', async () => {
  const { iid } = await issue();
  const path = `${at}/issues/${iid}`;
  const started = await sent('POST', `${path}/discussions`, multipart({ body: 'one' }));
  expect(started).toMatchObject({ status: 201, body: { individual_note: false, notes: [{ body: 'one' }] } });
  const [{ id: first }] = started.body.notes;
  const thread = `${path}/discussions/${started.body.id}/notes`;
  const answer = await sent('POST', thread, multipart({ body: 'two' }));
  expect(answer).toMatchObject({ status: 201, body: { body: 'two', type: 'DiscussionNote' } });
  const changed = await sent('PUT', `${thread}/${first}`, multipart({ body: 'one, again' }));
  expect(changed).toMatchObject({ status: 200, body: { id: first, body: 'one, again' } });
  const beside = await sent('PUT', `${path}/notes/${answer.body.id}?body=two%2C+again`);
  expect(beside).toMatchObject({ status: 200, body: { body: 'two, again', type: 'DiscussionNote' } });
  const { notes } = (await as('owner', 'GET', `${path}/discussions/${started.body.id}`)).body;
  expect(notes.map(({ body }: { body: string }) => body)).toEqual(['one, again', 'two, again']);
  for (const [i, each] of [`${path}/notes/${first}`, `${thread}/${answer.body.id}`].entries()) {
    expect(await sent('DELETE', each)).toEqual({ status: 204, body: null });
    expect((await as('owner', 'GET', path)).body.user_notes_count).toBe(1 - i);
  }
  expect((await as('owner', 'GET', `${path}/discussions/${started.body.id}`)).status).toBe(404);
});

test('a note with a file is written as clients do: the file, then its Markdown, which leads to it', async () => {
  const form = new FormData();
  form.set('file', new Blob(['bytes']), 'a plan.txt');
  const { status, body: file } = await sent('POST', `${at}/uploads`, form);
  expect(status).toBe(201);
  expect(Object.keys(file).toSorted()).toEqual(['alt', 'full_path', 'markdown', 'url']);
  const { iid } = await issue();
  const note = await sent('POST', `${at}/issues/${iid}/notes`, multipart({ body: `See ${file.markdown}` }));
  expect(note).toMatchObject({ status: 201, body: { body: `See ${file.markdown}` } });
  const rendered = await as('owner', 'POST', '/markdown', {
    text: note.body.body,
    gfm: true,
    project: 'wire/door',
  });
  const href = /href="([^"]+)"/.exec(rendered.body.html)![1]!;
  expect(href).toBe(`${service.url}${file.full_path}`);
  const headers = { 'PRIVATE-TOKEN': world.tokens.owner! };
  expect(await (await fetch(href, { headers })).text()).toBe('bytes');
});
