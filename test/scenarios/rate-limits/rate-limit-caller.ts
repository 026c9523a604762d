/**
 * A process that holds functions, as Lambda has many: it asks when it is told to, and says how often each status was
 * the answer. Told on standard input: a line of JSON for each round.
 */
import { createInterface } from 'node:readline';
import { fetch as users } from '../../../functions/users.ts';

export interface Round {
  /** At once. */
  readonly callers: number;
  /** Of each, one after the other. */
  readonly requests: number;
  readonly path: string;
  readonly token?: string;
  readonly address: string;
}

export interface Told {
  /** How often each status was answered. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Milliseconds of every request. */
  readonly took: readonly number[];
}

const ask = async ({ path, token, address }: Round): Promise<number> => {
  const { status, body } = await users(
    new Request(`http://lemnos.test/api/v4${path}`, {
      headers: token === undefined ? {} : { 'PRIVATE-TOKEN': token },
    }),
    { sourceIp: address, baseUrl: 'http://lemnos.test' },
  );
  await body?.cancel();
  return status;
};

process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  const round = JSON.parse(line) as Round;
  const statuses: Record<string, number> = {};
  const took: number[] = [];
  const caller = async () => {
    for (let n = 0; n < round.requests; n++) {
      const started = performance.now();
      const status = await ask(round);
      took.push(performance.now() - started);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: round.callers }, caller));
  process.stdout.write(`${JSON.stringify({ statuses, took } satisfies Told)}\n`);
}
