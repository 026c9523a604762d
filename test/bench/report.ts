/** One line of the table. Times are in milliseconds. */
export interface Row {
  readonly subject: string;
  readonly operation: string;
  readonly ours: number;
  readonly unit: 'ms' | 'MB' | 'KB' | 'reads';
  /** git's own, measured beside ours. */
  readonly git?: number;
  /** What `ours / git`, or without git `ours`, must not pass. */
  readonly target?: number;
}

/** How many answers to the same questions are git's own. */
export interface Agreement {
  readonly subject: string;
  readonly operation: string;
  readonly same: number;
  readonly all: number;
  /** The least share that must be the same, from 0 to 1. */
  readonly least: number;
}

/** Collects what was measured and what was checked. Times never fail a run: machines differ. */
export class Report {
  readonly #rows: Row[] = [];
  #passed = 0;
  readonly #failures: string[] = [];

  /** Adds a row and prints it. */
  row(row: Row): void {
    if (this.#rows.length === 0) process.stdout.write(`${line(HEADINGS)}\n`);
    this.#rows.push(row);
    process.stdout.write(`${rendered(row)}\n`);
  }

  /** A row whose limit is a promise and not a wish: passing it fails the run. */
  limit(row: Row & { readonly target: number }): void {
    this.row(row);
    this.check(
      `${row.subject}: ${row.operation} of ${row.ours.toFixed(0)} ${row.unit}`,
      row.ours <= row.target,
    );
  }

  /** Prints what was compared; too little agreement fails the run, and so does nothing compared. */
  agreement({ subject, operation, same, all, least }: Agreement): void {
    const share = all === 0 ? 0 : same / all;
    process.stdout.write(
      `${subject.padEnd(WIDTHS[0]!)}${operation.padEnd(WIDTHS[1]!)}${`${same} of ${all} as git`.padStart(26)}${share < 1 ? `  ${(100 * share).toFixed(3)} %` : ''}\n`,
    );
    this.check(`${subject}: ${operation}: ${same} of ${all} as git`, share >= least);
  }

  /** An answer that is right or wrong. */
  check(what: string, right: boolean): void {
    if (right) {
      this.#passed++;
      return;
    }
    this.#failures.push(what);
    process.stdout.write(`FAILED: ${what}\n`);
  }

  /** Prints the end of the run. @returns whether all answers were right */
  end(): boolean {
    const over = this.#rows.filter(isOver);
    process.stdout.write(`\n${this.#rows.length} measured, ${over.length} over target\n`);
    for (const failure of this.#failures) process.stdout.write(`FAILED: ${failure}\n`);
    process.stdout.write(`${this.#passed} passed, ${this.#failures.length} failed\n`);
    return this.#failures.length === 0;
  }
}

const HEADINGS = ['', '', 'ours', 'git', 'ratio', 'target', ''] as const;
const WIDTHS = [11, 40, 11, 11, 8, 10, 5];

const line = (cells: readonly string[]) =>
  cells
    .map((cell, i) => (i < 2 ? cell.padEnd(WIDTHS[i]!) : cell.padStart(WIDTHS[i]!)))
    .join('')
    .trimEnd();

function rendered(row: Row): string {
  const { subject, operation, ours, unit, git, target } = row;
  const goal = target === undefined ? '' : git === undefined ? `${target} ${unit}` : `${target}`;
  return line([
    subject,
    operation,
    `${figure(ours)} ${unit}`,
    git === undefined ? '' : `${figure(git)} ${unit}`,
    git === undefined ? '' : (ours / git).toFixed(2),
    goal,
    isOver(row) ? 'over' : '',
  ]);
}

const isOver = ({ ours, git, target }: Row) => target !== undefined && ours / (git ?? 1) > target;

/** Three digits that matter. */
const figure = (value: number) =>
  value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : value.toFixed(0);
