/**
 * `npm run bench growth`: what requests cost at 1, 10 and 100 times the history, and at 10, 1,000 and 10,000 branches.
 * Round trips and bytes are exact on every machine; times are not.
 */
import { measureAt, type Size, shownGrowth } from '../harness/growth.ts';
import { RoundTrips } from '../harness/round-trips.ts';
import { startService } from '../harness/service.ts';

const SIZES: readonly Size[] = [
  { commits: 300, branches: 10 },
  { commits: 3_000, branches: 10 },
  { commits: 30_000, branches: 10 },
  { commits: 300, branches: 1_000 },
  { commits: 300, branches: 10_000 },
];

export async function growth(): Promise<void> {
  const service = await startService({ background: false });
  try {
    const ada = await service.user('ada');
    const trips = RoundTrips.of(service.host);
    for (const size of SIZES)
      process.stdout.write(`${shownGrowth(await measureAt(service, trips, ada, size))}\n\n`);
  } finally {
    await service.stop();
  }
}
