import * as z from 'zod/mini';
import type { Mover } from './enqueue.ts';

/** The field `mover` of a job's body: who moves the namespace. Absent in messages of earlier releases. */
export const moverField = () =>
  z.exactOptional(
    z.object({ actorId: z.nullable(z.number()), baseUrl: z.string() }) satisfies z.ZodMiniType<Mover>,
  );
