/** What nobody should send, and many may: the answer is a bound, a refusal or what was meant, and nothing is lost. */
import { describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';

const { world, as } = ownWorld();

const issues = () => `/projects/${world.ids['public']}/issues`;
const made = async (who: Who, path: string, json: object) => {
  const { status, body } = await as(who, 'POST', path, json);
  expect(status, JSON.stringify(body)?.slice(0, 500)).toBe(201);
  return body;
};
const issue = async (json: object = {}): Promise<string> =>
  `${issues()}/${(await made('owner', issues(), { title: 'Work', ...json })).iid}`;
const read = async (path: string) => (await as('owner', 'GET', path)).body;

describe('texts', () => {
  test('of a million characters are kept and shown whole, in notes and discussions', async () => {
    const path = await issue();
    const body = `${'ü'.repeat(999_998)} @`;
    const note = await made('owner', `${path}/notes`, { body });
    expect((await read(`${path}/notes/${note.id}`)).body).toBe(body);
    const discussion = await made('owner', `${path}/discussions`, { body });
    expect((await read(`${path}/discussions/${discussion.id}`)).notes[0].body).toBe(body);
    const changed = await as('owner', 'PUT', `${path}/notes/${note.id}`, { body: 'short' });
    expect([changed.status, changed.body.body]).toEqual([200, 'short']);
  });

  test('with ten thousand mentions tell the first hundred names', async () => {
    const nobody = (n: number) => `@nobody-${n}`;
    const many = (first: string, last: string) =>
      [first, ...Array.from({ length: 10_000 }, (_, n) => nobody(n)), last].join(' ');
    const pending = async (who: Who) =>
      (await as(who, 'GET', '/todos')).body.map(
        ({ target_url }: { target_url: string }) => /#note_|$/.exec(target_url)![0],
      );
    const path = await issue({ description: many('to @guest', '@developer') });
    await made('owner', `${path}/notes`, { body: many('and @reporter', '@developer') });
    await settled();
    expect(await pending('guest')).toEqual(['']);
    expect(await pending('reporter')).toEqual(['#note_']);
    expect(await pending('developer')).toEqual([]);
    const people = await as('owner', 'GET', `${path}/participants?per_page=100`);
    expect(people.body.map(({ username }: { username: string }) => username).toSorted()).toEqual([
      ...['guest', 'owner', 'reporter'],
    ]);
  });

  test.each([
    ['emphasis', '*a **a _b '],
    ['links', '[a](b '],
    ['brackets', '[[['],
    ['images', '![a]('],
    ['tables', '|a|b|\n|-|-|\n'],
    ['quotes and lists', '> - '],
    ['code', '``` ` `` '],
    ['references', '#1 !2 a/b#3 ~"x" %"y" &4 $5 @z '],
    ['URLs', 'http://a.example/-/issues/1#note_2 '],
    ['quick actions', '/label ~a\n'],
    ['HTML', '<a href="x"><b '],
  ])('full of %s are kept as they are written, and rendered within bounds', async (_, piece) => {
    const text = `x${piece.repeat(200_000 / piece.length)}x`;
    const path = `/projects/${world.ids['public']}`;
    if (piece.startsWith('/')) {
      const refused = await as('owner', 'POST', issues(), { title: 'slow', description: text });
      expect([refused.status, refused.body.message]).toEqual([
        400,
        { description: ['has too many quick actions (maximum is 100)'] },
      ]);
      return;
    }
    const at = await issue({ title: piece.trim().slice(0, 255), description: text });
    expect((await read(at)).description).toBe(text);
    const note = await made('owner', `${at}/notes`, { body: text });
    expect((await read(`${at}/notes/${note.id}`)).body).toBe(text);
    const project = (await read(path)).path_with_namespace;
    const rendered = await as('owner', 'POST', '/markdown', { text, gfm: true, project });
    expect([rendered.status, typeof rendered.body.html]).toEqual([201, 'string']);
    expect(rendered.body.html).not.toBe('');
  });
});

describe('labels and milestones', () => {
  test('a comma ends the name of a label, wherever it is sent', async () => {
    const path = await issue({ labels: ['a,b', ' c '] });
    expect((await read(path)).labels).toEqual(['a', 'b', 'c']);
    const added = await as('owner', 'PUT', path, { add_labels: ['d,e'] });
    expect(added.body.labels).toEqual(['a', 'b', 'c', 'd', 'e']);
    const removed = await as('owner', 'PUT', path, { remove_labels: ['a,b', 'e'] });
    expect(removed.body.labels).toEqual(['c', 'd']);
  });

  test('a hundred new ones in one call are created once, also by two who send them at once', async () => {
    const labels = Array.from({ length: 100 }, (_, n) => `l${String(n).padStart(3, '0')}`);
    const sent = await Promise.all(
      [labels.join(), labels].map((given) => as('owner', 'POST', issues(), { title: 'many', labels: given })),
    );
    for (const { status, body } of sent) expect([status, body.labels]).toEqual([201, labels]);
    const found = await as('owner', 'GET', `/projects/${world.ids['public']}/labels?search=l0&per_page=100`);
    expect(found.headers.get('x-total')).toBe('100');
  });

  test('a milestone of another project counts as none', async () => {
    const other = await made('owner', `/projects/${world.ids['private']}/milestones`, { title: 'theirs' });
    const own = await made('owner', `/projects/${world.ids['public']}/milestones`, { title: 'ours' });
    const path = await issue({ milestone_id: other.id });
    expect((await read(path)).milestone).toBeNull();
    await as('owner', 'PUT', path, { milestone_id: own.id });
    expect((await read(path)).milestone).toMatchObject({ title: 'ours' });
    expect((await as('owner', 'PUT', path, { milestone_id: other.id })).body.milestone).toBeNull();
    expect((await as('owner', 'PUT', path, { milestone_id: 999_999 })).body.milestone).toBeNull();
  });
});

describe('a number that no issue has', () => {
  test.each([0, -1, 2_147_483_647, 2_147_483_648, 1_099_511_627_776])(
    '%d is refused, and the next is counted on',
    async (iid) => {
      const before = await made('owner', issues(), { title: 'before' });
      const { status, body } = await as('owner', 'POST', issues(), { title: 'x', iid });
      expect([status, body]).toEqual([400, { error: 'iid does not have a valid value' }]);
      expect((await made('owner', issues(), { title: 'after' })).iid).toBe(before.iid + 1);
    },
  );

  test('a weight that clients cannot read is refused', async () => {
    const message = { weight: ['must be less than or equal to 2147483647'] };
    const weight = 2_147_483_648;
    const created = await as('owner', 'POST', issues(), { title: 'x', weight });
    expect([created.status, created.body]).toEqual([400, { message }]);
    const path = await issue({ weight: weight - 1 });
    expect((await as('owner', 'PUT', path, { weight })).body).toEqual({ message });
    expect((await read(path)).weight).toBe(weight - 1);
  });
});

describe('two who do the same at once', () => {
  test('close an issue once: one event, one who closed it', async () => {
    const path = await issue();
    const close = (who: Who) => as(who, 'PUT', path, { state_event: 'close' });
    const answers = await Promise.all([close('owner'), close('reporter'), close('maintainer')]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const { closed_by } = await read(path);
    for (const { body } of answers) expect(body.closed_by.username).toBe(closed_by.username);
    const events = await read(`${path}/resource_state_events`);
    expect(events).toMatchObject([{ state: 'closed', user: { username: closed_by.username } }]);
  });

  test('label an issue with the same and with others, and lose none', async () => {
    const path = await issue();
    const sent = ['x', 'y', 'x,z', 'w'].map((add_labels) => as('reporter', 'PUT', path, { add_labels }));
    for (const { status } of await Promise.all(sent)) expect(status).toBe(200);
    expect((await read(path)).labels).toEqual(['w', 'x', 'y', 'z']);
    const events = await read(`${path}/resource_label_events`);
    const added = events.map(({ label }: { label: { name: string } }) => label.name);
    expect(added.toSorted()).toEqual(['w', 'x', 'y', 'z']);
  });

  test('take a number: one has it, the other is told', async () => {
    const sent = await Promise.all(
      [1, 2, 3].map(() => as('owner', 'POST', issues(), { title: 'x', iid: 7777 })),
    );
    expect(sent.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
    for (const { status, body } of sent)
      if (status === 409) expect(body).toEqual({ message: 'Duplicated issue' });
    const next = await made('owner', issues(), { title: 'next' });
    expect(next.iid).toBe(7778);
  });
});
