import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** For tests that take longer than `npm test` may: `--dir` names the folder. */
export default defineConfig({ test: { ...base.test, include: ['**/*.test.ts'], exclude: [] } });
