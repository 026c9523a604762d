/** Notes on issues and merge requests that a text names them: which texts, on which issues, once, and who reads them. */
import { describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';

const { service, someone } = ownWorld();

interface Person {
  readonly id: number;
  readonly username: string;
  readonly token: string;
}

const call = async (who: Person, method: string, path: string, json?: unknown, status?: number) => {
  const options = { token: who.token, ...(json === undefined ? {} : { json }) };
  const answer = await service.call(method, path, options);
  expect(answer.status, JSON.stringify(answer.body)).toBe(status ?? (method === 'POST' ? 201 : 200));
  return answer.body;
};

/** A project of somebody with some issues, the titles of which are given. */
async function projectOf(owner: Person, name: string, titles: readonly string[], more: object = {}) {
  const project = await call(owner, 'POST', '/projects', { name, visibility: 'public', ...more });
  const issues = `/projects/${project.id}/issues`;
  for (const title of titles) await call(owner, 'POST', issues, { title });
  return { ...project, issues, path: project.path_with_namespace as string };
}

/** Bodies of the notes on an issue, as somebody reads them, the oldest first. */
async function notesOf(who: Person, issue: string): Promise<string[]> {
  await settled();
  const notes = await call(who, 'GET', `${issue}/notes?sort=asc`);
  return notes.map(({ body, system }: { body: string; system: boolean }) => `${system ? '' : 'by: '}${body}`);
}

describe('an issue is told where it is mentioned', () => {
  test('in titles, descriptions and notes, by number, path and URL, and nowhere in code and quotes', async () => {
    const owner: Person = await someone();
    const { issues, path, ...project } = await projectOf(owner, 'One', ['first', 'like #1']);
    const beside = await projectOf(owner, 'Beside', ['neighbour']);
    const described = { title: 'third', description: `#1, \`#2\`, #99, #3\n> #2\n\n${path}#2` };
    await call(owner, 'POST', issues, described);
    await call(owner, 'POST', beside.issues, { title: 'far', description: `${project.web_url}/-/issues/1` });
    await call(owner, 'POST', `${issues}/2/notes`, { body: 'see beside#1 and #1, #1' });
    expect(await notesOf(owner, `${issues}/1`)).toEqual([
      'mentioned in issue #2',
      'mentioned in issue #3',
      'mentioned in issue beside#2',
    ]);
    expect(await notesOf(owner, `${issues}/2`)).toEqual([
      'mentioned in issue #3',
      'by: see beside#1 and #1, #1',
    ]);
    expect(await notesOf(owner, `${beside.issues}/1`)).toEqual(['mentioned in issue one#2']);
    expect(await notesOf(owner, `${issues}/3`)).toEqual([]);
    const [note] = await call(owner, 'GET', `${issues}/1/notes?sort=asc`);
    expect(note).toMatchObject({ system: true, author: { id: owner.id }, noteable_iid: 1 });
  });

  test('once for each place, however often that names it, and of a changed text what is new', async () => {
    const owner: Person = await someone();
    const { issues } = await projectOf(owner, 'Once', ['first', 'second', 'third']);
    await call(owner, 'PUT', `${issues}/3`, { description: '#1' });
    const { id } = await call(owner, 'POST', `${issues}/3/notes`, { body: 'again #1' });
    await call(owner, 'PUT', `${issues}/3/notes/${id}`, { body: 'again #1 and #2' });
    await call(owner, 'PUT', `${issues}/3`, { description: '#1 #2' });
    expect(await notesOf(owner, `${issues}/1`)).toEqual(['mentioned in issue #3']);
    expect(await notesOf(owner, `${issues}/2`)).toEqual(['mentioned in issue #3']);
  });

  test('with the whole path of a project elsewhere', async () => {
    const [owner, other]: Person[] = [await someone(), await someone()];
    const { issues, path } = await projectOf(owner!, 'Near', ['first']);
    const far = await projectOf(other!, 'Far', []);
    await call(other!, 'POST', far.issues, { title: `like ${path}#1` });
    expect(await notesOf(owner!, `${issues}/1`)).toEqual([`mentioned in issue ${far.path}#1`]);
  });

  test('in a comment on a commit, to those who may read the code', async () => {
    const [owner, stranger]: Person[] = [await someone(), await someone()];
    const { id, issues } = await projectOf(owner!, 'Code', ['first'], { initialize_with_readme: true });
    const [{ id: sha }] = await call(owner!, 'GET', `/projects/${id}/repository/commits`);
    await call(owner!, 'POST', `/projects/${id}/repository/commits/${sha}/comments`, { note: 'as #1' });
    expect(await notesOf(owner!, `${issues}/1`)).toEqual([`mentioned in commit ${sha}`]);
    expect(await notesOf(stranger!, `${issues}/1`)).toEqual([`mentioned in commit ${sha}`]);
    await call(owner!, 'PUT', `/projects/${id}`, { repository_access_level: 'private' });
    expect(await notesOf(stranger!, `${issues}/1`)).toEqual([]);
    expect(await notesOf(owner!, `${issues}/1`)).toHaveLength(1);
  });
});

describe('a merge request is told where it is mentioned', () => {
  /** A project with a branch for each merge request, and these. */
  async function proposed(owner: Person, name: string, titles: readonly string[]) {
    const project = await projectOf(owner, name, [], { initialize_with_readme: true });
    const at = `/projects/${project.id}`;
    for (const [i, title] of titles.entries()) {
      const actions = [{ action: 'create', file_path: `${i}.txt`, content: 'x' }];
      const commit = { branch: `side-${i}`, start_branch: 'main', commit_message: `file ${i}`, actions };
      await call(owner, 'POST', `${at}/repository/commits`, commit);
      const json = { title, source_branch: `side-${i}`, target_branch: 'main' };
      await call(owner, 'POST', `${at}/merge_requests`, json);
    }
    return { ...project, at, requests: `${at}/merge_requests` };
  }

  test('in texts of issues and merge requests, in notes on them and in commits, by number, path and URL', async () => {
    const owner: Person = await someone();
    const { at, issues, requests, path, web_url } = await proposed(owner, 'Told', ['first', 'after !1, !2']);
    await call(owner, 'POST', issues, { title: 'see !1', description: '`!2`' });
    await call(owner, 'POST', issues, { title: 'far', description: `${web_url}/-/merge_requests/1` });
    await call(owner, 'POST', `${issues}/2/notes`, { body: `once more ${path}!1` });
    await call(owner, 'POST', `${requests}/1/notes`, { body: 'unlike !2 and !1, !99' });
    const actions = [{ action: 'create', file_path: 'c.txt', content: 'x' }];
    const commit = { branch: 'main', commit_message: 'Mends !1', actions };
    const { id: sha } = await call(owner, 'POST', `${at}/repository/commits`, commit);
    const told = [
      ...['by: unlike !2 and !1, !99', `mentioned in commit ${sha}`, 'mentioned in issue #1'],
      ...['mentioned in issue #2', 'mentioned in merge request !2'],
    ];
    expect((await notesOf(owner, `${requests}/1`)).toSorted()).toEqual(told);
    expect(await notesOf(owner, `${requests}/2`)).toEqual(['mentioned in merge request !1']);
    expect((await call(owner, 'GET', `${requests}/1`)).user_notes_count).toBe(1);
  });

  test('but not of the commit that merges it, which is noted already', async () => {
    const owner: Person = await someone();
    const { requests, path } = await proposed(owner, 'Merging', ['first', 'second']);
    const json = { merge_commit_message: `Merge it\n\nSee merge request ${path}!1, and !2` };
    const { merge_commit_sha: sha } = await call(owner, 'PUT', `${requests}/1/merge`, json);
    expect((await notesOf(owner, `${requests}/1`)).join()).not.toContain('mentioned');
    expect(await notesOf(owner, `${requests}/2`)).toEqual([`mentioned in commit ${sha}`]);
  });

  test('by a place that its readers see, and only where its writer sees the merge request', async () => {
    const [owner, stranger]: Person[] = [await someone(), await someone()];
    const { at, issues, requests, path } = await proposed(owner!, 'Seen', ['first']);
    await call(owner!, 'POST', issues, { title: 'secret !1', confidential: true });
    expect(await notesOf(owner!, `${requests}/1`)).toEqual(['mentioned in issue #1']);
    expect(await notesOf(stranger!, `${requests}/1`)).toEqual([]);
    await call(owner!, 'PUT', at, { merge_requests_access_level: 'private' });
    const far = await projectOf(stranger!, 'Unseen', []);
    await call(stranger!, 'POST', far.issues, { title: `like ${path}!1` });
    expect(await notesOf(owner!, `${requests}/1`)).toEqual(['mentioned in issue #1']);
  });
});

describe('what a reader may not see is not told', () => {
  test('a hidden or confidential place to its readers alone, without its title', async () => {
    const [owner, stranger]: Person[] = [await someone(), await someone()];
    const { issues, path } = await projectOf(owner!, 'Open', ['first']);
    const hidden = await projectOf(owner!, 'Hidden', [], { visibility: 'private' });
    await call(owner!, 'POST', hidden.issues, { title: 'hidden title', description: `${path}#1` });
    const secret = { title: 'secret title #1', confidential: true };
    await call(owner!, 'POST', issues, secret);
    const told = ['mentioned in issue hidden#1', 'mentioned in issue #2'];
    expect((await notesOf(owner!, `${issues}/1`)).toSorted()).toEqual(told.toSorted());
    expect(await notesOf(stranger!, `${issues}/1`)).toEqual([]);
    expect(await call(stranger!, 'GET', `${issues}/1/discussions`)).toEqual([]);
    const all = await call(owner!, 'GET', `${issues}/1/notes`);
    for (const { id } of all) await call(stranger!, 'GET', `${issues}/1/notes/${id}`, undefined, 404);
    expect(JSON.stringify(all)).not.toContain('title');
    // What becomes readable is told then.
    await call(owner!, 'PUT', `${issues}/2`, { confidential: false });
    expect(await notesOf(stranger!, `${issues}/1`)).toEqual(['mentioned in issue #2']);
  });

  test('nothing on an issue that the writer may not see, and nothing of internal notes', async () => {
    const [owner, stranger]: Person[] = [await someone(), await someone()];
    const { issues, path } = await projectOf(owner!, 'Own', ['first']);
    await call(owner!, 'POST', issues, { title: 'secret', confidential: true });
    const elsewhere = await projectOf(stranger!, 'Elsewhere', []);
    await call(stranger!, 'POST', elsewhere.issues, { title: 'x', description: `${path}#2` });
    await call(owner!, 'POST', issues, { title: 'third' });
    await call(owner!, 'POST', `${issues}/3/notes`, { body: 'between us: #1', internal: true });
    expect(await notesOf(owner!, `${issues}/2`)).toEqual([]);
    expect(await notesOf(owner!, `${issues}/1`)).toEqual([]);
  });
});

test('a text is told to the first hundred issues that it names', async () => {
  const owner: Person = await someone();
  const { issues } = await projectOf(owner, 'Many', ['first', 'second']);
  const numbers = Array.from({ length: 10_000 }, (_, i) => `#${i + 100}`);
  const description = ['#1', ...numbers, '#2'].join(' ');
  await call(owner, 'POST', issues, { title: 'many', description });
  expect(await notesOf(owner, `${issues}/1`)).toEqual(['mentioned in issue #3']);
  expect(await notesOf(owner, `${issues}/2`)).toEqual([]);
});
