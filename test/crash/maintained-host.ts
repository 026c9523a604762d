import { setTimeout as sleep } from 'node:timers/promises';
import { startHost } from '../../local/host.ts';
import { oldestRepositories, SimulatedClock } from './simulated-clock.ts';

/**
 * A host that merges packs and collects garbage all the time, while it serves. It lives for one day of its simulated clock, the
 * one after the host before it: what that one replaced is removed under those who read and write now.
 */
const dataDir = process.env['DATA_DIR']!;
const host = await startHost({ dataDir, port: 0, host: '127.0.0.1' });
const clock = new SimulatedClock(host, dataDir);
clock.nextDay();
console.log(`Lemnos is ready at ${host.url}`);
for (;;) {
  await clock.maintain(await oldestRepositories());
  await sleep(50);
}
