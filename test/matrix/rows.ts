import { readdirSync, readFileSync } from 'node:fs';
import { COLUMNS, type Column, SUBJECTS, type Subject } from './fixtures.ts';

/** An endpoint as the matrix asks for it, with the status each column must get. */
export interface Row {
  /** `POST /projects/:id/members`, as it is declared. */
  readonly endpoint: string;
  readonly method: string;
  /** Below `/api/v4`, with braces. */
  readonly path: string;
  readonly json: string | undefined;
  readonly before: readonly Preparation[];
  readonly lines: readonly Line[];
  /** `file:line` of its first line. */
  readonly at: string;
}

/** A request that makes what a permitted caller is about to change. */
export interface Preparation {
  /** `first`: the owner; `root`: the administrator; `mine`: the caller. */
  readonly by: 'first' | 'root' | 'mine';
  /** Also before callers who are refused: `first!`. */
  readonly always: boolean;
  readonly method: string;
  readonly path: string;
  readonly json: string | undefined;
}

export interface Line {
  /** `-` where the endpoint is about nothing that could be hidden. */
  readonly subject: Subject | '-';
  readonly expected: Readonly<Record<Column, Expected | undefined>>;
}

export interface Expected {
  readonly status: number;
  /** A 404 about something in the subject: the subject itself is not hidden. */
  readonly inside: boolean;
}

export const HEADING = COLUMNS.map(([name]) => name.padEnd(4)).join(' ');

/** Rows by the test file that asks them: `matrix-<part>.test.ts`. */
export type Part = 'code' | 'people' | 'projects';

const ROWS = new URL('rows/', import.meta.url);

/** All rows, or those of one part. */
export function readRows(part?: Part): Row[] {
  const files = readdirSync(ROWS, { recursive: true, encoding: 'utf8' }).sort();
  return files
    .filter((file) => file.endsWith('.txt') && (part === undefined || file.startsWith(`${part}/`)))
    .flatMap((file) => parseRows(readFileSync(new URL(file, ROWS), 'utf8'), file));
}

/** @throws naming file and line of what cannot be read */
export function parseRows(text: string, file: string): Row[] {
  const drafts: Draft[] = [];
  let row: Draft | undefined;
  for (const [index, full] of text.split('\n').entries()) {
    const at = `${file}:${index + 1}`;
    const line = full.trim();
    if (line === '' || line.startsWith('#')) continue;
    const fail = (why: string): never => {
      throw new Error(`${at}: ${why}: ${line}`);
    };
    if (!full.startsWith(' ')) {
      const [, method, path] = /^(GET|HEAD|POST|PUT|PATCH|DELETE) (\/\S*)$/.exec(line) ?? fail('no endpoint');
      row = { method: method!, declared: path!, query: '', values: {}, before: [], lines: [], at };
      drafts.push(row);
      continue;
    }
    if (row === undefined) return fail('belongs to no endpoint');
    const [, word, rest = ''] = /^(\S+)\s*(.*)$/.exec(line)!;
    if (word === '?') row.query = rest;
    else if (word === 'send') row.json = rest;
    else if (word!.startsWith(':')) row.values[word!.slice(1)] = rest;
    else if (/^(first|root|mine)!?$/.test(word!)) {
      const [, method, path, json] =
        /^(POST|PUT|DELETE) (\/\S*)(?: (\{.*\}))?$/.exec(rest) ?? fail('no request');
      const by = word!.replace('!', '') as Preparation['by'];
      row.before.push({ by, always: word!.endsWith('!'), method: method!, path: path!, json });
    } else if (word === '-' || (SUBJECTS as readonly string[]).includes(word!)) {
      row.lines.push({ subject: word as Line['subject'], expected: statuses(rest, fail) });
    } else fail('no such word');
  }
  return drafts.map(rowOf);
}

interface Draft {
  readonly method: string;
  readonly declared: string;
  query: string;
  json?: string;
  readonly values: Record<string, string>;
  readonly before: Preparation[];
  readonly lines: Line[];
  readonly at: string;
}

/** What stands for a segment of the path where a row does not say. */
const USUAL: Readonly<Record<string, string>> = {
  id: '{id}',
  user_id: '{pawn}',
  sha: '{sha}',
  branch: '{branch}',
  tag_name: '{tag}',
  file_path: 'README.md',
};

function rowOf({ method, declared, query, values, json, before, lines, at }: Draft): Row {
  const path = declared.replace(/:(\w+)/g, (_, name: string) => {
    const value = values[name] ?? USUAL[name];
    if (value === undefined) throw new Error(`${at}: what is :${name}? Say so in a line of its own`);
    return value;
  });
  return {
    endpoint: `${method} ${declared}`,
    method,
    path: query === '' ? path : `${path}?${query}`,
    json,
    before: [...before],
    lines: [...lines],
    at,
  };
}

function statuses(text: string, fail: (why: string) => never): Line['expected'] {
  const words = text.split(/\s+/);
  if (words.length !== COLUMNS.length) fail(`${words.length} statuses for ${COLUMNS.length} columns`);
  const expected = COLUMNS.map(([column], i) => {
    const [, status, inside] = /^(?:(\d{3})(r)?|\.)$/.exec(words[i]!) ?? fail(`no status: ${words[i]}`);
    const value = status === undefined ? undefined : { status: Number(status), inside: inside !== undefined };
    return [column, value] as const;
  });
  return Object.fromEntries(expected) as Line['expected'];
}
