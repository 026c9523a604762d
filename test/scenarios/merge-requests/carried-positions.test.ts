/** Places in diffs that are carried to newer versions, or are outdated there. */
import { expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';

const { as } = ownWorld();

type Actions = readonly (readonly [action: string, path: string, content?: string, from?: string])[];
const lines = (...texts: (string | number)[]) => texts.map((each) => `${each}\n`).join('');
const image = (...bytes: number[]) => Buffer.from([0, ...bytes]).toString('latin1');

async function ok(method: string, path: string, json?: object) {
  const { status, body } = await as('owner', method, path, json);
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return body;
}

let made = 0;
/** A merge request of `topic` to `main`, and how its branches and discussions are written. */
async function proposed(main: Actions, topic: Actions) {
  const json = { name: `carried-${++made}`, visibility: 'public' };
  const path = `/projects/${(await ok('POST', '/projects', json)).id}`;
  const commit = (branch: string, actions: Actions, more: object = {}) =>
    ok('POST', `${path}/repository/commits`, {
      ...{ branch, commit_message: 'x', ...more },
      actions: actions.map(([action, file_path, content, previous_path]) => ({
        ...{ action, file_path },
        ...(content !== undefined && { content }),
        ...(previous_path !== undefined && { previous_path }),
      })),
    });
  await commit('main', main);
  await commit('topic', topic, { start_branch: 'main' });
  const proposal = { title: 'Topic', source_branch: 'topic', target_branch: 'main' };
  const at = `${path}/merge_requests/${(await ok('POST', `${path}/merge_requests`, proposal)).iid}`;
  const refs = async () => (await ok('GET', at)).diff_refs;
  return {
    at,
    commit,
    refs,
    discuss: async (place: object) =>
      ok('POST', `${at}/discussions`, {
        body: 'see',
        position: { position_type: 'text', ...(await refs()), ...place },
      }),
    /** Of all discussions, with whether it is of the latest version. */
    positions: async () => {
      await settled();
      const { head_sha, base_sha } = await refs();
      const all = (await ok('GET', `${at}/discussions`)).filter(
        (each: { individual_note: boolean }) => !each.individual_note,
      );
      return all.map(({ notes }: { notes: { position: Record<string, unknown> }[] }) => {
        const { position } = notes[0]!;
        const isLatest = position['head_sha'] === head_sha && position['base_sha'] === base_sha;
        return [isLatest, position['new_path'], position['old_line'] ?? null, position['new_line'] ?? null];
      });
    },
  };
}

test('a line moves with what a push writes above it, and is outdated when a push changes it', async () => {
  const { commit, discuss, positions } = await proposed(
    [['create', 'a', lines(1, 2, 3, 4)]],
    [['update', 'a', lines(1, 'two', 3, 4)]],
  );
  const a = { old_path: 'a', new_path: 'a' };
  for (const line of [{ new_line: 2 }, { old_line: 2 }, { old_line: 4, new_line: 4 }])
    await discuss({ ...a, ...line });
  await commit('topic', [['update', 'a', lines(0, 1, 'two', 3, 4)]]);
  expect(await positions()).toEqual([
    [true, 'a', null, 3],
    [true, 'a', 2, null],
    [true, 'a', 4, 5],
  ]);
  await commit('topic', [['update', 'a', lines(0, 1, 2, 3, 'four')]]);
  expect(await positions()).toEqual([
    [false, 'a', null, 2],
    [false, 'a', 2, null],
    [false, 'a', 4, 4],
  ]);
});

test('an added line that the target has by now is an unchanged one; without changes in its file it is outdated', async () => {
  const { at, commit, discuss, positions } = await proposed(
    [['create', 'a', lines(1, 2)]],
    [['update', 'a', lines(1, 2, 'three')]],
  );
  await discuss({ old_path: 'a', new_path: 'a', new_line: 3 });
  // Made in the same second, it would else be the commit that is proposed.
  const message = { commit_message: 'on main' };
  const main = await commit('main', [['update', 'a', lines(1, 2, 'three')]], message);
  const merged = [['update', 'a', lines('one', 2, 'three')]] as const;
  await commit('topic', merged, { start_sha: main.id, force: true });
  expect(await positions()).toEqual([[true, 'a', 3, 3]]);
  expect((await ok('GET', `${at}/versions`)).length).toBe(2);
  await commit('topic', [['create', 'b', 'x']], { start_sha: main.id, force: true });
  expect(await positions()).toEqual([[false, 'a', null, 3]]);
});

test('a place in a new file follows it to its new name', async () => {
  const text = lines(...Array.from({ length: 20 }, (_, i) => `line ${i}`));
  const { commit, discuss, positions } = await proposed([['create', 'a', 'x']], [['create', 'b', text]]);
  await discuss({ old_path: 'b', new_path: 'b', new_line: 5 });
  await commit('topic', [['move', 'c', lines('first') + text, 'b']]);
  expect(await positions()).toEqual([[true, 'c', null, 6]]);
});

test.each([
  ['its new name', { new_path: 'c', new_line: 1 }],
  ['its new name for both', { new_path: 'c', old_path: 'c', new_line: 1 }],
  ['its old name', { old_path: 'b', old_line: 3 }],
])('a moved file is found by %s', async (_, place) => {
  const text = lines(...Array.from({ length: 20 }, (_, i) => `line ${i}`));
  const { discuss, positions } = await proposed(
    [['create', 'b', text]],
    [['move', 'c', lines('first') + text.replace('line 2\n', ''), 'b']],
  );
  const { notes } = await discuss(place);
  expect(notes[0].position).toMatchObject({ old_path: 'b', new_path: 'c' });
  const { old_line = null, new_line = null } = place as { old_line?: number; new_line?: number };
  expect(await positions()).toEqual([[true, 'c', old_line, new_line]]);
});

test.each([
  ['an image', { position_type: 'image', width: 4, height: 4, x: 1, y: 1 }],
  ['a whole file', { position_type: 'file' }],
])('a place in %s stays while the file is what it was, and is outdated when it changes', async (_, place) => {
  const { commit, discuss, positions } = await proposed(
    [['create', 'a', 'x']],
    [['create', 'i.png', image(1)]],
  );
  await discuss({ old_path: 'i.png', new_path: 'i.png', ...place });
  await commit('topic', [['update', 'a', 'y']]);
  expect(await positions()).toEqual([[true, 'i.png', null, null]]);
  await commit('topic', [['update', 'i.png', image(1, 2)]]);
  expect(await positions()).toEqual([[false, 'i.png', null, null]]);
});
