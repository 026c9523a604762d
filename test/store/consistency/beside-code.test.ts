import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { eventKey } from '../../../lib/store/row-keys/events.ts';
import { projectKey } from '../../../lib/store/row-keys/projects.ts';
import { headKey } from '../../../lib/store/row-keys/repository.ts';
import { snippetKey } from '../../../lib/store/row-keys/snippets.ts';
import { besideCode, CHANGED_PAGE, DESCRIBED_FILE, snippetProblems } from '../../crash/check-beside-code.ts';
import { ExpectedState } from '../../crash/expected-state.ts';
import { keyText, type Row, type Rows } from '../../crash/rows.ts';

const WIKI = 'project-wiki-1';
const SNIPPET = 'snippet-2';

let eventId = 0;
const told = (slug: string, action: string): Row => {
  const id = ++eventId;
  const target = { type: 'WikiPage::Meta', id: 1, title: slug, page: { slug, format: 'markdown' } };
  return {
    ...eventKey({ kind: 'project', id: 1 }, '2026-11-22T00:00:00.000Z', id, 'facet'),
    id,
    projectId: 1,
    action,
    target,
  };
};
const snippet = (more: object = {}): Row => ({
  ...snippetKey(2),
  ...{ id: 2, title: 'snippet-of-1-1', description: 'second', files: [DESCRIBED_FILE, 'pushed.md'], ...more },
});
const project = { ...projectKey(1), id: 1, deletedAt: null };
const rows = (): Row[] => [
  project,
  { ...headKey(WIKI) },
  snippet(),
  { ...headKey(SNIPPET) },
  told('new', 'created'),
  told('changed', 'created'),
  told('changed', 'updated'),
  told('gone', 'created'),
  told('gone', 'updated'),
  told('gone', 'destroyed'),
];
const files = (): Record<string, Record<string, string>> => ({
  [WIKI]: { 'changed.md': CHANGED_PAGE, 'new.md': 'new\n' },
  [SNIPPET]: { [DESCRIBED_FILE]: 'second', 'pushed.md': 'text' },
});

let expectedState: ExpectedState;
beforeEach(() => {
  expectedState = new ExpectedState();
  expectedState.text(WIKI, 'new.md').acknowledge('new\n');
  expectedState.text(WIKI, 'changed.md').acknowledge(CHANGED_PAGE);
  expectedState.text(WIKI, 'gone.md');
  expectedState.text(WIKI, 'never.md');
  expectedState.text(SNIPPET, 'pushed.md').acknowledge('text');
  expectedState.state('snippet snippet-of-1-1', 'second');
});

const oidOf = (text: string) => createHash('sha1').update(`blob ${text.length}\0${text}`).digest('hex');

function problems(items: readonly Row[], held: ReturnType<typeof files> = files()): string[] {
  const byKey = new Map(items.map((item) => [keyText(item), item]));
  const groups = Map.groupBy(items, ({ pk }) => pk.slice(0, pk.indexOf('#') + 1));
  const stored: Rows = {
    items,
    byKey,
    indexes: new Map(),
    of: (prefix) => groups.get(prefix) ?? [],
    get: (key) => byKey.get(keyText(key)),
  };
  const found = besideCode(stored, expectedState).flatMap(({ repositoryId, fileProblems }) => {
    const texts = Object.entries(held[repositoryId] ?? {});
    return [...fileProblems(new Map(texts.map(([path, text]) => [path, oidOf(text)])))];
  });
  return [...snippetProblems(stored, expectedState), ...found];
}
const without = (action: string, slug: string) =>
  rows().filter((row) => row['action'] !== action || (row['target'] as { title: string }).title !== slug);
const recorded = (more: object) => rows().map((row) => (row.pk === snippetKey(2).pk ? snippet(more) : row));
const inWiki = (more: Record<string, string>) => ({ ...files(), [WIKI]: { ...files()[WIKI]!, ...more } });

describe('what clients wrote to wikis and snippets, and what is stored', () => {
  test('what was answered is there, and told', () => {
    expect(problems(rows())).toEqual([]);
  });

  test('a write without an answer was done or not', () => {
    expectedState.text(WIKI, 'never.md').attempt('new\n');
    expect(problems(rows())).toEqual([]);
    expect(problems([...rows(), told('never', 'created')], inWiki({ 'never.md': 'new\n' }))).toEqual([]);
  });

  test('what is deleted is not looked at', () => {
    expect(problems([{ ...project, deletedAt: '2026-11-22' }], {})).toEqual([]);
  });

  test.each<[string, () => [readonly Row[], ReturnType<typeof files>?], RegExp]>([
    [
      'a page is lost',
      () => [without('created', 'new'), { ...files(), [WIKI]: { 'changed.md': CHANGED_PAGE } }],
      /^new.md is absent and not "new/,
    ],
    [
      'a page is back',
      () => [without('destroyed', 'gone'), inWiki({ 'gone.md': CHANGED_PAGE })],
      /^gone.md is another/,
    ],
    [
      'a page is there that nobody wrote',
      () => [rows(), inWiki({ 'odd.md': 'x' })],
      /^nobody asked for odd.md/,
    ],
    ['a page has no event', () => [without('created', 'new')], /^new.md is there, and events tell 0,0,0/],
    [
      'a change is told twice',
      () => [[...rows(), told('changed', 'updated')]],
      /^changed.md is there, and events tell 1,2,0/,
    ],
    [
      'a change is told that was not made',
      () => [[...rows(), told('new', 'updated')]],
      /^new.md is there.* 1,1,0/,
    ],
    [
      'a deletion is not told',
      () => [without('destroyed', 'gone')],
      /^gone.md is not there, and events tell 1,1,0/,
    ],
    ['a record lacks a pushed file', () => [recorded({ files: [DESCRIBED_FILE] })], /^its files are/],
    [
      'a description is changed without its file',
      () => [recorded({ description: 'first' })],
      /^it is described as first/,
    ],
    [
      'a pushed text is another',
      () => [rows(), { ...files(), [SNIPPET]: { ...files()[SNIPPET]!, 'pushed.md': 'x' } }],
      /^pushed.md is another text and not "text"/,
    ],
    [
      'a snippet is there twice',
      () => [[...rows(), { ...snippet(), ...snippetKey(3), id: 3 }]],
      /^snippet-of-1-1 was asked for once and is there 2 times/,
    ],
    [
      'a snippet is there that nobody asked for',
      () => [[...rows(), { ...snippet({ title: 'snippet-of-7-7' }), ...snippetKey(3), id: 3 }]],
      /^nobody asked for snippet-of-7-7/,
    ],
  ])('is found: %s', (_, broken, named) => {
    expect(problems(...broken())).toEqual([expect.stringMatching(named)]);
  });
});
