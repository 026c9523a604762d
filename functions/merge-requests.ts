import { mergeRequestEndpoints } from '../lib/api/merge-requests/endpoints.ts';
import { mergeRequestTimeEndpoints } from '../lib/api/merge-requests/time-tracking.ts';
import { mergeRequestTodoEndpoints } from '../lib/api/todos/of-merge-requests.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({
  endpoints: [...mergeRequestEndpoints, ...mergeRequestTimeEndpoints, ...mergeRequestTodoEndpoints],
  deps,
});
