import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { MembershipCache } from '../../../lib/domain/access/effective-level.ts';
import { projectAccess } from '../../../lib/domain/access/open-request.ts';
import { actingFor } from '../../../lib/domain/actor.ts';
import { createMergeRequest, updateMergeRequest } from '../../../lib/domain/merge-requests/merge-requests.ts';
import { expectSchema } from '../../harness/schemas.ts';
import { type Service, startService } from '../../harness/service.ts';
import { ask, makeWorld, type World } from '../../harness/world.ts';
import { type Pushed, pushedProject } from '../repository/pushed-project.ts';

let service: Service;
let world: World;
let project: Pushed;
let path: string;
/** The commits of the version that merge requests begin with. */
let refs: { base_sha: string; start_sha: string; head_sha: string };

const commit = (branch: string, from: string, files: Record<string, string>) => {
  const changes = Object.entries(files).map(
    ([name, text]) => `M 100644 inline ${name}\ndata ${text.length}\n${text}\n`,
  );
  const start = from === '' ? '' : `from ${from}\n`;
  return `commit refs/heads/${branch}\ncommitter C <c@example.com> 1600000000 +0000\ndata 1\nx\n${start}${changes.join('')}`;
};
const lines = (...numbers: (number | string)[]) => numbers.map((each) => `${each}\n`).join('');

async function acting() {
  const { store } = deps();
  const user = await store.users.get((await ask(world, 'owner', 'GET', '/user')).body.id);
  const actor = actingFor(user!, service.url);
  const access = await projectAccess(
    actor,
    (await store.projects.get(project.id))!,
    new MembershipCache(deps()),
  );
  return { actor, access: access! };
}

const propose = async (): Promise<number> => {
  const { actor, access } = await acting();
  const input = { title: 'Topic', sourceBranch: `topic${++proposed}`, targetBranch: 'main' };
  return (await createMergeRequest(deps(), actor, access, input)).mergeRequest.iid;
};
let proposed = 0;

const recordOf = async (iid: number) =>
  (await deps().store.mergeRequests.get({ projectId: project.id, iid }))!;
const at = (iid: number) => `/projects/${project.id}/merge_requests/${iid}`;
const code = (file: string, old: number, after: number) =>
  `${createHash('sha1').update(file).digest('hex')}_${old}_${after}`;

beforeAll(async () => {
  service = await startService();
  world = await makeWorld(service);
  project = await pushedProject(
    service,
    { username: 'owner', token: world.tokens.owner! },
    'reviewed',
    (git) => {
      const topic = { a: lines(1, 2, 3, 4, 'five', 6, 7, 'new', 8), image: 'a\0b' };
      git.feed(
        [
          commit('older', '', { a: lines(2, 3, 4, 5, 6, 7, 8), same: 'x' }),
          commit('main', 'refs/heads/older', { a: lines(1, 2, 3, 4, 5, 6, 7, 8), same: 'x' }),
          ...[1, 2, 3, 4, 5, 6].map((n) => commit(`topic${n}`, 'refs/heads/main', topic)),
        ].join(''),
        'fast-import',
        '--quiet',
      );
    },
  );
  for (const [name, access_level] of Object.entries({ guest: 10, reporter: 20, developer: 30 }))
    await ask(world, 'owner', 'POST', `/projects/${project.id}/members`, {
      user_id: world.ids[name],
      access_level,
    });
  path = at(await propose());
  const { baseSha, startSha, headSha } = (await recordOf(1)).diff;
  refs = { base_sha: baseSha!, start_sha: startSha, head_sha: headSha };
});
afterAll(async () => {
  project.git[Symbol.dispose]();
  await service.stop();
});

const place = (more: object) => ({ ...refs, position_type: 'text', old_path: 'a', new_path: 'a', ...more });
const discuss = (iidPath: string, position?: object) =>
  ask(world, 'owner', 'POST', `${iidPath}/discussions`, { body: 'see', ...(position && { position }) });

