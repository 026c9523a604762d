import * as z from 'zod/mini';
import type { Requester } from './event.ts';

/** Who asked for what a job does: the field `by` of its body. Absent where no person asked. */
export const requesterField = () =>
  z.exactOptional(
    z.object({
      authorId: z.number(),
      name: z.string(),
      authorClass: z.string(),
      email: z.exactOptional(z.string()),
      address: z.exactOptional(z.string()),
      impersonator: z.exactOptional(z.string()),
    }) satisfies z.ZodMiniType<Requester>,
  );
