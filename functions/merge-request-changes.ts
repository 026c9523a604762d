import { mergeRequestChangeEndpoints } from '../lib/api/merge-requests/changes.ts';
import { mergeRequestClosesIssuesEndpoints } from '../lib/api/merge-requests/closes-issues.ts';
import { mergeRequestPeopleEndpoints } from '../lib/api/merge-requests/people.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({
  endpoints: [
    ...mergeRequestChangeEndpoints,
    ...mergeRequestClosesIssuesEndpoints,
    ...mergeRequestPeopleEndpoints,
  ],
  deps,
});
