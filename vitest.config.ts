import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/{unit,api,git,clients,store}/**/*.test.ts'],
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
