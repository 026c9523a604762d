import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = join(import.meta.dirname, '../../docs/cost.md');

/** A part of docs/cost.md that tests count and write, between two comments with its name. */
export class DocumentedPart {
  readonly #begin: string;
  readonly #end: string;

  constructor(name: string) {
    this.#begin = `<!-- ${name} -->`;
    this.#end = `<!-- /${name} -->`;
  }

  read(): string {
    return readFileSync(FILE, 'utf8').split(this.#begin)[1]!.split(this.#end)[0]!;
  }

  write(lines: readonly string[]): void {
    const text = readFileSync(FILE, 'utf8');
    const [before] = text.split(this.#begin);
    const [, after] = text.split(this.#end);
    writeFileSync(FILE, `${before}${this.#begin}\n${lines.join('\n')}\n${this.#end}${after}`);
  }

  /** The figures of its first table, by the first cell of each row. */
  rows(): ReadonlyMap<string, number[]> {
    const lines = this.read().split('\n');
    const first = lines.findIndex((line) => line.startsWith('| '));
    const rows = new Map<string, number[]>();
    for (const line of lines.slice(first + 2)) {
      if (!line.startsWith('| ')) break;
      const [name, ...values] = line
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1);
      rows.set(name!, values.map(Number));
    }
    return rows;
  }
}

export const tableRow = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

/** The head of a table of figures, whose first column has names. */
export const tableHead = (columns: readonly string[]) => [
  tableRow(columns),
  tableRow(columns.map((_, i) => (i === 0 ? '---' : '--:'))),
];

export const rounded = (value: number) => String(Math.round(value * 10) / 10);
