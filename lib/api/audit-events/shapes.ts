import * as z from 'zod';
import { AUDITED_KINDS } from '../../domain/audit-events/list.ts';
import { shape } from '../../http/shape.ts';
import { time } from '../users/shapes.ts';

export const auditEvent = shape(() =>
  z
    .object({
      id: z.int(),
      author_id: z.int().describe('ID of the user who caused the event; -1 when no user did'),
      entity_id: z.int(),
      entity_type: z.enum(AUDITED_KINDS),
      details: z
        .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.string())]))
        .describe(
          'The action (`add`, `remove`, `change` with `from` and `to`, `as`, `custom_message`, ...), its author (`author_name`, `author_class`, `impersonated_by`), its target (`target_id`, `target_type`, `target_details`, `entity_path`) and its origin (`ip_address`); for administrators also `author_email` and `correlation_id`, the `X-Request-Id` of the request that caused it',
        ),
      created_at: time(),
    })
    .meta({ id: 'AuditEvent' }),
);
export const auditEvents = shape(() => z.array(auditEvent()));
