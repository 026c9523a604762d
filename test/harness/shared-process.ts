/** Runs before each test file of a project whose files share processes: a file leaves the process as it found it. */
import { afterAll, vi } from 'vitest';
import { logTo } from '../../lib/telemetry/log.ts';
import { installLambdaGlobal } from '../../local/lambda.ts';
import { freshWindow } from './fresh-window.ts';

// What a file calls today is that until it ends.
await freshWindow(86_400, 120);

// Functions choose how they answer when they are loaded, and some files load them before their service starts.
installLambdaGlobal();
process.env['STREAM'] = '1';

const before = { ...process.env };

// Hooks after all run in reverse: this is the last.
afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
  logTo((line) => console.error(JSON.stringify(line)));
});
