/** What becomes of issues, and of what was said and done there, when its people are deleted and its projects move. */
import { describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';

const { service, root, someone } = ownWorld();

interface Person {
  readonly id: number;
  readonly username: string;
  readonly token: string;
}

async function done(who: Person, method: string, path: string, json?: unknown) {
  const options = { token: who.token, ...(json === undefined ? {} : { json }) };
  const { status, body } = await service.call(method, path, options);
  expect(status, `${method} ${path}: ${JSON.stringify(body)}`).toBeLessThan(300);
  return body;
}
const titles = async (who: Person, path: string): Promise<string[]> =>
  (await done(who, 'GET', path)).map(({ title }: { title: string }) => title);

/** A project in a group, where somebody filed an issue, spoke, worked and closed, who is about to leave. */
async function ground(name: string) {
  const [owner, leaver]: Person[] = [await someone(), await someone()];
  const group = await done(owner!, 'POST', '/groups', { name, path: name, visibility: 'public' });
  const json = { name: 'work', namespace_id: group.id, visibility: 'public' };
  const project = await done(owner!, 'POST', '/projects', json);
  const at = `/projects/${project.id}`;
  await done(owner!, 'POST', `${at}/members`, { user_id: leaver!.id, access_level: 30 });
  const issues = `${at}/issues`;
  await done(leaver!, 'POST', issues, { title: 'Filed', labels: 'door', description: 'with a hinge' });
  await done(owner!, 'POST', issues, { title: 'Discussed', assignee_ids: [leaver!.id] });
  await done(owner!, 'POST', issues, { title: 'Closed' });
  const { id: thread } = await done(owner!, 'POST', `${issues}/2/discussions`, { body: 'asked' });
  await done(leaver!, 'POST', `${issues}/2/discussions/${thread}/notes`, { body: 'answered' });
  await done(leaver!, 'POST', `${issues}/2/notes`, { body: 'said' });
  await done(leaver!, 'PUT', `${issues}/3`, { state_event: 'close' });
  await done(owner!, 'POST', `${issues}/1/notes`, { body: 'why?' });
  await settled();
  return { owner: owner!, leaver: leaver!, group, project, at, issues };
}

const said = async (who: Person, issue: string) =>
  (await done(who, 'GET', `${issue}/notes?sort=asc`)).map(
    ({ body, author }: { body: string; author: Person }) => `${author.username.replace(/\d+$/, '')}: ${body}`,
  );

describe('of a user who is deleted', () => {
  test('all stays as it was, as the ghost’s; nothing is assigned to them', async () => {
    const { owner, leaver, group, at, issues } = await ground('kept');
    expect((await root('DELETE', `/users/${leaver.id}`)).status).toBe(204);
    await settled();
    const me = owner.username.replace(/\d+$/, '');
    expect(await done(owner, 'GET', `${issues}/1`)).toMatchObject({
      author: { username: 'ghost' },
      labels: ['door'],
    });
    expect(await done(owner, 'GET', `${issues}/2`)).toMatchObject({
      assignees: [],
      assignee: null,
      user_notes_count: 3,
    });
    expect(await done(owner, 'GET', `${issues}/3`)).toMatchObject({ state: 'closed', closed_by: null });
    expect((await done(owner, 'GET', `${issues}/3`)).closed_at).not.toBeNull();
    expect(await said(owner, `${issues}/2`)).toEqual([...[`${me}: asked`, 'ghost: answered', 'ghost: said']]);
    const [closed] = await done(owner, 'GET', `${issues}/3/resource_state_events`);
    expect([closed.state, closed.user.username]).toEqual(['closed', 'ghost']);
    for (const where of [at, `/groups/${group.id}`]) {
      expect(await titles(owner, `${where}/issues?scope=all`)).toEqual(['Closed', 'Discussed', 'Filed']);
      expect(await titles(owner, `${where}/issues?scope=all&author_username=ghost`)).toEqual(['Filed']);
      expect(await titles(owner, `${where}/issues?scope=all&assignee_id=None`)).toHaveLength(3);
      expect(await titles(owner, `${where}/search?scope=issues&search=hinge`)).toEqual(['Filed']);
      const { statistics } = await done(owner, 'GET', `${where}/issues_statistics?scope=all`);
      expect(statistics.counts).toEqual({ all: 3, closed: 1, opened: 2 });
    }
    const people = await done(owner, 'GET', `${issues}/2/participants`);
    expect(people.map(({ username }: Person) => username)).not.toContain(leaver.username);
    const told = await done(owner, 'GET', `${issues}/3/resource_state_events`);
    expect(told).toMatchObject([{ state: 'closed', user: { username: 'ghost' } }]);
    // What is the ghost's is answered as anybody's.
    await done(owner, 'PUT', `${issues}/1`, { title: 'Filed once', state_event: 'close' });
    expect(await titles(owner, `${issues}?author_username=ghost&state=closed`)).toEqual(['Filed once']);
  });

  test('with all contributions goes, in counts, lists and searches too; what others did stays', async () => {
    const { owner, leaver, group, at, issues } = await ground('gone');
    expect((await root('DELETE', `/users/${leaver.id}?hard_delete=true`)).status).toBe(204);
    await settled();
    expect((await service.call('GET', `${issues}/1`, { token: owner.token })).status).toBe(404);
    const me = owner.username.replace(/\d+$/, '');
    expect(await said(owner, `${issues}/2`)).toEqual([`${me}: asked`]);
    expect(await done(owner, 'GET', `${issues}/2`)).toMatchObject({ assignees: [], user_notes_count: 1 });
    expect(await done(owner, 'GET', `${issues}/3`)).toMatchObject({ state: 'closed', closed_by: null });
    for (const where of [at, `/groups/${group.id}`]) {
      expect(await titles(owner, `${where}/issues?scope=all`)).toEqual(['Closed', 'Discussed']);
      expect(await titles(owner, `${where}/search?scope=issues&search=hinge`)).toEqual([]);
      const { statistics } = await done(owner, 'GET', `${where}/issues_statistics?scope=all`);
      expect(statistics.counts).toEqual({ all: 2, closed: 1, opened: 1 });
    }
    expect((await done(owner, 'GET', at)).open_issues_count).toBe(1);
  });
});

test('of a project that moves, all is found at the new place and nowhere else, and references follow', async () => {
  const { owner, leaver, group, project, at, issues } = await ground('moved');
  const other = await done(owner, 'POST', '/groups', {
    name: 'other',
    path: 'elsewhere',
    visibility: 'public',
  });
  await done(owner, 'PUT', `${at}/transfer`, { namespace: other.id });
  await settled();
  expect(await titles(owner, `/groups/${group.id}/issues?scope=all`)).toEqual([]);
  expect(await titles(owner, `/groups/${other.id}/issues?scope=all`)).toEqual([
    'Closed',
    'Discussed',
    'Filed',
  ]);
  expect(await titles(owner, `/groups/${other.id}/search?scope=issues&search=hinge`)).toEqual(['Filed']);
  expect(await titles(leaver, `/issues?scope=assigned_to_me`)).toEqual(['Discussed']);
  const { references, web_url } = await done(owner, 'GET', `${issues}/1`);
  expect([references.full, web_url]).toEqual([
    'elsewhere/work#1',
    `${service.url}/elsewhere/work/-/issues/1`,
  ]);
  const text = `#1 elsewhere/work#1 moved/work#1 ${service.url}/moved/work/-/issues/1`;
  const json = { text, gfm: true, project: 'elsewhere/work' };
  const { html } = await done(owner, 'POST', '/markdown', json);
  expect(html.match(/gfm-issue/g)).toHaveLength(4);
  expect((await done(owner, 'GET', `/projects/${project.id}`)).open_issues_count).toBe(2);
});

test('members who are imported from another project see its confidential issues by their level there', async () => {
  const { owner, leaver, at, issues } = await ground('imported');
  const [guest, passer]: Person[] = [await someone(), await someone()];
  await done(owner, 'POST', `${at}/members`, { user_id: guest!.id, access_level: 10 });
  const project = await done(owner, 'POST', '/projects', { name: 'second', visibility: 'public' });
  const secret = `/projects/${project.id}/issues`;
  await done(owner, 'POST', secret, { title: 'Secret', confidential: true });
  expect(await titles(leaver, secret)).toEqual([]);
  await done(owner, 'POST', `/projects/${project.id}/import_project_members/${at.split('/').at(-1)}`);
  expect(await titles(leaver, secret)).toEqual(['Secret']);
  expect(await titles(guest!, secret)).toEqual([]);
  expect(await titles(passer!, secret)).toEqual([]);
  await done(owner, 'PUT', `${secret}/1`, { assignee_ids: [guest!.id] });
  expect(await titles(guest!, secret)).toEqual(['Secret']);
  expect(await titles(guest!, issues)).toHaveLength(3);
});
