/**
 * The service of the lane, in a process of its own: so that its event loop and memory are watched without the tests.
 * Run by `service.ts` with a data directory; told by messages to begin and end a measurement.
 */
import { startHost } from '../../local/host.ts';
import type { Measured } from './service.ts';

const TICK_MS = 5;
/** With a larger heap, what earlier calls left is collected before a call is measured: its peak is its own. */
const COLLECT_ABOVE = 512 * 2 ** 20;
const [dataDir, token] = process.argv.slice(2) as [string, string];
const host = await startHost({ port: 0, host: '127.0.0.1', dataDir, loadAhead: true });
await host.loaded;
await host.invoke('first-administrator', { token });

const cpuMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};
let last = performance.now();
let lastCpu = cpuMs();
let longest = 0;
let busiest = 0;
let peak = 0;
setInterval(() => {
  const now = performance.now();
  longest = Math.max(longest, now - last - TICK_MS);
  last = now;
  const cpu = cpuMs();
  busiest = Math.max(busiest, cpu - lastCpu);
  lastCpu = cpu;
  peak = Math.max(peak, process.memoryUsage.rss());
}, TICK_MS);

process.on('message', (asked: 'begin' | 'end' | 'stop') => {
  if (asked === 'stop') {
    void host.stop().then(() => process.exit(0));
    return;
  }
  // A turn later, so that the pause before this message counts.
  setTimeout(() => {
    const measured: Measured = { pauseMs: longest, busyMs: busiest, peakBytes: peak };
    if (asked === 'begin') {
      if (process.memoryUsage().heapTotal > COLLECT_ABOVE) globalThis.gc?.();
      last = performance.now();
      lastCpu = cpuMs();
      longest = 0;
      busiest = 0;
      peak = 0;
    }
    process.send!(measured);
  }, TICK_MS + 1);
});
process.send!({ url: host.url });
