import { beforeEach, describe, expect, test } from 'vitest';
import { eventKey } from '../../../lib/store/row-keys/events.ts';
import { groupKey } from '../../../lib/store/row-keys/groups.ts';
import { noteKey } from '../../../lib/store/row-keys/notes.ts';
import { projectKey } from '../../../lib/store/row-keys/projects.ts';
import { settingsKey } from '../../../lib/store/row-keys/settings.ts';
import { tokenIdKey, tokenKey } from '../../../lib/store/row-keys/tokens.ts';
import { pushEventProblems } from '../../crash/check-events.ts';
import { stateProblems } from '../../crash/check-states.ts';
import { ExpectedState, GONE } from '../../crash/expected-state.ts';
import { keyText, type Row, type Rows } from '../../crash/rows.ts';

function rowsOf(items: readonly Row[]): Rows {
  const byKey = new Map(items.map((item) => [keyText(item), item]));
  const groups = Map.groupBy(items, ({ pk }) => pk.slice(0, pk.indexOf('#') + 1));
  return {
    items,
    byKey,
    indexes: new Map(),
    of: (prefix) => groups.get(prefix) ?? [],
    get: (key) => byKey.get(keyText(key)),
  };
}

let eventId = 0;
const event = (more: object): Row => {
  const id = ++eventId;
  const key = eventKey({ kind: 'project', id: 1 }, '2026-11-22T00:00:00.000Z', id, 'facet');
  return { ...key, id, projectId: 1, target: null, push: null, action: 'pushed', ...more };
};
const push = (from: string | null, to: string): Row =>
  event({ push: { action: 'pushed', refType: 'branch', ref: 'main', from, to } });
const commented = (id: number): Row => event({ action: 'commented', target: { type: 'note', id } });
const project = { ...projectKey(1), id: 1, namespaceId: 3, path: 'p-1-1', deletedAt: null };
const note = { ...noteKey(1, { kind: 'commit', id: 'c' }, 5), id: 5, body: 'comment-of-1-1' };
const healthy = (): Row[] => [
  { ...groupKey(3), id: 3, parentId: null, path: 'r-1-1', deletedAt: null },
  project,
  { ...tokenIdKey(4), hash: 'h' },
  { ...tokenKey('h'), id: 4, name: 'token-1-1', revoked: true },
  { ...settingsKey('effective'), values: {} },
  { ...settingsKey('kept'), values: { after_sign_up_text: 'as of 1-1' } },
  note,
  commented(5),
  push(null, 'a'),
  push('a', 'b'),
  push('b', 'c'),
];

let expectedState: ExpectedState;
beforeEach(() => {
  expectedState = new ExpectedState();
  expectedState.state('group 3', '0/g-1-1').acknowledge('0/r-1-1');
  expectedState.state('project 1', '3/p-1-1');
  expectedState.state('token 4', 'active').acknowledge('revoked');
  expectedState.state('setting after_sign_up_text', '(none)').acknowledge('as of 1-1');
  for (const [kind, name] of [
    ['group', 'g-1-1'],
    ['project', 'p-1-1'],
    ['token', 'token-1-1'],
    ['comment', 'comment-of-1-1'],
  ] as const)
    expectedState.ask(kind, name);
  expectedState.comments.add('comment-of-1-1');
  expectedState.committed(1, 'main', 'c', 'first.txt');
});

const problems = (items: readonly Row[]): string[] => [
  ...stateProblems(rowsOf(items), expectedState),
  ...pushEventProblems(rowsOf(items), expectedState),
];
/** The healthy rows, of which those with one of the new rows' keys are replaced. */
const changed = (...rows: readonly Row[]): Row[] => {
  const keys = new Set(rows.map(keyText));
  return [...healthy().filter((row) => !keys.has(keyText(row))), ...rows];
};

describe('what clients wrote down of single subjects, and what is stored', () => {
  test('healthy rows have no problems', () => {
    expect(problems(healthy())).toEqual([]);
  });

  test('a write without an answer was done or not', () => {
    expectedState.state('group 3').attempt('0/h-1-1');
    expect(problems(healthy())).toEqual([]);
    expectedState.state('group 3').attempt(GONE);
    expect(problems(changed({ ...groupKey(3), deletedAt: '2026-11-22' }))).toEqual([]);
  });

  test.each<[string, () => Row[], RegExp]>([
    [
      'a rename that was answered is lost',
      () => changed({ ...groupKey(3), parentId: null, path: 'g-1-1', deletedAt: null }),
      /^group 3 is at 0\/g-1-1/,
    ],
    ['a transfer is lost', () => changed({ ...project, namespaceId: 2 }), /^project 1 is at 2\/p-1-1/],
    ['a project is gone', () => healthy().filter((row) => row !== project), /^project 1 is at gone/],
    [
      'a revoked token works',
      () => changed({ ...tokenKey('h'), id: 4, name: 'token-1-1', revoked: false }),
      /^token 4 is at active/,
    ],
    [
      'a setting is lost',
      () => changed({ ...settingsKey('kept'), values: {} }),
      /^setting after_sign_up_text is at \(none\)/,
    ],
    [
      'a token was made twice',
      () => [...healthy(), { ...tokenKey('i'), id: 6, name: 'token-1-1' }],
      /^token token-1-1 was asked for once and is there 2 times/,
    ],
    [
      'a group is there that nobody asked for',
      () => [...healthy(), { ...groupKey(9), path: 'g-7-7', deletedAt: null }],
      /^nobody asked for group g-7-7/,
    ],
    ['a comment is lost', () => healthy().filter((row) => row !== note), /^comment-of-1-1 was answered/],
    ['a comment has two events', () => [...healthy(), commented(5)], /^comment-of-1-1 has 2 events/],
    [
      'a comment has no event',
      () => healthy().filter(({ action }) => action !== 'commented'),
      /^comment-of-1-1 has 0 events/,
    ],
    ['a push is told twice', () => [...healthy(), push('a', 'b')], /main: a move is told twice/],
    [
      'a push in the middle is not told',
      () => healthy().filter((row) => (row['push'] as { to?: string } | null)?.to !== 'b'),
      /2 moves begin at 2 and end at 2 commits/,
    ],
    [
      'the last push is not told',
      () => healthy().filter((row) => (row['push'] as { to?: string } | null)?.to !== 'c'),
      /no event of main c/,
    ],
    ['no push is told', () => healthy().filter((row) => row['push'] == null), /no event of main c/],
    ['a push is told that was not made', () => [...healthy(), push('x', 'y')], /begin at 2 and end at 2/],
  ])('is found: %s', (_, broken, named) => {
    expect(problems(broken())).toEqual([expect.stringMatching(named)]);
  });

  test('a project goes with its group', () => {
    expectedState.state('group 3').acknowledge(GONE);
    const rest = healthy().filter(({ pk }) => pk !== projectKey(1).pk && pk !== groupKey(3).pk);
    expect(problems(rest)).toEqual([]);
  });
});
