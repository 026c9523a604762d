import { expect, test } from 'vitest';
import { allEndpoints } from '../../lib/api/all.ts';
import type { Answer } from '../harness/service.ts';
import { COLUMNS, type Column, done, type Fixtures, MARKS, type Names } from './fixtures.ts';
import { type Expected, HEADING, type Line, type Preparation, type Row } from './rows.ts';

/** One test per row: every line of it, asked by every column that has a status there. */
export function matrix(fixtures: () => Fixtures, rows: readonly Row[]): void {
  for (const row of rows) {
    test(`${row.endpoint} (${row.at})`, async () => {
      const problems: string[] = [];
      for (const line of row.lines) problems.push(...(await problemsOf(fixtures(), row, line)));
      expect(problems.join('\n'), `the answers differ from ${row.at}`).toBe('');
    });
  }
}

async function problemsOf(fixtures: Fixtures, row: Row, line: Line): Promise<string[]> {
  const asked = COLUMNS.map(([column]) => column).filter((column) => line.expected[column] !== undefined);
  const one = (column: Column) => answerOf(fixtures, row, line, column);
  // What may change something comes in the order of the columns.
  const answers =
    row.method === 'GET' || row.method === 'HEAD'
      ? await Promise.all(asked.map(one))
      : await inTurn(asked, one);
  const got = new Map(asked.map((column, i) => [column, answers[i]!]));
  const problems: string[] = [];
  if (asked.some((column) => got.get(column)!.status !== line.expected[column]!.status)) {
    const show = (of: (column: Column) => string) =>
      COLUMNS.map(([column]) => of(column).padEnd(4))
        .join(' ')
        .trimEnd();
    const wanted = show((column) => textOf(line.expected[column]));
    const answered = show((column) => String(got.get(column)?.status ?? '.'));
    const label = line.subject.padEnd(9);
    problems.push(`              ${label} ${HEADING}`, `  the table:  ${label} ${wanted}`);
    problems.push(`  the answers:${label} ${answered}`);
  }
  for (const column of asked) {
    const told = problemIn(row, line, column, got.get(column)!);
    if (told !== undefined) problems.push(`  ${line.subject}, ${column}: ${told}`);
  }
  return problems;
}

async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

const textOf = (expected: Expected | undefined) =>
  expected === undefined ? '.' : `${expected.status}${expected.inside ? 'r' : ''}`;

let asked = 0;

/** What a column gets, after the preparations. @param by with another credential than the column's token */
export async function answerOf(
  fixtures: Fixtures,
  row: Row,
  line: Line,
  column: Column,
  by: Column | Credential = column,
): Promise<Answer> {
  const names: Record<string, string | number> = {
    ...fixtures.names,
    ...subjectOf(fixtures, row, line),
    me: fixtures.names[column] ?? fixtures.names['ownr']!,
    n: ++asked,
  };
  // Refused callers get the subject itself.
  names['new'] = names['id'] ?? 0;
  const permitted = (line.expected[column]?.status ?? 400) < 300;
  for (const preparation of row.before) {
    if (!permitted && !preparation.always) continue;
    const made = await prepare(fixtures, preparation, column, names);
    if (made?.id !== undefined) names['new'] = made.id;
  }
  return send(fixtures, by, row, names);
}

async function prepare(fixtures: Fixtures, preparation: Preparation, column: Column, names: Names) {
  const who = { first: 'ownr', root: 'admn', mine: column } as const;
  const answer = await send(fixtures, who[preparation.by], preparation, names);
  // What is there already, or is gone already, is as good.
  return answer.status === 304 || answer.status === 409
    ? undefined
    : done(answer, `before ${preparation.path}`);
}

/** What a request is sent with. */
export interface Credential {
  readonly token?: string | undefined;
  readonly sudo?: string;
  readonly jobToken?: string;
}

/**
 * A request with its names filled in, of a column's or with another credential.
 * @returns status 0 for an answer that the document does not tell
 */
export async function send(
  fixtures: Fixtures,
  by: Column | Credential,
  { method, path, json }: { method: string; path: string; json: string | undefined },
  names: Names,
): Promise<Answer> {
  const { token, sudo, jobToken }: Credential = typeof by === 'string' ? { token: fixtures.tokens[by] } : by;
  const headers = {
    ...(sudo === undefined ? {} : { Sudo: sudo }),
    ...(jobToken === undefined ? {} : { 'JOB-TOKEN': jobToken }),
  };
  const body = json === undefined ? undefined : JSON.parse(filled(json, names));
  try {
    return await fixtures.service.call(method, filled(path, names), {
      ...(token === undefined ? {} : { token }),
      ...(body === undefined ? {} : 'file()' in body ? { raw: formOf(body) } : { json: body }),
      headers,
    });
  } catch (error) {
    return { status: 0, headers: new Headers(), body: String(error) };
  }
}

