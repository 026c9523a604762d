import { globSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from './process.ts';
import type { Tally } from './tally.ts';

const root = join(import.meta.dirname, '../..');

/**
 * Runs the store's conformance suites, unchanged, against an AWS that is not ours. They read the endpoint from
 * `CONFORMANCE_ENDPOINT`, and what it serves from `CONFORMANCE_SERVICES`, and make tables and buckets of their own.
 * @param services which of the suites: those for what the endpoint emulates.
 */
export async function conformance(
  tally: Tally,
  name: string,
  environment: NodeJS.ProcessEnv,
  endpoint: string,
  services: readonly ('dynamodb' | 's3')[] = ['dynamodb', 's3'],
): Promise<void> {
  const files = globSync('test/store/*conformance*.test.ts', { cwd: root });
  if (files.length === 0) {
    console.log(`skip  conformance of ${name}: there are no test/store/*conformance*.test.ts`);
    return;
  }
  await tally.step(`conformance of ${name}`, async () => {
    const { code, stdout, stderr } = await attempt('vitest', ['run', ...files], {
      cwd: root,
      env: {
        ...environment,
        CONFORMANCE_ENDPOINT: endpoint,
        CONFORMANCE_SERVICES: services.join(','),
        NO_COLOR: '1',
      },
    });
    if (code !== 0) throw new Error(`${stdout}${stderr}`.slice(-8000));
  });
}
