/**
 * `npm run bench load`: the host under a mix of requests that arrive whether or not earlier ones are answered. This process
 * is the client.
 *
 * `LOAD_SECONDS` (of each section), `LOAD_RATES` (`1,2`: multiples of 22.4 requests a second), `LOAD_ONLY`
 * (`rates,heavy,overload`; `cpu` is the processor time of each kind, which `COST_TABLE=write` writes into docs/cost.md),
 * `LOAD_SEED`; `BENCH_REPOS` and `BENCH_PROFILE` as for the rest of the bench. Answers that are wrong, none within a minute and
 * memory above the limit fail a run; times do not.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { numbers } from './generated.ts';
import { HostProcess } from './host.ts';
import { LoadClient, TIMEOUT_MS } from './load-client.ts';
import { cpuOfKinds, writeCpuOfKinds } from './load-cpu.ts';
import { type LoadData, makeData } from './load-data.ts';
import { CHEAP, HEAVY, type Kind, MIX, type Mix } from './load-mix.ts';
import { isFailed, isRefused, isServed, percentile, recovered, type Sample } from './load-samples.ts';
import type { Report } from './report.ts';
import type { Subject } from './subjects.ts';

const MEMORY_LIMIT = 1536;
const OVERLOAD = 4;
/** Times up to this are normal whatever they were before, in milliseconds. */
const NORMAL_MS = 200;
/** Seconds of requests that are not measured, in the full form. */
const WARM = 15;
/** Seconds of a section from which on each minute is told. */
const LONG = 180;
/** Seconds of each section in the short form. */
const SHORT = { warm: 2, rates: [10, 6], heavy: 6, overload: 4, recovery: 8 };

interface Section {
  readonly name: string;
  readonly samples: readonly Sample[];
}

/** Measures a host that has the subject as its large project. */
export async function load(report: Report, subject: Subject): Promise<void> {
  const begun = performance.now();
  let host = await HostProcess.start();
  try {
    const data = await makeData(host, subject);
    await settled(host);
    // Without what making the data left in memory.
    host = await host.again();
    say(`${subject.name}: data made in ${((performance.now() - begun) / 1000).toFixed(0)} s\n\n`);
    await play(report, host, data);
  } finally {
    await host.stop();
  }
}

async function play(report: Report, host: HostProcess, data: LoadData): Promise<void> {
  const seconds = Number(process.env['LOAD_SECONDS'] ?? 0);
  const rates = (process.env['LOAD_RATES'] ?? '1,2').split(',').map(Number);
  const only = (process.env['LOAD_ONLY'] ?? 'rates,heavy,overload').split(',');
  const random = numbers(Number(process.env['LOAD_SEED'] ?? 1));
  const lasting = (short: number) => seconds || short;
  const client = new LoadClient(host.url);
  const lane = new Lane(report, host, { client, data, random });
  await lane.warmUp(seconds > 0 || only.includes('cpu') ? WARM : SHORT.warm);

  if (only.includes('cpu')) {
    const measured = await cpuOfKinds(host, { client, data, random });
    for (const [name, cpu] of measured) say(`${name.padEnd(34)}${figure(cpu)} ms of CPU\n`);
    if (process.env['COST_TABLE'] === 'write') writeCpuOfKinds(measured);
  }
  if (!only.some((section) => section !== 'cpu')) return client.close();
  say(heading(SECTION_COLUMNS));
  const sections: Section[] = [];
  for (const [i, rate] of only.includes('rates') ? rates.entries() : []) {
    const duration = lasting(SHORT.rates[i] ?? SHORT.rates.at(-1)!);
    sections.push(await lane.atRate(rate, duration));
  }
  if (only.includes('heavy')) await lane.heavy(lasting(SHORT.heavy));
  if (only.includes('overload')) {
    const usual = percentile(sections[0]?.samples.filter(isServed) ?? [], 0.9) ?? 0;
    const [during, after] = [lasting(SHORT.overload), lasting(SHORT.recovery)];
    sections.push(await lane.overload(during, after, Math.max(NORMAL_MS, usual)));
  }
  say('\n');
  for (const line of ofKinds(sections)) say(line);
  for (const failure of lane.failures()) say(`${failure}\n`);
  client.close();
}

/** Requests to one host, and what it used for them. */
class Lane {
  readonly #report: Report;
  readonly #host: HostProcess;
  readonly #mix: Mix;
  readonly #failures = new Map<string, number>();
  /** Since the last minute was told. */
  #answered: Sample[] = [];

  constructor(report: Report, host: HostProcess, mix: Mix) {
    this.#report = report;
    this.#host = host;
    this.#mix = mix;
  }

