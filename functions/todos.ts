import { todoEndpoints } from '../lib/api/todos/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({ endpoints: todoEndpoints, deps });
