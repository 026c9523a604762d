import { defineConfig } from 'vitest/config';

/** What runs against an endpoint that the deployed suite started; `npm test` does not see it. */
export default defineConfig({
  test: {
    include: ['test/deploy/*.conformance.ts'],
    pool: 'forks',
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
});
