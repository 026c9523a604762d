import { auditEventEndpoints } from '../lib/api/audit-events/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({ endpoints: auditEventEndpoints, deps });
