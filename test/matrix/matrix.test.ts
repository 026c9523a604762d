/** That no endpoint is forgotten by the matrix: the matrix-*.test.ts beside this ask what its rows say. */
import { expect, test } from 'vitest';
import { allEndpoints, apiDocument } from '../../lib/api/all.ts';
import { MARKS } from './fixtures.ts';
import { linesWanted } from './missing.ts';
import { HEADING, parseRows, readRows } from './rows.ts';

test('every endpoint has a matrix row with a line for each subject', () => {
  const rows = readRows();
  const missing: string[] = [];
  for (const endpoint of allEndpoints) {
    const name = nameOf(endpoint);
    const lines = rows.filter((row) => row.endpoint === name).flatMap((row) => row.lines);
    const wanted = linesWanted(endpoint).filter((subject) =>
      lines.every((line) => subject !== '-' && line.subject !== subject),
    );
    if (wanted.length === 0) continue;
    const template = wanted.map(
      (subject) => `  ${subject.padEnd(9)} ${HEADING.replace(/\w+/g, '???').trimEnd()}`,
    );
    missing.push([`#           ${HEADING.trimEnd()}`, name, ...template].join('\n'));
  }
  expect(
    missing.join('\n\n'),
    'each needs a row in a file of test/matrix/rows/*, statuses from the rules (CONTRIBUTING.md says how)',
  ).toBe('');
});

/** An endpoint as rows name it: what stands for several segments is a parameter too. */
const nameOf = ({ method, path }: { method: string; path: string }) =>
  `${method} ${path.replaceAll('*', ':')}`;

test('every matrix row belongs to an endpoint of the OpenAPI document', () => {
  const paths = apiDocument().paths;
  const known = new Set(
    Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations!).map(
        (method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
      ),
    ),
  );
  // The document's paths and the declarations' are the same ones.
  expect([...known].filter((name) => !allEndpoints.some((e) => nameOf(e) === name))).toEqual([]);
  expect(
    readRows()
      .filter((row) => !known.has(row.endpoint))
      .map((row) => `${row.at}: ${row.endpoint}`),
  ).toEqual([]);
});

test('unreadable matrix rows are reported by file and line', () => {
  const statuses = HEADING.trim().replace(/\w+/g, '200');
  const of = (...lines: string[]) => parseRows(lines.join('\n'), 'x.txt');
  expect(of('GET /projects/:id', `  public ${statuses}`)).toMatchObject([
    { endpoint: 'GET /projects/:id', path: '/projects/{id}', at: 'x.txt:1', lines: [{ subject: 'public' }] },
  ]);
  expect(() => of(`  public ${statuses}`)).toThrow('x.txt:1: belongs to no endpoint');
  expect(() => of('GET /x', '', '  public 200')).toThrow('x.txt:3: 1 statuses for 14 columns');
  expect(() => of('GET /x', `  public ${statuses.replace('200', 'ok')}`)).toThrow('no status: ok');
  expect(() => of('GET /x', '  hidden 200')).toThrow('no such word');
  expect(() => of('GET /x/:word')).toThrow('what is :word?');
  expect(() => of('FETCH /x')).toThrow('no endpoint');
  expect(MARKS.code).toContain(MARKS.private);
});
