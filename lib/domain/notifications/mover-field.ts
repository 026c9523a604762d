import * as z from 'zod/mini';
import type { Mover } from './enqueue.ts';

/** Who moves what projects are in: the field `mover` of a job's body. Absent in messages of earlier releases. */
export const moverField = () =>
  z.exactOptional(
    z.object({ actorId: z.nullable(z.number()), baseUrl: z.string() }) satisfies z.ZodMiniType<Mover>,
  );