test('notes on a merge request are written, listed, changed and deleted, and counted', async () => {
  const made = await ask(world, 'owner', 'POST', `${path}/notes`, { body: 'one' });
  expect([made.status, made.body]).toMatchObject([
    201,
    { type: null, noteable_type: 'MergeRequest', noteable_iid: 1, resolvable: false },
  ]);
  expect((await recordOf(1)).userNotesCount).toBe(1);
  const changed = await ask(world, 'owner', 'PUT', `${path}/notes/${made.body.id}`, { body: 'two' });
  expect([changed.status, changed.body.body]).toEqual([200, 'two']);
  const listed = await ask(world, 'owner', 'GET', `${path}/notes?activity_filter=only_comments`);
  expect(listed.body.map((note: { body: string }) => note.body)).toEqual(['two']);
  expect((await ask(world, 'owner', 'DELETE', `${path}/notes/${made.body.id}`)).status).toBe(204);
  expect((await recordOf(1)).userNotesCount).toBe(0);
  expect((await ask(world, 'owner', 'POST', `${path}/notes`, { body: 'x', internal: true })).status).toBe(
    403,
  );
  const award = await ask(world, 'owner', 'POST', `${path}/award_emoji`, { name: 'thumbsup' });
  expect([award.status, award.body.awardable_type]).toEqual([201, 'MergeRequest']);
  expect((await recordOf(1)).upvotes).toBe(1);
});

