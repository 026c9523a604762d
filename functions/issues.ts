import { issueAndEpicEndpoints } from '../lib/api/issues/all.ts';
import { mergeRequestOfIssueEndpoints } from '../lib/api/merge-requests/of-issues.ts';
import { issueTodoEndpoints } from '../lib/api/todos/of-issues.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({
  endpoints: [...issueAndEpicEndpoints, ...mergeRequestOfIssueEndpoints, ...issueTodoEndpoints],
  deps,
});
