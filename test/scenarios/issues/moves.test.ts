/** Issues move to other projects and are cloned, with their notes and files. */
import type { OperationRecord } from '@lemnos/embedded-aws/dynamodb';
import { describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { COPY_ISSUE_JOB } from '../../../lib/store/issues/copies.ts';
import { MAINTENANCE, message } from '../../../lib/store/outbox/outbox.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';
import { storeOf } from '../../harness/world.ts';

const { as, service, someone } = ownWorld();

interface Person {
  readonly id: number;
  readonly token: string;
  readonly username: string;
}

interface Note {
  readonly id: number;
  readonly body: string;
  readonly system: boolean;
  readonly author: { readonly id: number };
  readonly created_at: string;
}

const call = (who: Person, method: string, path: string, json?: unknown) =>
  service.call(method, path, { token: who.token, ...(json === undefined ? {} : { json }) });

async function done(who: Person, method: string, path: string, json?: unknown) {
  const { status, body } = await call(who, method, path, json);
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return body;
}

let groups = 0;

/** A group of somebody new, with two projects and members of both. */
async function ground(...levels: number[]) {
  const owner: Person = await someone();
  const path = `moves-${++groups}`;
  const group = await done(owner, 'POST', '/groups', { name: path, path, visibility: 'public' });
  const [from, to] = [
    await done(owner, 'POST', '/projects', { name: 'from', namespace_id: group.id, visibility: 'public' }),
    await done(owner, 'POST', '/projects', { name: 'to', namespace_id: group.id, visibility: 'private' }),
  ];
  const members: Person[] = [];
  for (const access_level of levels) {
    const member = await someone();
    for (const { id } of [from, to])
      await done(owner, 'POST', `/projects/${id}/members`, { user_id: member.id, access_level });
    members.push(member);
  }
  const issue = (json: object, who = owner) => done(who, 'POST', `/projects/${from.id}/issues`, json);
  return { owner, members, group, from, to, issue };
}

const pathOf = ({ project_id, iid }: { project_id: number; iid: number }) =>
  `/projects/${project_id}/issues/${iid}`;

/** Notes, the oldest first. */
const notesOf = async (who: Person, issue: { project_id: number; iid: number }): Promise<Note[]> => {
  await settled();
  return done(who, 'GET', `${pathOf(issue)}/notes?sort=asc&per_page=100`);
};
const textsOf = async (who: Person, issue: { project_id: number; iid: number }) =>
  (await notesOf(who, issue)).map(({ body }) => body);

describe('an issue that is moved', () => {
  test('is a new one in the other project, and closed where it was', async () => {
    const { owner, members, group, from, to, issue } = await ground(20);
    const [reporter] = members as [Person];
    const outsider = await someone();
    await done(owner, 'POST', `/groups/${group.id}/labels`, { name: 'ours', color: '#112233' });
    await done(owner, 'POST', `/projects/${to.id}/labels`, { name: 'there', color: '#445566' });
    for (const { id } of [from, to])
      await done(owner, 'POST', `/projects/${id}/milestones`, { title: 'one', description: String(id) });
    const [milestone] = await done(owner, 'GET', `/projects/${from.id}/milestones`);
    await done(owner, 'POST', `/projects/${from.id}/members`, { user_id: outsider.id, access_level: 20 });
    const before = await issue(
      {
        ...{ title: 'Door', description: '- [ ] hinge', labels: 'ours,there,only here', weight: 3 },
        ...{ milestone_id: milestone.id, assignee_ids: [reporter.id, outsider.id], due_date: '2030-01-01' },
        ...{ confidential: true, issue_type: 'incident', severity: 'LOW' },
      },
      reporter,
    );
    for (const [who, name] of [
      [reporter, 'thumbsup'],
      [owner, 'thumbsup'],
      [owner, 'tada'],
    ] as const)
      await done(who, 'POST', `${pathOf(before)}/award_emoji`, { name });
    const { status, body } = await call(owner, 'POST', `${pathOf(before)}/move`, { to_project_id: to.id });
    expect(status, JSON.stringify(body)).toBe(201);
    expect(body).toMatchObject({
      ...{ project_id: to.id, state: 'opened', title: 'Door', description: '- [ ] hinge', weight: 3 },
      ...{ labels: ['ours', 'there'], milestone: { description: String(to.id) }, due_date: '2030-01-01' },
      ...{ assignees: [{ id: reporter.id }], author: { id: reporter.id }, created_at: before.created_at },
      ...{ confidential: true, issue_type: 'incident', severity: 'LOW', moved_to_id: null, has_tasks: true },
    });
    expect(await done(owner, 'GET', pathOf(before))).toMatchObject({
      ...{ id: before.id, state: 'closed', closed_by: { id: owner.id }, moved_to_id: body.id },
    });
    await settled();
    expect(await done(owner, 'GET', pathOf(body))).toMatchObject({ upvotes: 2, downvotes: 0 });
    expect(await done(owner, 'GET', `${pathOf(body)}/award_emoji`)).toMatchObject([
      { name: 'thumbsup', user: { id: reporter.id } },
      { name: 'thumbsup', user: { id: owner.id } },
      { name: 'tada', user: { id: owner.id } },
    ]);
    const todos = await done(reporter, 'GET', '/todos?action=assigned');
    expect(todos.map(({ target }: { target: { id: number } }) => target.id)).toContain(body.id);
    for (const { id, counted } of [
      { id: from.id, counted: { all: 1, opened: 0, closed: 1 } },
      { id: to.id, counted: { all: 1, opened: 1, closed: 0 } },
    ])
      expect(await done(owner, 'GET', `/projects/${id}/issues_statistics`)).toMatchObject({
        statistics: { counts: counted },
      });
  });

  test('brings its discussions with it, in their order and by their authors', async () => {
    const { owner, members, to, issue } = await ground(20, 10);
    const [reporter, guest] = members as [Person, Person];
    const before = await issue({ title: 'Talk' });
    const notes = `${pathOf(before)}/notes`;
    const long = 'ü'.repeat(40_000);
    await done(reporter, 'POST', notes, { body: 'first' });
    const discussion = await done(guest, 'POST', `${pathOf(before)}/discussions`, { body: 'asked' });
    await done(owner, 'PUT', pathOf(before), { title: 'Talks' });
    await done(reporter, 'POST', notes, { body: 'between us', internal: true });
    for (let n = 1; n <= 18; n++)
      await done(
        n % 2 === 0 ? owner : guest,
        'POST',
        `${pathOf(before)}/discussions/${discussion.id}/notes`,
        {
          body: `answer ${n}`,
        },
      );
    const headless = await done(guest, 'POST', `${pathOf(before)}/discussions`, { body: 'withdrawn' });
    await done(owner, 'POST', `${pathOf(before)}/discussions/${headless.id}/notes`, { body: 'left behind' });
    await done(guest, 'DELETE', `${notes}/${headless.notes[0].id}`);
    await done(guest, 'POST', notes, { body: long });
    const shown = async (on: { project_id: number; iid: number }) =>
      (await done(owner, 'GET', `${pathOf(on)}/discussions?per_page=100`)).map(
        (each: { individual_note: boolean; notes: Note[] }) => [
          each.individual_note,
          each.notes.map(({ body, author, created_at, system }) => [body, author.id, created_at, system]),
        ],
      );
    const expected = await shown(before);
    const after = await done(owner, 'POST', `${pathOf(before)}/move`, { to_project_id: to.id });
    await done(reporter, 'POST', `${pathOf(after)}/notes`, { body: 'later' });
    await settled();
    const found = await shown(after);
    expect(found.slice(0, expected.length)).toEqual(expected);
    expect(found.slice(expected.length).map(([, [[body]]]: [boolean, [[string]]]) => body)).toEqual([
      `moved from ${before.references.full}`,
      'later',
    ]);
    expect((await done(owner, 'GET', pathOf(after))).user_notes_count).toBe(24);
    // The old one keeps its own.
    expect((await shown(before)).slice(0, -1)).toEqual(expected);
    expect((await textsOf(owner, before)).at(-1)).toBe(`moved to ${after.references.full}`);
    expect(await textsOf(guest, after)).not.toContain('between us');
    // People take part there too: replies work, and each note is its author's.
    const [, copied] = await done(owner, 'GET', `${pathOf(after)}/discussions`);
    const reply = { body: 'one more' };
    await done(guest, 'POST', `${pathOf(after)}/discussions/${copied.id}/notes`, reply);
    await done(guest, 'PUT', `${pathOf(after)}/notes/${copied.notes[0].id}`, { body: 'changed' });
  });

  test('brings who takes part in its conversation, though their names stand in its notes alone', async () => {
    const { owner, members, to, issue } = await ground(20, 20, 10);
    const [reporter, other, guest] = members as [Person, Person, Person];
    const before = await issue({ title: 'Talk' });
    await done(owner, 'POST', `${pathOf(before)}/notes`, { body: `What does @${reporter.username} say?` });
    await done(owner, 'POST', `${pathOf(before)}/notes`, {
      body: `And @${other.username}, between us?`,
      internal: true,
    });
    await settled();
    const after = await done(owner, 'POST', `${pathOf(before)}/move`, { to_project_id: to.id });
    await settled();
    const seenBy = async (who: Person) =>
      (await done(who, 'GET', `${pathOf(after)}/participants`)).map(({ id }: Person) => id);
    expect(await seenBy(owner)).toEqual([owner.id, reporter.id, other.id]);
    expect(await seenBy(guest)).toEqual([owner.id, reporter.id]);
  });

  test('brings a crowd that takes part in few transactions, each of which says how far it is', async () => {
    const { owner, from, issue } = await ground();
    const before = await issue({ title: 'Crowd' });
    const thread = { projectId: before.project_id, noteable: { kind: 'issue', id: before.id } } as const;
    const people = await Promise.all(Array.from({ length: 50 }, () => someone()));
    const { threads } = storeOf();
    await Promise.all(people.map(({ id }) => threads.join(thread, id, false)));
    // Who is not there any more.
    await threads.join(thread, people[0]!.id + 1_000_000, false);
    const joining: OperationRecord[] = [];
    service.host.dynamo.onOperation = (record) => {
      if (record.operation === 'TransactWriteItems' && record.keys.some((key) => /THREADS#/.test(key)))
        joining.push(record);
    };
    const json = { to_project_id: from.id, with_notes: true };
    const after = await done(owner, 'POST', `${pathOf(before)}/clone`, json);
    await settled();
    service.host.dynamo.onOperation = undefined;
    const shown = await done(owner, 'GET', `${pathOf(after)}/participants?per_page=100`);
    expect(shown.map(({ id }: Person) => id)).toEqual(
      [owner, ...people].map(({ id }) => id).toSorted((a, b) => a - b),
    );
    expect(joining).toHaveLength(2);
  });

  test('brings the awards on its notes with it, each once, however often the copying begins again', async () => {
    const { owner, members, to, issue } = await ground(20);
    const [reporter] = members as [Person];
    const before = await issue({ title: 'Praised' });
    const written: { id: number }[] = [];
    for (let n = 0; n < 21; n++)
      written.push(await done(owner, 'POST', `${pathOf(before)}/notes`, { body: `note ${n}` }));
    const award = (who: Person, n: number, name: string) =>
      done(who, 'POST', `${pathOf(before)}/notes/${written[n]!.id}/award_emoji`, { name });
    await award(owner, 0, 'tada');
    await award(reporter, 0, 'tada');
    await award(reporter, 0, 'thumbsup');
    await award(owner, 20, 'rocket');
    await settled();
    const after = await done(owner, 'POST', `${pathOf(before)}/move`, { to_project_id: to.id });
    const again = () => message(MAINTENANCE, COPY_ISSUE_JOB, { projectId: to.id, iid: after.iid });
    await deps().store.outbox.commit([], [again(), again()]);
    await settled();
    const notes = await notesOf(owner, after);
    const awards = async (body: string) => {
      const { id } = notes.find((note) => note.body === body)!;
      const found = await done(owner, 'GET', `${pathOf(after)}/notes/${id}/award_emoji`);
      return found.map(({ name, user }: { name: string; user: { id: number } }) => [name, user.id]);
    };
    expect(await awards('note 0')).toEqual([
      ['tada', owner.id],
      ['tada', reporter.id],
      ['thumbsup', reporter.id],
    ]);
    expect(await awards('note 1')).toEqual([]);
    expect(await awards('note 20')).toEqual([['rocket', owner.id]]);
    expect(await done(owner, 'GET', pathOf(after))).toMatchObject({ upvotes: 0 });
  });

  test('brings the events of its labels with it, and names none that the other project does not have', async () => {
    const { owner, group, to, issue } = await ground();
    await done(owner, 'POST', `/groups/${group.id}/labels`, { name: 'ours', color: '#112233' });
    const before = await issue({ title: 'Door', labels: 'ours,only here' });
    await done(owner, 'PUT', pathOf(before), { remove_labels: 'ours', weight: 2 });
    const moved = await done(owner, 'POST', `${pathOf(before)}/move`, { to_project_id: to.id });
    await settled();
    const events = await done(owner, 'GET', `${pathOf(moved)}/resource_label_events`);
    const named = (each: { action: string; label: { name: string } | null }) => [
      each.action,
      each.label?.name,
    ];
    expect(events.map(named)).toEqual([
      ['add', 'ours'],
      ['add', undefined],
      ['remove', 'ours'],
    ]);
    for (const event of events)
      expect(await done(owner, 'GET', `${pathOf(moved)}/resource_label_events/${event.id}`)).toEqual(event);
    expect(await done(owner, 'GET', `${pathOf(moved)}/resource_weight_events`)).toMatchObject([
      { weight: 2, issue_id: moved.id },
    ]);
  });

  test('says in full what its texts refer to, and leaves the rest of them as it is', async () => {
    const { owner, from, to, issue } = await ground();
    await done(owner, 'POST', `/projects/${from.id}/labels`, { name: 'bug', color: '#112233' });
    await done(owner, 'POST', `/projects/${from.id}/milestones`, { title: 'one' });
    const other = await issue({ title: 'other' });
    const at = from.path_with_namespace;
    const [given, expected] = [
      `See #${other.iid}, #999, to#99, \`#${other.iid}\` and ~bug in %one.\n\n> (#${other.iid})\n\n\`\`\`\n#1\n\`\`\`\n@${owner.username} ${at}#${other.iid}`,
      `See ${at}#${other.iid}, #999, to#99, \`#${other.iid}\` and ${at}~bug in ${at}%one.\n\n> (${at}#${other.iid})\n\n\`\`\`\n#1\n\`\`\`\n@${owner.username} ${at}#${other.iid}`,
    ];
    const before = await issue({ title: 'texts', description: given });
    await done(owner, 'POST', `${pathOf(before)}/notes`, { body: given });
    const after = await done(owner, 'POST', `${pathOf(before)}/move`, { to_project_id: to.id });
    expect(after.description).toBe(expected);
    expect(await textsOf(owner, after)).toContain(expected);
  });

  test('keeps the files of its texts', async () => {
    const { owner, from, to, issue } = await ground();
    const upload = async (name: string): Promise<string> => {
      const raw = new FormData();
      raw.set('file', new Blob([`bytes of ${name}`]), name);
      const { body } = await service.call('POST', `/projects/${from.id}/uploads`, {
        token: owner.token,
        raw,
      });
      return body.url;
    };
    const [described, noted] = [await upload('plan.txt'), await upload('üben.txt')];
    const before = await issue({ title: 'files', description: `[plan](${described})` });
    await done(owner, 'POST', `${pathOf(before)}/notes`, { body: `[ex](${encodeURI(noted)})` });
    await done(owner, 'POST', `${pathOf(before)}/move`, { to_project_id: to.id });
    await settled();
    for (const [url, text] of [
      [described, 'bytes of plan.txt'],
      [noted, 'bytes of üben.txt'],
    ]) {
      const file = `${service.url}/-/project/${to.id}${encodeURI(url!)}`;
      const answer = await fetch(file, { headers: { 'private-token': owner.token } });
      expect([answer.status, await answer.text()]).toEqual([200, text]);
    }
  });

  test('tells nobody of a project who may not see that', async () => {
    const { owner, members, from, to, issue } = await ground(10);
    const reader = await someone();
    const before = await issue({ title: 'seen' });
    const after = await done(owner, 'POST', `${pathOf(before)}/move`, { to_project_id: to.id });
    expect(await textsOf(members[0]!, before)).toEqual([`moved to ${after.references.full}`]);
    expect(await textsOf(reader, before)).toEqual([]);
    await done(owner, 'PUT', `/projects/${from.id}`, { visibility: 'private' });
    await done(owner, 'PUT', `/projects/${to.id}`, { visibility: 'public' });
    expect(await textsOf(reader, after)).toEqual([]);
  });

  test('is moved once: of two who move it at the same time one is told', async () => {
    const { owner, from, to, issue } = await ground();
    const before = await issue({ title: 'race' });
    const move = { to_project_id: to.id };
    const answers = await Promise.all([0, 1].map(() => call(owner, 'POST', `${pathOf(before)}/move`, move)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
    const again = await call(owner, 'POST', `${pathOf(before)}/clone`, { to_project_id: from.id });
    expect(again.body).toEqual({ message: 'Cannot clone issue due to insufficient permissions!' });
    expect(await done(owner, 'GET', `/projects/${to.id}/issues`)).toHaveLength(1);
  });

  test('by somebody else than its deleted author is the ghost’s', async () => {
    const { owner, members, to, issue } = await ground(20);
    const before = await issue({ title: 'orphan' }, members[0]);
    await done(members[0]!, 'POST', `${pathOf(before)}/notes`, { body: 'mine' });
    expect((await as('administrator', 'DELETE', `/users/${members[0]!.id}`)).status).toBe(204);
    const after = await done(owner, 'POST', `${pathOf(before)}/move`, { to_project_id: to.id });
    expect(after.author.username).toMatch(/^ghost/);
    const [first] = await notesOf(owner, after);
    expect(first).toMatchObject({ body: 'mine', author: { username: after.author.username } });
  });

  test('takes what waits to be copied with it when it is deleted', async () => {
    const { owner, to, issue } = await ground();
    const before = await issue({ title: 'short-lived' });
    for (let n = 0; n < 3; n++) await done(owner, 'POST', `${pathOf(before)}/notes`, { body: `${n}` });
    const after = await done(owner, 'POST', `${pathOf(before)}/move`, { to_project_id: to.id });
    expect((await call(owner, 'DELETE', pathOf(after))).status).toBe(204);
    await settled();
    expect((await call(owner, 'GET', pathOf(after))).status).toBe(404);
    expect(await textsOf(owner, before)).toHaveLength(3);
  });
});

describe('a clone', () => {
  test.each([
    { with_notes: true, expected: ['said', 'cloned'] },
    { with_notes: false, expected: ['cloned'] },
  ])('with_notes: $with_notes is a new, open issue of the caller, and the other stays', async (given) => {
    const { owner, members, from, issue } = await ground(20);
    const before = await issue({ title: 'Original', description: 'see #1', labels: 'a' }, members[0]);
    await done(owner, 'POST', `${pathOf(before)}/notes`, { body: 'said' });
    await done(owner, 'PUT', pathOf(before), { state_event: 'close' });
    const json = { to_project_id: from.id, with_notes: given.with_notes };
    const clone = await done(owner, 'POST', `${pathOf(before)}/clone`, json);
    expect(clone).toMatchObject({
      ...{ title: 'Original', description: 'see #1', labels: ['a'], state: 'opened', closed_at: null },
      ...{ author: { id: owner.id }, project_id: from.id, iid: before.iid + 1, moved_to_id: null },
    });
    expect(clone.created_at > before.created_at).toBe(true);
    const texts = await textsOf(owner, clone);
    expect(texts.filter((text) => text !== 'said').map((text) => text.split(' ')[0])).toEqual(
      given.expected.filter((text) => text !== 'said'),
    );
    expect(texts.includes('said')).toBe(given.with_notes);
    expect(await done(owner, 'GET', pathOf(before))).toMatchObject({ state: 'closed', moved_to_id: null });
    expect(await textsOf(owner, before)).toContain(`cloned to ${clone.references.full}`);
  });
});

describe('it is refused', () => {
  test.each(['move', 'clone'])('to %s what the caller may not', async (verb) => {
    const { owner, members, from, to, issue } = await ground(10, 20);
    const [guest, reporter] = members as [Person, Person];
    const { id: hidden } = await done(await someone(), 'POST', '/projects', { name: 'hidden' });
    const one = await issue({ title: 'one' });
    const test = await issue({ title: 'test', issue_type: 'test_case' });
    const secret = await issue({ title: 'secret', confidential: true });
    const far = await done(owner, 'POST', '/projects', { name: 'far', visibility: 'public' });
    const send = (who: Person, path: string, json: object) => call(who, 'POST', `${path}/${verb}`, json);
    const answers: [unknown, number, unknown][] = [
      [await send(owner, pathOf(one), {}), 400, { error: 'to_project_id is missing' }],
      [await send(owner, pathOf(one), { to_project_id: hidden }), 404, { message: '404 Project Not Found' }],
      [await send(owner, pathOf(one), { to_project_id: 999_999 }), 404, { message: '404 Project Not Found' }],
      [
        await send(owner, `/projects/${from.id}/issues/999`, { to_project_id: to.id }),
        404,
        { message: '404 Issue Not Found' },
      ],
      [await send(guest, pathOf(secret), { to_project_id: to.id }), 404, { message: '404 Issue Not Found' }],
      ...(await Promise.all(
        [
          send(guest, pathOf(one), { to_project_id: to.id }),
          send(reporter, pathOf(one), { to_project_id: far.id }),
        ].map(
          async (sent): Promise<[unknown, number, unknown]> => [
            await sent,
            400,
            { message: `Cannot ${verb} issue due to insufficient permissions!` },
          ],
        ),
      )),
      [
        await send(owner, pathOf(test), { to_project_id: to.id }),
        400,
        { message: `Cannot ${verb} issues of 'test_case' type.` },
      ],
    ];
    for (const [answer, status, body] of answers) expect(answer).toMatchObject({ status, body });
    if (verb === 'move')
      expect((await send(owner, pathOf(one), { to_project_id: from.id })).body).toEqual({
        message: 'Cannot move issue to project it originates from!',
      });
  });
});
