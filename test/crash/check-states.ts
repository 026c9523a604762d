import { groupKey } from '../../lib/store/row-keys/groups.ts';
import { projectKey } from '../../lib/store/row-keys/projects.ts';
import { settingsKey } from '../../lib/store/row-keys/settings.ts';
import { tokenIdKey, tokenKey } from '../../lib/store/row-keys/tokens.ts';
import { snippetState } from './check-beside-code.ts';
import { issueState } from './check-issue-work.ts';
import { PROPOSAL_READERS } from './check-proposals.ts';
import { type Asked, type ExpectedState, GONE } from './expected-state.ts';
import type { Row, Rows } from './rows.ts';

const ABSENT = '(none)';

/** What a subject is at, as the clients write it down: `<kind> <id>`. */
const READERS: Readonly<Record<string, (rows: Rows, id: string) => string>> = {
  group: (rows, id) => placeOf(rows.get(groupKey(Number(id))), 'parentId'),
  project: (rows, id) => placeOf(rows.get(projectKey(Number(id))), 'namespaceId'),
  description: (rows, id) => String(rows.get(projectKey(Number(id)))?.['description'] ?? ABSENT),
  token: (rows, id) => {
    const hash = rows.get(tokenIdKey(Number(id)))?.['hash'] as string | undefined;
    const token = hash === undefined ? undefined : rows.get(tokenKey(hash));
    return token === undefined ? ABSENT : token['revoked'] === true ? 'revoked' : 'active';
  },
  issue: issueState,
  snippet: snippetState,
  ...PROPOSAL_READERS,
  setting: (rows, name) => {
    const values = (['effective', 'kept'] as const).map((row) => rows.get(settingsKey(row))?.['values']);
    const value = values.map((each) => (each as Record<string, unknown> | undefined)?.[name]).find(Boolean);
    return String(value ?? ABSENT);
  },
};

const placeOf = (row: Row | undefined, parent: string): string =>
  row === undefined || row['deletedAt'] != null ? GONE : `${row[parent] ?? 0}/${row['path']}`;

/** What was made under a name that one writer asked for once, by that name. */
const MADE: Readonly<Record<Asked, (rows: Rows) => Iterable<string>>> = {
  group: (rows) => rows.of('GROUP#').flatMap(({ sk, path }) => (sk === 'GROUP' ? [String(path)] : [])),
  project: (rows) => rows.of('PROJECT#').flatMap(({ sk, path }) => (sk === 'PROJECT' ? [String(path)] : [])),
  token: (rows) => rows.of('TOKEN#').map(({ name }) => String(name)),
  comment: (rows) => rows.of('NOTES#').map(({ body }) => String(body)),
};

/** What names of the writers look like; everything else is somebody else's. */
const OF_WRITERS: Readonly<Record<Asked, RegExp>> = {
  group: /^[gri]-\d+-\d+$/,
  project: /^[pq]-\d+-\d+$/,
  token: /^token-/,
  comment: /^comment-of-/,
};

/** Compares what the clients wrote down of single subjects: what was answered is there, and what is there was asked, once. */
export function* stateProblems(rows: Rows, expectedState: ExpectedState): Iterable<string> {
  for (const [key, { possible }] of expectedState.states) {
    const [kind, id] = key.split(' ') as [string, string];
    const is = READERS[kind]!(rows, id);
    if (!possible.has(is) && !(is === GONE && goesWith(expectedState, possible)))
      yield `${key} is at ${is} and not at ${[...possible].join(' or ')}`;
  }
  for (const [kind, names] of expectedState.asked) {
    const made = Map.groupBy(MADE[kind](rows), (name) => (kind === 'comment' ? name : firstNameOf(name)));
    for (const [name, { length }] of made) {
      if (!OF_WRITERS[kind].test(name)) continue;
      if (!names.has(name)) yield `nobody asked for ${kind} ${name}`;
      if (length > 1) yield `${kind} ${name} was asked for once and is there ${length} times`;
    }
  }
  const comments = Map.groupBy(
    rows.of('NOTES#').filter(({ body }) => OF_WRITERS.comment.test(String(body))),
    ({ body }) => String(body),
  );
  for (const body of expectedState.comments)
    if (!comments.has(body)) yield `${body} was answered and is not there`;
  const events = Map.groupBy(rows.of('EVENTS#'), (row) => (row['target'] as { id?: number } | null)?.id);
  for (const [body, [note]] of comments) {
    const told = (events.get(note!['id'] as number) ?? []).filter(({ action }) => action === 'commented');
    if (told.length !== 1) yield `${body} has ${told.length} events`;
  }
}

/** Whether one of the groups that it may be in was deleted, or that was asked for: what is in a group goes with it. */
function goesWith(expectedState: ExpectedState, places: ReadonlySet<string>): boolean {
  return [...places].some((place) => {
    const above = expectedState.states.get(`group ${place.split('/')[0]}`)?.possible;
    return above !== undefined && (above.has(GONE) || goesWith(expectedState, above));
  });
}

/** Groups and projects of the writers get a second name. */
const firstNameOf = (name: string): string =>
  name.replace(/^r-(?=\d+-\d+$)/, 'g-').replace(/^q-(?=\d+-\d+$)/, 'p-');
