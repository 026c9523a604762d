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
    // Workers are as fast as they are.
    expect((await notesOf(owner, `${issues}/1`)).toSorted()).toEqual([
      'mentioned in issue #2',
      'mentioned in issue #3',
      'mentioned in issue beside#2',
    ]);
    expect((await notesOf(owner, `${issues}/2`)).toSorted()).toEqual([
      'by: see beside#1 and #1, #1',
      'mentioned in issue #3',
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

describe('a commit is told where it is mentioned', () => {
  /** A project with two commits on its main branch, the second of which is told of; and what is noted on commits. */
  async function committed(owner: Person, name: string) {
    const project = await projectOf(owner, name, ['first'], { initialize_with_readme: true });
    const at = `/projects/${project.id}`;
    const commit = async (branch: string, message: string, file: string, start?: string) => {
      const actions = [{ action: 'create', file_path: file, content: 'x' }];
      const json = { branch, commit_message: message, actions, ...(start && { start_branch: start }) };
      return (await call(owner, 'POST', `${at}/repository/commits`, json)).id as string;
    };
    const sha = await commit('main', 'second', 'b.txt');
    const notedOn = async (who: Person, of = sha) => {
      await settled();
      const commits = `${at}/repository/commits/${of}`;
      const comments = await call(who, 'GET', `${commits}/comments`);
      const discussions = await call(who, 'GET', `${commits}/discussions`);
      const bodies = discussions.flatMap(({ notes }: { notes: { body: string }[] }) =>
        notes.map(({ body }) => body),
      );
      expect(comments.map(({ note }: { note: string }) => note).toSorted()).toEqual(bodies.toSorted());
      return bodies.toSorted();
    };
    return { ...project, at, commit, sha, notedOn };
  }

  test('in texts, notes and other commits, by its id or the beginning of it, and once', async () => {
    const owner: Person = await someone();
    const { at, issues, path, commit, sha, notedOn } = await committed(owner, 'Named');
    await call(owner, 'PUT', `${issues}/1`, { description: `since ${sha.slice(0, 8)}, \`${sha}\`` });
    await call(owner, 'POST', `${issues}/1/notes`, { body: `indeed ${sha}` });
    const revert = await commit('main', `Revert "second"\n\nThis reverts commit ${sha}.`, 'c.txt');
    const far = await projectOf(owner, 'Far', []);
    await call(owner, 'POST', far.issues, { title: `as ${path}@${sha.slice(0, 10)}` });
    const told = ['mentioned in issue far#1', 'mentioned in issue #1', `mentioned in commit ${revert}`];
    expect(await notedOn(owner)).toEqual(told.toSorted());
    expect(await notedOn(owner, revert)).toEqual([]);
    await call(owner, 'POST', `${at}/repository/commits/${sha}/comments`, { note: `of ${revert}` });
    expect(await notedOn(owner, revert)).toEqual([`mentioned in commit ${sha}`]);
  });

  test('but not that its merge request names it', async () => {
    const owner: Person = await someone();
    const { at, commit, sha, notedOn } = await committed(owner, 'Proposing');
    const own = await commit('side', 'third', 'c.txt', 'main');
    const json = { title: 'x', description: `${own} after ${sha}`, source_branch: 'side' };
    await call(owner, 'POST', `${at}/merge_requests`, { ...json, target_branch: 'main' });
    expect(await notedOn(owner)).toEqual(['mentioned in merge request !1']);
    expect(await notedOn(owner, own)).toEqual([]);
  });

  test('by a place that its readers see, and only where its writer reads the code', async () => {
    const [owner, stranger]: Person[] = [await someone(), await someone()];
    const { id, issues, path, sha, notedOn } = await committed(owner!, 'Read');
    await call(owner!, 'POST', issues, { title: `secret ${sha}`, confidential: true });
    expect(await notedOn(owner!)).toEqual(['mentioned in issue #2']);
    expect(await notedOn(stranger!)).toEqual([]);
    await call(owner!, 'PUT', `/projects/${id}`, { repository_access_level: 'private' });
    const far = await projectOf(stranger!, 'Hopeful', []);
    await call(stranger!, 'POST', far.issues, { title: `like ${path}@${sha}` });
    expect(await notedOn(owner!)).toEqual(['mentioned in issue #2']);
  });
});

describe('an epic', () => {
  const notesOn = async (who: Person, epic: { group_id: number; id: number }) => {
    const notes = (await notesOf(who, `/groups/${epic.group_id}/epics/${epic.id}`)).toSorted();
    return notes;
  };

  async function planned(owner: Person, name: string, visibility = 'public') {
    const path = `${name}-${owner.username}`;
    const group = await call(owner, 'POST', '/groups', { name: path, path, visibility });
    const project = await projectOf(owner, 'Work', ['first'], { namespace_id: group.id, visibility });
    const epics = `/groups/${group.id}/epics`;
    const epic = (json: object) => call(owner, 'POST', epics, json);
    return { group, path, project, epics, epic };
  }

  test('is told where it is mentioned, by number, path and URL, and once', async () => {
    const owner: Person = await someone();
    const { path, project, epics, epic } = await planned(owner, 'told');
    const [first, second] = [await epic({ title: 'first' }), await epic({ title: 'after &1' })];
    await call(owner, 'PUT', `${project.issues}/1`, { description: `for &1 and ${path}&2` });
    await call(owner, 'POST', `${epics}/${second.id}/notes`, { body: `again &1, ${first.web_url}` });
    const far = await projectOf(owner, 'Far', []);
    await call(owner, 'POST', far.issues, { title: 'far', description: first.web_url });
    const told = ['mentioned in epic &2', 'mentioned in issue work#1'];
    expect(await notesOn(owner, first)).toEqual([...told, `mentioned in issue ${far.path}#1`].toSorted());
    expect(await notesOn(owner, second)).toContain('mentioned in issue work#1');
  });

  test('tells what its texts and notes on it name', async () => {
    const owner: Person = await someone();
    const { path, project, epics, epic } = await planned(owner, 'telling');
    const far = await projectOf(owner, 'Afar', ['first', 'second']);
    const { id, iid } = await epic({ title: 'plan', description: `work#1, #1 and ${far.path}#1` });
    await call(owner, 'POST', `${epics}/${id}/notes`, { body: `also ${far.path}#1` });
    await call(owner, 'POST', `${epics}/${id}/notes`, { body: `${far.path}#2`, internal: true });
    expect(await notesOf(owner, `${project.issues}/1`)).toEqual(['mentioned in epic &1']);
    expect(await notesOf(owner, `${far.issues}/1`)).toEqual([`mentioned in epic ${path}&1`]);
    expect(await notesOf(owner, `${far.issues}/2`)).toEqual([]);
    await call(owner, 'PUT', `${epics}/${iid}`, { description: `then ${far.path}#2` });
    expect(await notesOf(owner, `${far.issues}/2`)).toEqual([`mentioned in epic ${path}&1`]);
  });

  test('is told nothing by who does not see it, and of itself tells those who do', async () => {
    const [owner, stranger]: Person[] = [await someone(), await someone()];
    const { path, epic } = await planned(owner!, 'closed', 'private');
    const first = await epic({ title: 'first' });
    const far = await projectOf(stranger!, 'Guess', ['guessed']);
    await call(stranger!, 'POST', far.issues, { title: `like ${path}&1` });
    await epic({ title: 'second', description: `${far.path}#1` });
    expect(await notesOn(owner!, first)).toEqual([]);
    expect(await notesOf(owner!, `${far.issues}/1`)).toEqual([`mentioned in epic ${path}&2`]);
    expect(await notesOf(stranger!, `${far.issues}/1`)).toEqual([]);
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
