import * as z from 'zod';
import { time } from '../users/shapes.ts';

/** The shapes of what `projectIdentity` gives. */
export const identityFields = () => ({
  id: z.int(),
  description: z.string().nullable(),
  name: z.string(),
  name_with_namespace: z.string(),
  path: z.string(),
  path_with_namespace: z.string(),
  created_at: time(),
});
