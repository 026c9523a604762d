import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { time } from '../users/shapes.ts';

export const email = shape(() =>
  z.object({ id: z.int(), email: z.string(), confirmed_at: time().nullable() }).meta({ id: 'Email' }),
);
export const emails = shape(() => z.array(email()));
