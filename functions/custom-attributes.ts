import { customAttributeEndpoints } from '../lib/api/custom-attributes/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({ endpoints: customAttributeEndpoints, deps });
