import { afterAll, beforeAll } from 'vitest';
import { type Service, startService } from '../harness/service.ts';
import { type Cast, makeCast } from './cast.ts';
import { readRows } from './rows.ts';
import { matrix } from './run.ts';

let service: Service;
let cast: Cast;
beforeAll(async () => {
  service = await startService({ background: false });
  cast = await makeCast(service);
});
afterAll(() => service.stop());

matrix(() => cast, readRows('projects'));
