import { alertEndpoints } from '../lib/api/alerts/endpoints.ts';
import { errorTrackingEndpoints } from '../lib/api/error-tracking/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({
  endpoints: [...errorTrackingEndpoints, ...alertEndpoints],
  deps,
});
