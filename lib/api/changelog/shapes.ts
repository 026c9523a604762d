import * as z from 'zod';
import { shape } from '../../http/shape.ts';

export const changelog = shape(() =>
  z.object({ notes: z.string().describe('Changelog section, in Markdown') }).meta({ id: 'Changelog' }),
);
