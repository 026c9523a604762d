import { afterAll, beforeAll } from 'vitest';
import { type Service, startService } from '../harness/service.ts';
import { type Cast, makeCast } from './matrix/cast.ts';
import { readRows } from './matrix/rows.ts';
import { matrix } from './matrix/run.ts';

let service: Service;
let cast: Cast;
beforeAll(async () => {
  service = await startService({ background: false });
  cast = await makeCast(service);
});
afterAll(() => service.stop());

matrix(() => cast, readRows('code'));
