import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { time, userBasic } from '../users/shapes.ts';

export const starrers = shape(() =>
  z.array(z.object({ starred_since: time(), user: userBasic() }).meta({ id: 'Starrer' })),
);
