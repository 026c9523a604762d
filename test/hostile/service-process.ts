/**
 * The service of the lane, in a process of its own: so that its event loop and memory are watched without the tests.
 * Run by `service.ts` with a data directory; asked by messages what happened since the last of them.
 */
import { PerformanceObserver } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { startHost } from '../../local/host.ts';
import type { Measured } from './service.ts';

const TICK_MS = 5;
/** Turns that are looked at. */
const LONG_MS = 10;
/** How much longer than its CPU time a turn is during which other processes ran. */
const SHARED = 1.25;
/** With a larger heap, what calls left is collected before the next is measured: its peak is its own. */
const COLLECT_ABOVE = 512 * 2 ** 20;
const [dataDir, token] = process.argv.slice(2) as [string, string];
const host = await startHost({ port: 0, host: '127.0.0.1', dataDir, loadAhead: true });
await host.loaded;
await host.invoke('first-administrator', { token });

const cpuMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};
/** A turn of the event loop that took long, in milliseconds. */
interface Turn {
  readonly from: number;
  readonly to: number;
  readonly cpu: number;
}
let last = performance.now();
let lastCpu = cpuMs();
let longest = 0;
let busiest = 0;
let peak = 0;
let turns: Turn[] = [];
const tick = () => {
  const now = performance.now();
  longest = Math.max(longest, now - last - TICK_MS);
  const cpu = cpuMs();
  busiest = Math.max(busiest, cpu - lastCpu);
  if (cpu - lastCpu > LONG_MS) turns.push({ from: last, to: now, cpu: cpu - lastCpu });
  last = now;
  lastCpu = cpu;
  peak = Math.max(peak, process.memoryUsage.rss());
};
setInterval(tick, TICK_MS);

/** Collections of garbage. */
let collections: { readonly startTime: number; readonly duration: number }[] = [];
const observer = new PerformanceObserver((list) => {
  collections.push(...list.getEntries());
});
observer.observe({ entryTypes: ['gc'] });

/**
 * CPU time of a turn without what it waited for V8 to collect garbage; half of it where other processes had the processor
 * meanwhile, which leave it slower than they found it.
 */
function workOf({ from, to, cpu }: Turn): number {
  let collecting = 0;
  for (const { startTime, duration } of collections)
    collecting += Math.max(0, Math.min(to, startTime + duration) - Math.max(from, startTime));
  const isShared = to - from > SHARED * cpu + TICK_MS;
  return (cpu - collecting) / (isShared ? 2 : 1);
}

process.on('message', async (asked: 'measure' | 'stop') => {
  if (asked === 'stop') {
    await host.stop();
    process.exit(0);
  }
  // The turn before this message counts, and collections in it are told a turn later.
  tick();
  await nextTurn();
  await nextTurn();
  collections.push(...observer.takeRecords());
  const workMs = Math.max(0, ...turns.map(workOf));
  const measured: Measured = { pauseMs: longest, busyMs: busiest, workMs, peakBytes: peak };
  if (process.memoryUsage().heapTotal > COLLECT_ABOVE) globalThis.gc?.();
  last = performance.now();
  lastCpu = cpuMs();
  longest = 0;
  busiest = 0;
  peak = 0;
  turns = [];
  collections = [];
  process.send!(measured);
});
process.send!({ url: host.url });