  /** Sends requests at random times, as many a second on average as their kinds say. Ends when the last was sent. */
  async arrivals(kinds: readonly Kind[], rate: number, seconds: number): Promise<Promise<Sample>[]> {
    const { random } = this.#mix;
    const all = kinds.reduce((sum, kind) => sum + kind.rate, 0);
    const share = () => random(2 ** 30) / 2 ** 30;
    const begun = performance.now();
    const sent: Promise<Sample>[] = [];
    for (let at = 0; ; ) {
      at += (-Math.log(1 - share()) / (all * rate)) * 1000;
      if (at > seconds * 1000) break;
      let rest = share() * all;
      const kind = kinds.find((one) => (rest -= one.rate) < 0) ?? kinds.at(-1)!;
      const wait = begun + at - performance.now();
      if (wait > 0) await sleep(wait);
      sent.push(this.#sample(kind, begun + at));
    }
    const left = begun + seconds * 1000 - performance.now();
    if (left > 0) await sleep(left);
    return sent;
  }

  /** Each kind once, so that each is answered in every run, and then some seconds of all that are not measured. */
  async warmUp(seconds: number): Promise<void> {
    const samples: Sample[] = [];
    for (const kind of MIX) samples.push(await this.#sample(kind, performance.now()));
    samples.push(...(await answered(await this.arrivals(MIX, 1, seconds))));
    const failed = samples.filter(isFailed).length;
    this.#report.check(`each kind, and some seconds of all: ${failed} requests failed`, failed === 0);
  }

  async atRate(rate: number, seconds: number): Promise<Section> {
    const name = `rate ${rate}`;
    const measured = this.#measuring();
    const minutes = seconds < LONG ? undefined : setInterval(this.#minutes(), 60_000);
    const samples = await answered(await this.arrivals(MIX, rate, seconds));
    clearInterval(minutes);
    this.#tell(name, samples, samples.length, measured());
    return { name, samples };
  }

  /** @returns what is to be called each minute, and tells it */
  #minutes(): () => void {
    let [minute, measured] = [0, this.#measuring()];
    this.#answered = [];
    return () => {
      const [samples, used] = [this.#answered, measured()];
      const memory = this.#host.memory() ?? 0;
      say(
        row(SECTION_COLUMNS, cellsOf(`  minute ${++minute}`, samples, samples.length, { ...used, memory })),
      );
      [this.#answered, measured] = [[], this.#measuring(false)];
    };
  }

  /** Cheap reads while others that take long run one after the other, each kind by itself. */
  async heavy(seconds: number): Promise<void> {
    const measured = this.#measuring();
    const heavy: Sample[] = [];
    const end = performance.now() + seconds * 1000;
    const loops = HEAVY.map(async (kind) => {
      while (performance.now() < end) {
        const sample = await this.#sample(kind, performance.now());
        heavy.push(sample);
        if (!isServed(sample)) await sleep(200);
      }
    });
    const samples = await answered(await this.arrivals(CHEAP, 1, seconds));
    await Promise.all(loops);
    this.#tell('heavy: the cheap', samples, samples.length + heavy.length, measured());
    this.#tell('heavy: the heavy', heavy, 0);
  }

  /** More than can be served, and then the usual rate: how long until that is served as usual? */
  async overload(seconds: number, after: number, normal: number): Promise<Section> {
    const name = `rate ${OVERLOAD}`;
    const measured = this.#measuring();
    const during = await this.arrivals(MIX, OVERLOAD, seconds);
    const end = performance.now();
    const following = await this.arrivals(MIX, 1, after);
    const [samples, later] = await Promise.all([answered(during), answered(following)]);
    this.#tell(name, samples, samples.length + later.length, measured());
    this.#tell('after it, rate 1', later, 0);
    const back = recovered(later, end, normal);
    say(
      back === undefined
        ? `p90 of rate 1 was not back below ${normal.toFixed(0)} ms within ${after} s\n`
        : `p90 of rate 1 back below ${normal.toFixed(0)} ms after ${back} s\n`,
    );
    return { name, samples };
  }

  /** What failed, and how often. */
  failures(): string[] {
    return [...this.#failures].map(([failure, count]) => `${count} times ${failure}`);
  }

  async #sample(kind: Kind, at: number): Promise<Sample> {
    let status = 0;
    let failure: string | undefined;
    try {
      status = await kind.run(this.#mix);
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
    }
    const sample = { kind: kind.name, at, ms: performance.now() - at, status };
    this.#answered.push(sample);
    if (sample.ms > TIMEOUT_MS) failure = 'no answer in time';
    if (!isFailed(sample) && failure === undefined) return sample;
    const told = `${kind.name}: ${failure ?? status}`;
    this.#failures.set(told, (this.#failures.get(told) ?? 0) + 1);
    return { ...sample, status: failure === undefined ? status : 0 };
  }

  /** @param anew whether the peak of memory is that from now on */
  #measuring(anew = true): () => Used {
    const host = this.#host;
    if (anew) host.forgetPeakMemory();
    const [cpu, own, since, at] = [host.cpuTime() ?? 0, process.cpuUsage(), Date.now(), performance.now()];
    return () => {
      const { user, system } = process.cpuUsage(own);
      return {
        seconds: (performance.now() - at) / 1000,
        cpu: (host.cpuTime() ?? 0) - cpu,
        clientCpu: (user + system) / 1000,
        memory: host.peakMemory() ?? 0,
        loopDelay: host.loopDelay(since),
        files: host.openFiles() ?? 0,
      };
    };
  }

  #tell(name: string, samples: readonly Sample[], requests: number, used?: Used): void {
    say(row(SECTION_COLUMNS, cellsOf(name, samples, requests, used)));
    const failed = samples.filter(isFailed).length;
    this.#report.check(
      `${name}: ${failed} of ${samples.length} requests failed`,
      failed === 0 && samples.length > 0,
    );
    if (used !== undefined)
      this.#report.check(`${name}: memory of ${used.memory.toFixed(0)} MB`, used.memory <= MEMORY_LIMIT);
  }
}

/** What a section took: milliseconds, and MB. */
interface Used {
  readonly seconds: number;
  readonly cpu: number;
  readonly clientCpu: number;
  readonly memory: number;
  readonly loopDelay: number;
  /** Open ones, at the end. */
  readonly files: number;
}

const answered = (sent: readonly Promise<Sample>[]) => Promise.all(sent);

/** Waits until what follows a push is done: the host is idle. */
async function settled(host: HostProcess): Promise<void> {
  for (let i = 0; i < 120; i++) {
    const before = host.cpuTime();
    await sleep(1000);
    if (before === undefined || host.cpuTime()! - before < 100) return;
  }
}

const say = (text: string) => void process.stdout.write(text);
const figure = (ms: number | undefined) => (ms === undefined ? '' : ms < 10 ? ms.toFixed(1) : ms.toFixed(0));

type Columns = Readonly<Record<string, number>>;
const SECTION_COLUMNS: Columns = {
  'times in ms': 18,
  requests: 9,
  p50: 7,
  p90: 7,
  p99: 7,
  max: 7,
  refused: 8,
  'p90 of it': 10,
  failed: 7,
  'CPU each': 9,
  host: 7,
  client: 7,
  MB: 6,
  'loop delay': 11,
  files: 6,
};

/** @param requests among which the processor's time is divided */
function cellsOf(name: string, samples: readonly Sample[], requests: number, used?: Used): string[] {
  const [served, refused] = [samples.filter(isServed), samples.filter(isRefused)];
  const time = (share: number) => figure(percentile(served, share));
  const cells = [name, String(samples.length), time(0.5), time(0.9), time(0.99), time(1)];
  cells.push(
    String(refused.length),
    figure(percentile(refused, 0.9)),
    String(samples.filter(isFailed).length),
  );
  if (used === undefined) return cells;
  const share = (cpu: number) => `${Math.round((100 * cpu) / (used.seconds * 1000))} %`;
  cells.push((used.cpu / Math.max(1, requests)).toFixed(1), share(used.cpu), share(used.clientCpu));
  return [...cells, used.memory.toFixed(0), String(used.loopDelay), String(used.files)];
}

const row = (columns: Columns, cells: readonly string[]) =>
  `${Object.values(columns)
    .map((width, i) => (i === 0 ? (cells[i] ?? '').padEnd(width) : (cells[i] ?? '').padStart(width)))
    .join('')
    .trimEnd()}\n`;
const heading = (columns: Columns) => row(columns, Object.keys(columns));

/** Each kind at each rate. */
function* ofKinds(sections: readonly Section[]): Generator<string> {
  if (sections.length === 0) return;
  const columns: Record<string, number> = { 'p50, p90, p99 in ms': 34 };
  for (const { name } of sections) columns[name] = 30;
  columns['refused'] = 9;
  columns['failed'] = 8;
  yield heading(columns);
  for (const { name } of MIX) {
    const all = sections.map(({ samples }) => samples.filter(({ kind }) => kind === name));
    const cells = all.map((samples) => {
      const served = samples.filter(isServed);
      const times = [0.5, 0.9, 0.99].map((share) => figure(percentile(served, share)).padStart(7));
      return `${String(samples.length).padStart(6)}:${times.join('')}`;
    });
    const count = (is: (sample: Sample) => boolean) => String(all.flat().filter(is).length || '');
    yield row(columns, [name, ...cells, count(isRefused), count(isFailed)]);
  }
}
