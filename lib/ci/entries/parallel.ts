/** Several jobs from one: https://docs.gitlab.com/ee/ci/yaml/#parallel */
import { isHash } from '../yaml/values.ts';
import { type Entry, isCount, isText, type Problems } from './problems.ts';
import type { VariableTexts } from './variables.ts';

/** Jobs that one becomes. */
const MAX_JOBS = 50;

/** How many, or the variables of each. */
export type Parallel = { readonly number: number } | { readonly matrix: readonly VariableTexts[] };

export const parallel: Entry<Parallel> = (value, path, problems) => {
  if (isHash(value)) return matrixOf(value, path, problems);
  if (!isCount(value)) return problems.add(path, 'should be an integer or a hash');
  if (value < 2) return problems.add(path, 'config must be greater than or equal to 2');
  if (value > MAX_JOBS) return problems.add(path, `config must be less than or equal to ${MAX_JOBS}`);
  return { number: value };
};

function matrixOf(
  value: Readonly<Record<string, unknown>>,
  path: string,
  problems: Problems,
): Parallel | undefined {
  if (!problems.keys(path, value, ['matrix'])) return undefined;
  const at = `${path}:matrix`;
  const { matrix } = value;
  if (!Array.isArray(matrix) || matrix.length === 0 || !matrix.every(isHash))
    return problems.add(at, 'config should be an array of hashes');
  const jobs: VariableTexts[] = [];
  for (const row of matrix) {
    const columns: (readonly [string, readonly string[]])[] = [];
    for (const [name, given] of Object.entries(row)) {
      const values = (Array.isArray(given) ? given : [given]).map(asText);
      if (values.length === 0 || values.includes(undefined))
        return problems.add(`${at}:${name}`, 'config should be a hash of key value pairs');
      columns.push([name, values as string[]]);
    }
    if (columns.length === 0) return problems.add(at, 'config should be a hash of key value pairs');
    // Counted before they are made: a few lines can stand for millions.
    const count = columns.reduce((product, [, values]) => product * values.length, 1);
    if (jobs.length + count > MAX_JOBS)
      return problems.add(at, `config generates too many jobs (maximum is ${MAX_JOBS})`);
    jobs.push(...combined(columns));
  }
  return { matrix: jobs };
}

const asText = (value: unknown): string | undefined =>
  isText(value) ? value : typeof value === 'number' ? String(value) : undefined;

function combined(columns: readonly (readonly [string, readonly string[]])[]): VariableTexts[] {
  let rows: VariableTexts[] = [{}];
  for (const [name, values] of columns)
    rows = rows.flatMap((row) => values.map((value) => ({ ...row, [name]: value })));
  return rows;
}

/** The name and the variables of each job. */
export function jobsOf(
  name: string,
  parallel: Parallel,
): { readonly name: string; readonly variables: VariableTexts }[] {
  const total = 'number' in parallel ? parallel.number : parallel.matrix.length;
  return Array.from({ length: total }, (_, i) => {
    const own = 'number' in parallel ? {} : parallel.matrix[i]!;
    const values = Object.values(own);
    return {
      name: 'number' in parallel ? `${name} ${i + 1}/${total}` : `${name}: [${values.join(', ')}]`,
      variables: { ...own, CI_NODE_INDEX: String(i + 1), CI_NODE_TOTAL: String(total) },
    };
  });
}
