import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** What costs the same however much there is: longer than the other tests may take, so a lane of its own. */
export default defineConfig({ test: { ...base.test, include: ['test/growth/**/*.test.ts'] } });
