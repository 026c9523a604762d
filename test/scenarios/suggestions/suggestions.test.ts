/** Suggestions in notes on lines, and the commits that apply them. */
import { beforeAll, describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { suggestionBlocks } from '../../../lib/domain/merge-requests/suggestions.ts';
import { codeOf } from '../../../lib/domain/repository/read.ts';
import { branchRef } from '../../../lib/git/refname.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';

const { world, as } = ownWorld();
let project = '';
let made = 0;

const done = async (who: Who, method: string, path: string, json?: object) => {
  const { status, body } = await as(who, method, path, json);
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return body;
};

const write = (branch: string, actions: object[], more: object = {}, path = project) =>
  done('owner', 'POST', `${path}/repository/commits`, { branch, commit_message: 'x', actions, ...more });

beforeAll(async () => {
  project = `/projects/${(await done('owner', 'POST', '/projects', { name: 'advised', visibility: 'public' })).id}`;
  for (const [who, access_level] of [
    ['reporter', 20],
    ['developer', 30],
  ] as const)
    await done('owner', 'POST', `${project}/members`, { user_id: world.ids[who], access_level });
  await write('main', [{ action: 'create', file_path: 'readme', content: 'x' }]);
});

const TEXT = 'one\ntwo\nthree\nfour\nfive';

/** Proposes a branch with a new file of five lines, of which the last has no end. */
async function propose() {
  const branch = `topic${++made}`;
  const [a, b] = [`a${made}`, `b${made}`];
  const create = [a, b].map((file_path) => ({ action: 'create', file_path, content: TEXT }));
  await write(branch, create, { start_branch: 'main' });
  const input = { title: 'Topic', source_branch: branch, target_branch: 'main' };
  const { iid } = await done('owner', 'POST', `${project}/merge_requests`, input);
  return { path: `${project}/merge_requests/${iid}`, branch, a, b };
}

/** Starts a discussion on a line. @returns its first note, and its id */
async function suggest(path: string, file: string, line: number, body: string, who: Who = 'reporter') {
  const { diff_refs } = await done('owner', 'GET', path);
  const position = { ...diff_refs, position_type: 'text', new_path: file, old_path: file, new_line: line };
  const { notes, id } = await done(who, 'POST', `${path}/discussions`, { body, position });
  return { ...notes[0], discussion: `${path}/discussions/${id}` };
}
const block = (text: string, range = '') => `Better:\n\`\`\`suggestion${range}\n${text}\n\`\`\``;
const contentOf = async (branch: string, file: string) =>
  (await as('owner', 'GET', `${project}/repository/files/${file}/raw?ref=${branch}`)).body;
const tipOf = async (branch: string) =>
  (await done('owner', 'GET', `${project}/repository/branches/${branch}`)).commit;
/** Deletes a branch before workers know of it. */
async function deletedUnseen(branch: string): Promise<void> {
  const record = (await world.store.projects.get(Number(project.split('/').at(-1))))!;
  const git = codeOf(deps(), { project: record, level: 0 });
  const name = branchRef(branch)!;
  await git.deleteRef(name, (await git.ref(name))!.oid);
}
const apply = (who: Who, id: number, json: object = {}) => as(who, 'PUT', `/suggestions/${id}/apply`, json);
const applyAll = (who: Who, ids: number[], json: object = {}) =>
  as(who, 'PUT', '/suggestions/batch_apply', { ids, ...json });
const refusal = ({ status, body }: { status: number; body: { message: string } }) => [status, body.message];

describe('a block of a text', () => {
  test.each([
    ['```suggestion\na\n```', [{ above: 0, below: 0, to: 'a\n' }]],
    ['x\n```suggestion:-2+1\na\nb\n```\ny', [{ above: 2, below: 1, to: 'a\nb\n' }]],
    ['```suggestion:-0+0\n```', [{ above: 0, below: 0, to: '' }]],
    ['```suggestion:-999+0\r\na\r\n```\r\n', [{ above: 100, below: 0, to: 'a\n' }]],
    ['````suggestion\n```\nx\n```\n````', [{ above: 0, below: 0, to: '```\nx\n```\n' }]],
    ['```\n```suggestion\na\n```\n```', []],
    ['```suggestion', []],
    ['```suggestions\na\n```', []],
    ['~~~suggestion\na\n~~~', []],
    ['    ```suggestion\na\n```', []],
  ])('%j', (text, expected) => {
    expect(suggestionBlocks(text)).toEqual(expected);
  });
});

describe('a suggestion', () => {
  test('is shown with the lines that it replaces, and changes with its note', async () => {
    const { path, a } = await propose();
    const text = `${block('TWO')}\n${block('all', ':-1+2')}`;
    const note = await suggest(path, a, 2, text);
    const first = { from_line: 2, to_line: 2, from_content: 'two\n', to_content: 'TWO\n' };
    const more = { from_line: 1, to_line: 4, from_content: 'one\ntwo\nthree\nfour\n', to_content: 'all\n' };
    expect(note.suggestions).toMatchObject([
      { ...first, appliable: true, applied: false },
      { ...more, appliable: true },
    ]);
    const shown = await done('stranger', 'GET', `${path}/notes/${note.id}`);
    expect(shown.suggestions).toEqual(note.suggestions);
    const changed = await done('reporter', 'PUT', `${path}/notes/${note.id}`, { body: block('two') });
    // What is there already needs not be applied.
    expect(changed.suggestions).toMatchObject([{ to_content: 'two\n', appliable: false }]);
    const none = await done('reporter', 'PUT', `${path}/notes/${note.id}`, { body: 'fine' });
    expect(none.suggestions).toEqual([]);
    expect((await apply('developer', note.suggestions[0].id)).status).toBe(404);
  });

  test('is committed by its author through who applies it, and resolves its discussion', async () => {
    const { path, branch, a } = await propose();
    const { suggestions, discussion } = await suggest(path, a, 2, block('zwei\nund halb'));
    const answer = await apply('developer', suggestions[0].id);
    expect([answer.status, answer.body]).toEqual([
      200,
      { ...suggestions[0], appliable: false, applied: true },
    ]);
    expect(await contentOf(branch, a)).toBe('one\nzwei\nund halb\nthree\nfour\nfive');
    expect(await tipOf(branch)).toMatchObject({
      ...{
        message: 'Apply 1 suggestion(s) to 1 file(s)',
        author_name: 'reporter',
        committer_name: 'developer',
      },
    });
    const { notes } = await done('owner', 'GET', discussion);
    expect(notes[0]).toMatchObject({ resolved: true, resolved_by: { username: 'developer' } });
    expect(notes[0].suggestions).toMatchObject([{ applied: true, appliable: false }]);
    expect(refusal(await apply('developer', suggestions[0].id))).toEqual([
      400,
      "Can't apply this suggestion.",
    ]);
  });

  test('of a reply is of the line of its discussion; the end of a file stays as it is', async () => {
    const { path, branch, a } = await propose();
    const { discussion } = await suggest(path, a, 5, 'Hm');
    const reply = await done('reporter', 'POST', `${discussion}/notes`, { body: block('FIVE') });
    expect((await apply('developer', reply.suggestions[0].id)).status).toBe(200);
    expect(await contentOf(branch, a)).toBe('one\ntwo\nthree\nfour\nFIVE');
  });

  test('ends its lines as those that it replaces', async () => {
    const { path, branch, a } = await propose();
    const content = 'one\r\ntwo\r\nthree\nfour\r\nfive';
    await write(branch, [{ action: 'update', file_path: a, content }]);
    await settled();
    const same = await suggest(path, a, 2, block('two'));
    expect(same.suggestions).toMatchObject([{ to_content: 'two\r\n', appliable: false }]);
    for (const [line, text] of [
      [5, 'v\nvi'],
      [3, 'iii'],
      [2, 'ii\nii'],
    ] as const) {
      const { suggestions } = await suggest(path, a, line, block(text));
      expect((await apply('developer', suggestions[0].id)).status).toBe(200);
    }
    expect(await contentOf(branch, a)).toBe('one\r\nii\r\nii\r\niii\nfour\r\nv\r\nvi');
  });

  test('follows its lines to later versions, until they change', async () => {
    const { path, branch, a } = await propose();
    const { suggestions } = await suggest(path, a, 3, block('drei'));
    await write(branch, [{ action: 'update', file_path: a, content: `zero\n${TEXT}` }]);
    await settled();
    const other = await suggest(path, a, 2, block('eins'));
    expect((await apply('developer', suggestions[0].id)).status).toBe(200);
    expect(await contentOf(branch, a)).toBe('zero\none\ntwo\ndrei\nfour\nfive');
    await write(branch, [{ action: 'update', file_path: a, content: 'zero\nuno\ntwo' }]);
    expect(refusal(await apply('developer', other.suggestions[0].id))).toEqual([
      400,
      "Can't apply as this line was changed in a more recent version.",
    ]);
  });

  test('is refused to who may not push, and where its merge request is closed or its branch gone', async () => {
    const { path, branch, a } = await propose();
    const { suggestions } = await suggest(path, a, 2, block('x'));
    const [{ id }] = suggestions;
    for (const who of ['stranger', 'reporter'] as const)
      expect(refusal(await apply(who, id))).toEqual([403, '403 Forbidden']);
    await done('owner', 'PUT', path, { state_event: 'close' });
    expect(refusal(await apply('developer', id))).toEqual([
      400,
      'This merge request is closed. To apply this suggestion, edit this file directly.',
    ]);
    await done('owner', 'PUT', path, { state_event: 'reopen' });
    await deletedUnseen(branch);
    expect(refusal(await apply('developer', id))).toEqual([
      400,
      "Can't apply as the source branch was deleted.",
    ]);
    await done('owner', 'PUT', project, { merge_requests_access_level: 'private' });
    expect(refusal(await apply('stranger', id))).toEqual([
      404,
      'Suggestion is not applicable as the suggestion was not found.',
    ]);
    await done('owner', 'PUT', project, { merge_requests_access_level: 'enabled' });
  });

  test('of two who apply it at once one has, and the other is told', async () => {
    const { path, branch, a } = await propose();
    const { suggestions } = await suggest(path, a, 2, block('x'));
    const before = await tipOf(branch);
    const answers = await Promise.all(
      (['developer', 'owner', 'developer', 'owner'] as const).map((who) => apply(who, suggestions[0].id)),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400]);
    expect((await tipOf(branch)).parent_ids).toEqual([before.id]);
    expect(await contentOf(branch, a)).toBe('one\nx\nthree\nfour\nfive');
  });
});

