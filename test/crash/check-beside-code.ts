import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { ownerOfRepository } from '../../lib/records/repository-owner.ts';
import type { SnippetRecord } from '../../lib/records/snippets.ts';
import type { EventTarget } from '../../lib/store/events/events.ts';
import type { FileProblems } from './check-git.ts';
import { type ExpectedState, type Fact, NO_FILE } from './expected-state.ts';
import { lazyRepositoriesOf, repositoryOwners } from './records.ts';
import type { Row, Rows } from './rows.ts';

/** Where a snippet is that was never made, or is deleted. */
export const NO_SNIPPET = '(none)';
/** The file of a snippet of the writers that the API writes: its text is the snippet's description, always. */
export const DESCRIBED_FILE = 'described.md';
/** The text of a page that was changed once; others were written once. */
export const CHANGED_PAGE = 'changed\n';

/** What snippets of the writers are called. */
export const snippetTitle = (name: string): string => `snippet-of-${name}`;
const OF_WRITERS = /^snippet-of-/;

type SnippetRow = Row & SnippetRecord;

/** The snippets of the writers. */
const snippetsOf = (rows: Rows): SnippetRow[] =>
  (rows.of('SNIPPET#') as unknown as SnippetRow[]).filter(
    ({ sk, title }) => sk === 'SNIPPET' && OF_WRITERS.test(title),
  );

/** What the record of the snippet with a title says. */
export const snippetState = (rows: Rows, title: string): string =>
  snippetsOf(rows).find((each) => each.title === title)?.description ?? NO_SNIPPET;

/** The snippets of the writers were asked for, once each. */
export function* snippetProblems(rows: Rows, { states }: ExpectedState): Iterable<string> {
  for (const [title, { length }] of Map.groupBy(snippetsOf(rows), (each) => each.title)) {
    if (!states.has(`snippet ${title}`)) yield `nobody asked for ${title}`;
    if (length > 1) yield `${title} was asked for once and is there ${length} times`;
  }
}

/** Wikis and snippets that have a repository, or were told to; those on their way out excepted. */
export function besideCode(
  rows: Rows,
  { texts }: ExpectedState,
): readonly { readonly repositoryId: string; readonly fileProblems: FileProblems }[] {
  const recordOf = repositoryOwners(rows);
  const pages = Map.groupBy(rows.of('EVENTS#'), (row) => {
    const page = (row['target'] as EventTarget | null)?.page;
    return page === undefined ? '' : `${row['projectId']} ${page.slug}`;
  });
  const ids = new Set([...lazyRepositoriesOf(rows).map(({ repositoryId }) => repositoryId), ...texts.keys()]);
  return [...ids].flatMap((repositoryId) => {
    const owner = ownerOfRepository(repositoryId)!;
    const record = recordOf(owner);
    if (record === undefined || record['deletedAt']) return [];
    const written = texts.get(repositoryId) ?? new Map<string, Fact<string>>();
    const told = (path: string, action: string): number => {
      const events = pages.get(`${owner.id} ${path.replace(/\.md$/, '')}`) ?? [];
      return events.filter((event) => event['action'] === action).length;
    };
    const fileProblems: FileProblems = (files) =>
      owner.kind === 'snippet'
        ? filesOfSnippet(record as unknown as SnippetRow, files, written)
        : filesOfWiki(files, written, told);
    return [{ repositoryId, fileProblems }];
  });
}

/** A snippet's record says which files it has; of the writers', the description too is written with a file. */
function* filesOfSnippet(
  { title, description, files: recorded }: SnippetRow,
  files: ReadonlyMap<string, string>,
  written: ReadonlyMap<string, Fact<string>>,
): Iterable<string> {
  if (!isDeepStrictEqual(recorded, [...files.keys()]))
    yield `its files are ${[...files.keys()]}, and its record says ${recorded}`;
  if (OF_WRITERS.test(title) && files.get(DESCRIBED_FILE) !== oidOf(description ?? ''))
    yield `it is described as ${description}, and ${DESCRIBED_FILE} says something else`;
  for (const [path, fact] of written) yield* textProblem(path, files.get(path), fact);
}

/** Files of the writers are what they wrote; what pages are and what events tell of them is written together. */
function* filesOfWiki(
  files: ReadonlyMap<string, string>,
  written: ReadonlyMap<string, Fact<string>>,
  told: (path: string, action: string) => number,
): Iterable<string> {
  for (const [path, fact] of written) {
    const oid = files.get(path);
    yield* textProblem(path, oid, fact);
    const counts = ['created', 'updated', 'destroyed'].map((action) => told(path, action)).join();
    const changed = oid === oidOf(CHANGED_PAGE) ? 1 : 0;
    const wanted = oid === undefined ? ['0,0,0', '1,1,1'] : [`1,${changed},0`];
    if (!wanted.includes(counts))
      yield `${path} is ${oid === undefined ? 'not ' : ''}there, and events tell ${counts} times that it was created, updated, destroyed`;
  }
  if (written.size === 0) return;
  for (const path of files.keys()) if (!written.has(path)) yield `nobody asked for ${path}`;
}

function* textProblem(path: string, oid: string | undefined, { possible }: Fact<string>): Iterable<string> {
  if ([...possible].some((text) => (text === NO_FILE ? undefined : oidOf(text)) === oid)) return;
  const texts = [...possible].map((text) => (text === NO_FILE ? 'absent' : JSON.stringify(text)));
  yield `${path} is ${oid === undefined ? 'absent' : 'another text'} and not ${texts.join(' or ')}`;
}

/** The object id of a file with a text. */
const oidOf = (text: string): string =>
  createHash('sha1')
    .update(`blob ${Buffer.byteLength(text)}\0${text}`)
    .digest('hex');
