import { afterAll, beforeAll } from 'vitest';
import { type Service, startService } from '../harness/service.ts';
import { type Fixtures, makeFixtures } from './fixtures.ts';
import { readRows } from './rows.ts';
import { matrix } from './run.ts';

let service: Service;
let fixtures: Fixtures;
beforeAll(async () => {
  service = await startService({ background: false });
  fixtures = await makeFixtures(service);
});
afterAll(() => service.stop());

matrix(() => fixtures, readRows('code'));
