/** One line of the table. Times are in milliseconds. */
export interface Row {
  readonly subject: string;
  readonly operation: string;
  readonly ours: number;
  readonly unit: 'ms' | 'MB' | 'KB' | 'reads';
  /** Git's result, for comparison. */
  readonly git?: number;
  /** Target for `ours / git`, or for `ours` if there is no git result. */
  readonly target?: number;
}

/** How many results of the same queries equal git's. */
export interface Agreement {
  readonly subject: string;
  readonly operation: string;
  readonly same: number;
  readonly all: number;
  /** Minimum share that must be equal, from 0 to 1. */
  readonly least: number;
}

/** Collects measurements and checks. Times never fail a run, because machines differ. */
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

  /** Adds a row with a hard limit: exceeding it fails the run. */
  limit(row: Row & { readonly target: number }): void {
    this.row(row);
    this.check(
      `${row.subject}: ${row.operation} of ${row.ours.toFixed(0)} ${row.unit}`,
      row.ours <= row.target,
    );
  }

  /** Prints a comparison. Too few equal results fail the run, and so does an empty comparison. */
  agreement({ subject, operation, same, all, least }: Agreement): void {
    const share = all === 0 ? 0 : same / all;
    process.stdout.write(
      `${subject.padEnd(WIDTHS[0]!)}${operation.padEnd(WIDTHS[1]!)}${`${same} of ${all} as git`.padStart(26)}${share < 1 ? `  ${(100 * share).toFixed(3)} %` : ''}\n`,
    );
    this.check(`${subject}: ${operation}: ${same} of ${all} as git`, share >= least);
  }

  /** Adds a check that passed or failed. */
  check(what: string, right: boolean): void {
    if (right) {
      this.#passed++;
      return;
    }
    this.#failures.push(what);
    process.stdout.write(`FAILED: ${what}\n`);
  }

  /** Prints the summary. @returns whether all checks passed */
  end(): boolean {
    const over = this.#rows.filter(isOver);
    if (this.#rows.length > 0)
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

/** Three significant digits. */
const figure = (value: number) =>
  value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : value.toFixed(0);
