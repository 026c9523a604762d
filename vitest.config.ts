import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/{unit,api,git,store}/**/*.test.ts'],
    pool: 'forks',
    // Most of a test's time is git's and the disk's: every processor may have a file.
    maxWorkers: '100%',
    reporters: ['default', './test/plain-summary.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