describe('a place in the diff', () => {
  test.each([
    ['an added line', { new_line: 5 }, null, 5, [6, 5]],
    ['a deleted line', { old_line: 5 }, 5, null, [5, 5]],
    ['an unchanged line', { old_line: 6, new_line: 6 }, 6, 6, [6, 6]],
  ])('is %s', async (_name, line, oldLine, newLine, numbers) => {
    const [old, after] = numbers as [number, number];
    const range = {
      start: line,
      end: {
        line_code: code('a', old, after),
        // As clients are told: `old` also of unchanged lines.
        type: oldLine === null ? 'new' : 'old',
      },
    };
    const { status, body } = await discuss(path, place({ ...line, line_range: range }));
    expect(status).toBe(201);
    const [note] = body.notes;
    const shown = {
      line_code: code('a', old, after),
      type: oldLine === null ? 'new' : newLine === null ? 'old' : null,
      old_line: oldLine,
      new_line: newLine,
    };
    expect(note).toMatchObject({
      type: 'DiffNote',
      resolvable: true,
      resolved: false,
      resolved_by: null,
      resolved_at: null,
      position: {
        ...refs,
        position_type: 'text',
        old_path: 'a',
        new_path: 'a',
        old_line: oldLine,
        new_line: newLine,
        line_range: { start: shown, end: shown },
      },
    });
    const reply = await ask(world, 'administrator', 'POST', `${path}/discussions/${body.id}/notes`, {
      body: 'yes',
    });
    expect(reply.body).toMatchObject({ type: 'DiffNote', position: note.position });
  });

  test('is named by a form too, and may be a whole file, or a point in an image', async () => {
    const form = new URLSearchParams({ body: 'see', 'position[new_line]': '8' });
    for (const [name, value] of Object.entries(place({}))) form.set(`position[${name}]`, String(value));
    for (const end of ['start', 'end']) form.set(`position[line_range][${end}][new_line]`, '8');
    const token = world.tokens.owner!;
    const made = await service.call('POST', `${path}/discussions`, { token, form: form.toString() });
    expect([made.status, made.body.notes[0].position]).toMatchObject([
      201,
      { new_line: 8, line_range: { start: { new_line: 8, type: 'new' }, end: { new_line: 8 } } },
    ]);
    const file = await discuss(path, place({ position_type: 'file' }));
    expect(file.body.notes[0].position).toEqual({
      ...refs,
      position_type: 'file',
      old_path: 'a',
      new_path: 'a',
    });
    const point = {
      position_type: 'image',
      old_path: 'image',
      new_path: 'image',
      width: 10,
      height: 10,
      x: 1,
      y: 2.5,
    };
    expect((await discuss(path, place(point))).body.notes[0].position).toEqual({ ...refs, ...point });
  });

  test.each([
    ['a line that the new file does not have', { new_line: 10 }],
    ['an unchanged line by one side alone', { new_line: 6 }],
    ['an added line with an old number', { old_line: 5, new_line: 5 }],
    ['no line', {}],
    ['a line of a binary file', { old_path: 'image', new_path: 'image', new_line: 1 }],
    ['a file that is not changed', { old_path: 'same', new_path: 'same', new_line: 1 }],
    ['a file that there is not', { old_path: 'none', new_path: 'none', new_line: 1 }],
    ['commits of no version', { head_sha: 'f'.repeat(40), new_line: 5 }],
    [
      'a range with a line that there is not',
      { new_line: 5, line_range: { start: { new_line: 5 }, end: { new_line: 99 } } },
    ],
    ['a point outside of the image', { position_type: 'image', width: 1, height: 1, x: 2, y: 0 }],
  ])('is refused: %s', async (_name, wrong) => {
    const { status, body } = await discuss(path, place(wrong));
    expect([status, body.message]).toEqual([400, expect.stringMatching(/Note \{:(?:position|line_code)=>/)]);
  });

  test('moves with its line to the next version, whatever the line is there', async () => {
    const iid = await propose();
    const head_sha = (await recordOf(iid)).diff.headSha;
    const first = { ...refs, head_sha };
    const places = [
      { old_line: 3, new_line: 3 },
      { old_line: 5 },
      { new_line: 5 },
      { old_line: 1, new_line: 1 },
    ];
    for (const line of places)
      expect((await discuss(at(iid), { ...place(line), ...first })).status).toBe(201);
    const { actor, access } = await acting();
    await updateMergeRequest(deps(), actor, access, iid, { targetBranch: 'older' });
    const older = project.git.oid('older');
    const later = { base_sha: older, start_sha: older, head_sha };
    const { body } = await ask(world, 'owner', 'GET', `${at(iid)}/discussions`);
    const shown = body
      .filter((each: { individual_note: boolean }) => !each.individual_note)
      .map(({ notes: [note] }: { notes: { position: object }[] }) => note!.position);
    expect(shown).toMatchObject([
      { ...later, old_line: 2, new_line: 3 },
      { ...later, old_line: 4, new_line: null },
      { ...later, old_line: null, new_line: 5 },
      // The line that this target lacks is an added one.
      { ...later, old_line: null, new_line: 1 },
    ]);
    // Places in both versions are taken.
    for (const version of [first, later])
      expect((await discuss(at(iid), { ...place({ new_line: 8 }), ...version })).status).toBe(201);
  });
});

test('notes of all kinds are what clients expect', async () => {
  const iid = await propose();
  await discuss(at(iid), place({ new_line: 5, head_sha: (await recordOf(iid)).diff.headSha }));
  await discuss(at(iid));
  await ask(world, 'owner', 'POST', `${at(iid)}/notes`, { body: 'alone' });
  await ask(world, 'owner', 'PUT', at(iid), { title: 'Another' });
  const { body } = await ask(world, 'owner', 'GET', `${at(iid)}/notes`);
  const kinds = body.map((note: { type: string | null; system: boolean }) => [note.type, note.system]);
  expect(kinds).toEqual([
    [null, true],
    [null, false],
    ['DiscussionNote', false],
    ['DiffNote', false],
  ]);
  // The schema has no `attachment`, places and suggestions, and its people always have an avatar.
  const inSchema = ({
    attachment: _a,
    position: _p,
    suggestions: _s,
    author,
    ...note
  }: Record<string, unknown>) => ({
    ...note,
    author: { ...(author as object), avatar_url: 'https://example.com/a' },
  });
  expectSchema('notes', body.map(inSchema));
});

test('a discussion is resolved with all its notes, opened again by a reply, and counted while it is open', async () => {
  const iid = await propose();
  const open = async () => (await recordOf(iid)).unresolvedCount;
  const { body } = await discuss(at(iid));
  const one = `${at(iid)}/discussions/${body.id}`;
  expect(await open()).toBe(1);
  const resolved = await ask(world, 'owner', 'PUT', one, { resolved: true });
  expect([resolved.status, resolved.body.notes[0]]).toMatchObject([
    200,
    { resolvable: true, resolved: true, resolved_by: { username: 'owner' }, resolved_at: expect.any(String) },
  ]);
  expect(await open()).toBe(0);
  expect((await ask(world, 'owner', 'PUT', one, { resolved: true })).status).toBe(200);
  expect(await open()).toBe(0);
  await ask(world, 'administrator', 'POST', `${one}/notes`, { body: 'no' });
  expect(await open()).toBe(1);
  const note = `${one}/notes/${body.notes[0].id}`;
  const again = await ask(world, 'owner', 'PUT', note, { resolved: true });
  expect([again.status, again.body.resolved, await open()]).toEqual([200, true, 0]);
  expect((await ask(world, 'owner', 'PUT', note, { resolved: false })).body.resolved).toBe(false);
  const { body: both } = await ask(world, 'owner', 'GET', one);
  for (const { id } of both.notes) await ask(world, 'owner', 'DELETE', `${one}/notes/${id}`);
  expect(await open()).toBe(0);

  const single = await ask(world, 'owner', 'POST', `${at(iid)}/notes`, { body: 'alone' });
  const { body: all } = await ask(world, 'owner', 'GET', `${at(iid)}/discussions`);
  const alone = `${at(iid)}/discussions/${all.at(-1).id}`;
  const refused = await ask(world, 'owner', 'PUT', alone, { resolved: true });
  expect([refused.status, refused.body.message]).toEqual([400, '400 Bad request - Note is not resolvable']);
  await ask(world, 'owner', 'POST', `${alone}/notes`, { body: 'a reply' });
  expect(await open()).toBe(1);
  expect((await ask(world, 'owner', 'GET', `${at(iid)}/notes/${single.body.id}`)).body.resolvable).toBe(true);
});

test('whoever resolves the last of several discussions has that noted once', async () => {
  const iid = await propose();
  const discussions = [];
  for (let i = 0; i < 4; i++) discussions.push((await discuss(at(iid))).body.id as string);
  const answers = await Promise.all(
    discussions.map((id) => ask(world, 'owner', 'PUT', `${at(iid)}/discussions/${id}`, { resolved: true })),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect((await recordOf(iid)).unresolvedCount).toBe(0);
  const told = async () => {
    const notes = await ask(world, 'owner', 'GET', `${at(iid)}/notes?activity_filter=only_activity`);
    return notes.body.map((note: { body: string }) => note.body);
  };
  expect(await told()).toEqual(['resolved all threads']);
  const first = `${at(iid)}/discussions/${discussions[0]}`;
  for (const resolved of [false, true]) await ask(world, 'owner', 'PUT', first, { resolved });
  expect(await told()).toHaveLength(2);
});

test.each([
  ['anonymous', 401, 401],
  ['stranger', 201, 403],
  ['guest', 201, 403],
  ['reporter', 201, 403],
  ['developer', 201, 200],
  ['administrator', 201, 200],
] as const)('%s: starts a discussion %i, resolves that of another %i', async (caller, starts, resolves) => {
  expect((await ask(world, caller, 'POST', `${path}/discussions`, { body: 'x' })).status).toBe(starts);
  const { body } = await discuss(path);
  const { status } = await ask(world, caller, 'PUT', `${path}/discussions/${body.id}`, { resolved: true });
  expect(status).toBe(resolves);
});

describe('an issue that goes on with discussions', () => {
  const begin = async (iid: number, body: string) =>
    (await ask(world, 'owner', 'POST', `${at(iid)}/discussions`, { body })).body;
  const goesOn = (iid: number, json: object = {}, who: 'owner' | 'guest' = 'owner') =>
    ask(world, who, 'POST', `/projects/${project.id}/issues`, {
      ...{ title: 'Later', merge_request_to_resolve_discussions_of: iid },
      ...json,
    });
  const discussion = async (iid: number, id: string, who: 'owner' | 'guest' = 'owner') =>
    (await ask(world, who, 'GET', `${at(iid)}/discussions/${id}`)).body.notes;

  test('names them, and resolves them where its author may', async () => {
    const iid = await propose();
    const [one, two] = [await begin(iid, 'Too slow\nby far'), await begin(iid, 'Why?')];
    await ask(world, 'owner', 'POST', `${at(iid)}/discussions/${one.id}/notes`, { body: 'Yes' });
    const url = `${service.url}/owner/reviewed/-/merge_requests/${iid}`;
    const item = (note: number, more: string, ...quoted: string[]) =>
      `- [ ] @owner started a [discussion](${url}#note_${note}): ${more}\n\n${quoted.map((line) => `    > ${line}`).join('\n')}`;
    const first = await goesOn(iid, { discussion_to_resolve: one.id, confidential: true });
    expect([first.status, first.body.description]).toEqual([
      201,
      [
        `The following discussion from !${iid} should be addressed:`,
        item(one.notes[0].id, ' (+1 comment)', 'Too slow', 'by far'),
      ].join('\n\n'),
    ]);
    expect(await discussion(iid, one.id)).toMatchObject([
      { resolved: true },
      {},
      { system: true, body: `created #${first.body.iid} to continue this discussion` },
    ]);
    expect(await discussion(iid, one.id, 'guest')).toHaveLength(2);
    expect(await discussion(iid, two.id)).toMatchObject([{ resolved: false }]);

    const own = await goesOn(iid, { description: 'My own words' }, 'guest');
    expect([own.status, own.body.description]).toEqual([201, 'My own words']);
    expect(await discussion(iid, two.id)).toMatchObject([{ resolved: false }]);
    const all = await goesOn(iid);
    expect(all.body.description).toContain(item(two.notes[0].id, '', 'Why?'));
    expect(await discussion(iid, two.id)).toMatchObject([{ resolved: true }, { system: true }]);
    expect((await goesOn(iid)).body.description).toBe(
      `There are no unresolved discussions. Review the conversation in !${iid}`,
    );
    expect((await goesOn(99_999)).body.description).toBeNull();
  });
});
