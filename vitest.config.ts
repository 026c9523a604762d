import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** One project per folder of tests: `vitest run --project <name>`, with `--shard` where a project takes long. */
const projects = [
  'unit',
  'git',
  'store',
  'scenarios',
  'matrix',
  'clients',
  'embedded',
  'drills',
  'growth',
  'hostile',
] as const;

/** Their files run one after another in the same few processes: the service is loaded once in each, not for every file. */
const SHARING: ReadonlySet<string> = new Set(['unit', 'store', 'scenarios', 'matrix', 'clients', 'embedded']);

export default defineConfig({
  test: {
    projects: projects.map((name) => ({
      extends: true as const,
      test: {
        name,
        include: [`test/${name}/**/*.test.ts`],
        ...(SHARING.has(name) ? { isolate: false, setupFiles: ['test/harness/shared-process.ts'] } : {}),
      },
    })),
    pool: 'forks',
    // Most of a test's time is git's, the disk's and waiting: every processor may have a file, and more.
    maxWorkers: Math.ceil(1.5 * availableParallelism()),
    reporters: ['default', './test/plain-summary.ts'],
    // For tests that hang: a slow machine that shares its processors needs several times what a laptop does.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
