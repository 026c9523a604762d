import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/{unit,api,git}/**/*.test.ts'],
    // The permission matrix has a lane of its own; that it forgets no endpoint is asked here.
    exclude: ['test/api/matrix-*.test.ts'],
    pool: 'forks',
    // Most of a test's time is git's, the disk's and waiting: every processor may have a file, and more.
    maxWorkers: Math.ceil(1.5 * availableParallelism()),
    reporters: ['default', './test/plain-summary.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
