/**
 * The processor time of each kind of request, one after the other: the table of docs/cost.md by which the durations of functions
 * are reckoned. It has all of the host, the front and the embedded services too, which stand for what a function on AWS does
 * besides: TLS, signatures, the runtime.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { DocumentedPart, rounded, tableHead, tableRow } from '../drills/documented-table.ts';
import type { HostProcess } from './host.ts';
import { type Kind, MIX, type Mix } from './load-mix.ts';

/** Each kind is sent so often: the system counts in hundredths of a second. */
const TIMES = 30;
const IDLE_MS = 4000;
/** The host is at rest when it takes less than this in a second, in ms, beyond what it takes when nothing is asked. */
const AT_REST = 30;

/** @returns milliseconds of each kind, with those of the jobs that it leads to */
export async function cpuOfKinds(host: HostProcess, mix: Mix): Promise<ReadonlyMap<string, number>> {
  const meter = await Meter.of(host);
  const measured = new Map<string, number>();
  // Those who push are the last, and make the branches that merge requests are of.
  for (const kind of MIX.toReversed()) measured.set(kind.name, await meter.of(kind, mix));
  return new Map([...measured].toReversed());
}

export function writeCpuOfKinds(measured: ReadonlyMap<string, number>): void {
  new DocumentedPart('cpu').write([
    ...tableHead(['request', 'CPU, ms']),
    ...[...measured].map(([name, cpu]) => tableRow([name, rounded(cpu)])),
  ]);
}

class Meter {
  readonly #host: HostProcess;
  /** What the host takes in a millisecond in which nothing is asked. */
  readonly #idle: number;

  private constructor(host: HostProcess, idle: number) {
    this.#host = host;
    this.#idle = idle;
  }

  static async of(host: HostProcess): Promise<Meter> {
    const before = host.cpuTime() ?? 0;
    await sleep(IDLE_MS);
    return new Meter(host, ((host.cpuTime() ?? 0) - before) / IDLE_MS);
  }

  async of(kind: Kind, mix: Mix): Promise<number> {
    await this.#rest();
    const read = this.#since();
    for (let i = 0; i < TIMES; i++) await kind.run(mix);
    await this.#rest();
    return Math.max(0, read()) / TIMES;
  }

  /** Waits for the jobs. */
  async #rest(): Promise<void> {
    for (let read = this.#since(), i = 0; i < 20; i++, read = this.#since()) {
      await sleep(1000);
      if (read() < AT_REST) return;
    }
  }

  #since(): () => number {
    const [cpu, at] = [this.#host.cpuTime() ?? 0, performance.now()];
    return () => (this.#host.cpuTime() ?? 0) - cpu - this.#idle * (performance.now() - at);
  }
}
