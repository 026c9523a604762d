/**
 * Runs commands from a small process of their own. To start one costs a process with a gigabyte of memory a tenth of a
 * second of processor time: the system copies its page tables. A suite that starts thousands saves minutes.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { attempt, type Ran, type RunOptions } from './process.ts';

/** What the small process is asked to run. */
interface Order {
  readonly id: number;
  readonly command: string;
  readonly args: readonly string[];
  readonly options: Omit<RunOptions, 'signal'>;
}

interface Answer {
  readonly id: number;
  readonly ran?: Ran;
  readonly error?: string;
}

interface Waiting {
  resolve(ran: Ran): void;
  reject(error: Error): void;
}

let child: ChildProcess | undefined;
const waiting = new Map<number, Waiting>();
let last = 0;

/** Runs a command to its end, whatever its exit code, as {@link attempt} does. */
export function attemptApart(
  command: string,
  args: readonly string[],
  options: Order['options'] = {},
): Promise<Ran> {
  child ??= start();
  const id = ++last;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    child!.ref();
    child!.send({ id, command, args, options } satisfies Order);
  });
}

function start(): ChildProcess {
  const started = fork(import.meta.filename, [], { env: { ...process.env, ATTEMPTS_APART: '1' } });
  // It ends with its parent, whose channel closes.
  started.on('message', ({ id, ran, error }: Answer) => {
    const one = waiting.get(id)!;
    waiting.delete(id);
    if (waiting.size === 0) {
      started.unref();
      started.channel?.unref();
    }
    if (ran !== undefined) one.resolve(ran);
    else one.reject(new Error(error));
  });
  started.once('exit', () => {
    child = undefined;
    for (const { reject } of waiting.values())
      reject(new Error('the process that starts commands has ended'));
    waiting.clear();
  });
  return started;
}

if (process.env['ATTEMPTS_APART'] === '1' && process.send !== undefined) {
  process.on('message', ({ id, command, args, options }: Order) => {
    attempt(command, args, options).then(
      (ran) => process.send!({ id, ran } satisfies Answer),
      (error: Error) => process.send!({ id, error: error.message } satisfies Answer),
    );
  });
  process.once('disconnect', () => process.exit());
}
