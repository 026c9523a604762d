import { milestoneIssueEndpoints } from '../lib/api/issues/of-milestones.ts';
import { iterationEndpoints } from '../lib/api/iterations/endpoints.ts';
import { labelEndpoints } from '../lib/api/labels/endpoints.ts';
import { mergeRequestOfMilestoneEndpoints } from '../lib/api/merge-requests/of-milestones.ts';
import { milestoneEndpoints } from '../lib/api/milestones/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({
  endpoints: [
    ...labelEndpoints,
    ...milestoneEndpoints,
    ...milestoneIssueEndpoints,
    ...mergeRequestOfMilestoneEndpoints,
    ...iterationEndpoints,
  ],
  deps,
});