/** The names in braces; `{x}` and `"{x}"` both become a number where it is one. */
function filled(text: string, names: Names): string {
  return text.replace(/"\{(\w+)\}"|\{(\w+)\}/g, (_, quoted?: string, plain?: string) => {
    const name = (quoted ?? plain)!;
    const value = names[name];
    if (value === undefined) throw new Error(`nothing is called {${name}} here`);
    return quoted !== undefined && typeof value === 'string' ? JSON.stringify(value) : String(value);
  });
}

/** The names of what a line is about. */
export function subjectOf(
  fixtures: Fixtures,
  { path }: Pick<Row, 'path'>,
  { subject }: Pick<Line, 'subject'>,
): Names {
  if (subject === '-') return {};
  if (!/^\/(groups|namespaces)\//.test(path)) return fixtures.projects[subject];
  const group = fixtures.groups[subject as 'public'];
  if (group === undefined) throw new Error(`there is no group that is ${subject}`);
  return group;
}

/** What is wrong with an answer beside its status. */
function problemIn(row: Row, line: Line, column: Column, answer: Answer): string | undefined {
  if (answer.status === 0) return String(answer.body);
  const expected = line.expected[column]!;
  const shown = JSON.stringify([answer.body, [...answer.headers]]);
  // Feeds of activity are what that scope is for.
  const reader = column === 'rusr' && /\/events(\?|$)/.test(row.path) ? 'ownr' : column;
  for (const mark of unknownTo(reader))
    if (shown.includes(mark)) return `shows ${mark}: ${shown.slice(0, 600)}`;
  if (answer.status !== expected.status || answer.status < 400 || row.method === 'HEAD') return undefined;
  const usual = refusalOf(row, line, column, expected);
  const text = JSON.stringify(answer.body);
  return usual === undefined || usual.test(text) ? undefined : `${answer.status} says ${text}`;
}

const SCIM_401 =
  /^\{"schemas":\["urn:ietf:params:scim:api:messages:2.0:Error"\],"detail":"401 Unauthorized","status":401\}$/;

/** `{"file()": "a.txt"}`: a form whose field `file` is a file of that name. */
function formOf(body: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  form.set('file', new Blob(['content']), body['file()']);
  return form;
}

/** The words that nobody in a column may read in any answer. */
function unknownTo(column: Column): readonly string[] {
  const members = [MARKS.email, MARKS.invited];
  switch (column) {
    case 'anon':
    case 'extn':
    case 'blkd':
      return [MARKS.private, MARKS.internal, MARKS.confidential, ...members];
    case 'strg':
    case 'rusr':
      return [MARKS.private, MARKS.confidential, ...members];
    case 'gust':
      return [MARKS.code, MARKS.confidential, ...members];
    case 'ownr':
    case 'rapi':
    case 'shrd':
      return [MARKS.email];
    case 'admn':
      return [];
    default:
      return members;
  }
}

/** Endpoints that leave the credentials of users unread. */
const UNREAD: ReadonlySet<string> = new Set(
  allEndpoints.flatMap(({ method, path, access }) =>
    access.kind === 'anyone' && access.unread ? [`${method} ${path}`] : [],
  ),
);

function refusalOf(row: Row, line: Line, column: Column, { status, inside }: Expected): RegExp | undefined {
  // Whose token a user's is, is nothing to that interface.
  if (row.path.startsWith('/api/scim/')) return SCIM_401;
  // A runner's token alone counts there.
  if (UNREAD.has(row.endpoint)) return status === 403 ? /^\{"message":"403 Forbidden"\}$/ : undefined;
  if (column === 'blkd') return /^\{"message":"403 Forbidden - Your account has been blocked\."\}$/;
  if (status === 401) return /^\{"message":"401 Unauthorized"\}$/;
  if (status === 403)
    return column === 'rusr' || column === 'rapi'
      ? /^\{("error":"insufficient_scope",|"message":"403 Forbidden")/
      : /^\{"message":("403 Forbidden( - [^"]+)?"|\[)/;
  if (status !== 404 || line.subject === '-') return undefined;
  const hidden = /^\/groups\//.test(row.path)
    ? 'Group'
    : /^\/namespaces\//.test(row.path)
      ? 'Namespace'
      : 'Project';
  return inside
    ? new RegExp(`^(?!\\{"message":"404 ${hidden} Not Found"\\})`)
    : new RegExp(`^\\{"message":"404 ${hidden} Not Found"\\}$`);
}
