import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/{unit,api,git,clients,store}/**/*.test.ts'],
    pool: 'forks',
    reporters: ['default', './test/plain-summary.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
