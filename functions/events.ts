import { auditEventEndpoints } from '../lib/api/audit-events/endpoints.ts';
import { eventEndpoints } from '../lib/api/events/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({
  endpoints: [...eventEndpoints, ...auditEventEndpoints],
  deps,
});
