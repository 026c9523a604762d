import * as z from 'zod/mini';
import type { FormerMentions } from '../../records/notifications.ts';
import { textField } from '../job-fields.ts';

/** A field of a job's body. */
export const formerField = (): z.ZodMiniType<FormerMentions> =>
  z.union([z.array(textField()), z.object({ blob: textField(), bytes: z.number() })]);