describe('several suggestions', () => {
  test('are one commit of who applies them, with the message of the project', async () => {
    const { path, branch, a, b } = await propose();
    const template = '%{username}: %{suggestions_count} in %{file_paths} of %{branch_name} (%{nothing})';
    await done('owner', 'PUT', project, { suggestion_commit_message: template });
    const first = await suggest(
      path,
      a,
      2,
      `${block('ii\nii')}\n${block('', ':-0+0').replace('\n\n', '\n')}`,
    );
    const second = await suggest(path, a, 4, block('iv'), 'owner');
    const third = await suggest(path, b, 1, block('i'));
    const ids = [first, second, third].map(({ suggestions }) => suggestions[0].id);
    const { status, body } = await applyAll('developer', ids);
    expect([status, body.map(({ id, applied }: { id: number; applied: boolean }) => [id, applied])]).toEqual([
      200,
      ids.map((id) => [id, true]),
    ]);
    expect(await contentOf(branch, a)).toBe('one\nii\nii\nthree\niv\nfive');
    expect(await contentOf(branch, b)).toBe('i\ntwo\nthree\nfour\nfive');
    expect(await tipOf(branch)).toMatchObject({
      message: `developer: 3 in ${a}, ${b} of ${branch} (%{nothing})`,
      author_name: 'developer',
    });
    await done('owner', 'PUT', project, { suggestion_commit_message: '' });
    const last = await suggest(path, b, 3, block('iii'));
    await applyAll('developer', [last.suggestions[0].id], { commit_message: 'Mine: %{files_count}' });
    expect((await tipOf(branch)).message).toBe('Mine: 1');
  });

  test('are refused together: overlapping, of several branches, unknown, applied', async () => {
    const [one, two] = [await propose(), await propose()];
    const idOf = async (...args: Parameters<typeof suggest>) =>
      (await suggest(...args)).suggestions[0].id as number;
    const [x, y] = [
      await idOf(one.path, one.a, 2, block('x', ':-0+1')),
      await idOf(one.path, one.a, 3, block('y')),
    ];
    const elsewhere = await idOf(two.path, two.a, 2, block('x'));
    const tip = await tipOf(one.branch);
    expect(refusal(await applyAll('developer', [x, y]))).toEqual([
      400,
      'Suggestions are not applicable as their lines cannot overlap.',
    ]);
    expect(refusal(await applyAll('developer', [x, elsewhere]))).toEqual([
      400,
      'Suggestions must all be on the same branch.',
    ]);
    expect(refusal(await applyAll('developer', [x, 99_999_999]))).toEqual([
      404,
      'Suggestions are not applicable as one or more suggestions were not found.',
    ]);
    expect((await applyAll('developer', [])).status).toBe(400);
    expect((await tipOf(one.branch)).id).toBe(tip.id);
    await apply('developer', y);
    const free = await idOf(one.path, one.b, 1, block('i'));
    expect(refusal(await applyAll('developer', [free, y]))).toEqual([400, 'A suggestion is not applicable.']);
    expect(await contentOf(one.branch, one.b)).toBe(TEXT);
  });
});

test('a suggestion on a fork’s branch is committed there, by who may push to it', async () => {
  const { id } = await done('owner', 'POST', `${project}/fork`, {
    name: 'advised-fork',
    path: 'advised-fork',
  });
  await settled();
  const fork = `/projects/${id}`;
  await write('fix', [{ action: 'create', file_path: 'f', content: TEXT }], { start_branch: 'main' }, fork);
  const target = Number(project.split('/').at(-1));
  const input = { title: 'Fix', source_branch: 'fix', target_branch: 'main', target_project_id: target };
  const { iid } = await done('owner', 'POST', `${fork}/merge_requests`, input);
  const { suggestions } = await suggest(`${project}/merge_requests/${iid}`, 'f', 1, block('eins'));
  expect((await apply('developer', suggestions[0].id)).status).toBe(403);
  expect((await apply('owner', suggestions[0].id)).status).toBe(200);
  const { body } = await as('owner', 'GET', `${fork}/repository/files/f/raw?ref=fix`);
  expect(body).toBe('eins\ntwo\nthree\nfour\nfive');
});
