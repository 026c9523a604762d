import { join } from 'node:path';
import { attempt } from './process.ts';
import type { Tally } from './tally.ts';

const root = join(import.meta.dirname, '../..');

interface Conformance {
  /** The name of the AWS implementation, for the report. */
  readonly name: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly endpoint: string;
  /** Names of tests that the real service passes and this emulator is known not to. */
  readonly except?: readonly string[];
}

/** Asks an AWS that is not ours for what the store relies on. The suites make a table and a bucket of their own. */
export async function conformance(
  tally: Tally,
  service: 'dynamodb' | 's3',
  { name, environment, endpoint, except = [] }: Conformance,
): Promise<void> {
  for (const test of except) console.log(`skip  ${service} conformance of ${name}: "${test}"`);
  await tally.step(`${service} conformance of ${name}`, async () => {
    const { code, stdout, stderr } = await attempt(
      join(root, 'node_modules/.bin/vitest'),
      [
        ...['run', '--config', 'test/deploy/vitest.config.ts', `test/deploy/${service}.conformance.ts`],
        ...(except.length === 0 ? [] : ['--testNamePattern', `^(?!.*(${except.join('|')}))`]),
      ],
      { cwd: root, env: { ...environment, CONFORMANCE_ENDPOINT: endpoint, NO_COLOR: '1' } },
    );
    if (code !== 0) throw new Error(`${stdout}${stderr}`.slice(-8000));
  });
}
