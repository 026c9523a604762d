import { startHost } from '../../local/host.ts';
import { oldestRepositories, SimulatedClock } from './simulated-clock.ts';

/**
 * A host that does nothing but maintain its repositories, each time as if another day had passed, until it is killed.
 * Nobody reads meanwhile: to a reader a day is a day.
 */
const dataDir = process.env['DATA_DIR']!;
const host = await startHost({ dataDir, port: 0, host: '127.0.0.1', background: false });
const clock = new SimulatedClock(host, dataDir);
const repositories = await oldestRepositories();
console.log(`Lemnos is ready at ${host.url}`);
for (;;) {
  clock.nextDay();
  await clock.maintain(repositories);
}
