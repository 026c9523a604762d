import * as z from 'zod';
import { AUDITED_KINDS } from '../../domain/audit-events/list.ts';
import { shape } from '../../http/shape.ts';
import { time } from '../users/shapes.ts';

export const auditEvent = shape(() =>
  z
    .object({
      id: z.int(),
      author_id: z.int().describe('-1: nobody of the users'),
      entity_id: z.int(),
      entity_type: z.enum(AUDITED_KINDS),
      details: z
        .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.string())]))
        .describe(
          'What was done: `add`, `remove`, `change` with `from` and `to`, `as`, `custom_message`, ...; who did it: `author_name`, `author_class`, `impersonated_by`; to what: `target_id`, `target_type`, `target_details`, `entity_path`; from where: `ip_address`; and for administrators `author_email`, and `correlation_id`, the `X-Request-Id` of the request that led to it',
        ),
      created_at: time(),
    })
    .meta({ id: 'AuditEvent' }),
);
export const auditEvents = shape(() => z.array(auditEvent()));
