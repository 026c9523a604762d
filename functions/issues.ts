import { epicEndpoints } from '../lib/api/epics/endpoints.ts';
import { epicNoteEndpoints } from '../lib/api/epics/notes.ts';
import { issueEndpoints } from '../lib/api/issues/endpoints.ts';
import { issueLinkEndpoints } from '../lib/api/issues/links.ts';
import { issueMergeRequestEndpoints } from '../lib/api/issues/merge-requests.ts';
import { issueMoveEndpoints } from '../lib/api/issues/moves.ts';
import { issueNoteEndpoints } from '../lib/api/issues/notes.ts';
import { epicIssueEndpoints } from '../lib/api/issues/of-epics.ts';
import { issuePeopleEndpoints } from '../lib/api/issues/people.ts';
import { issueReorderEndpoints } from '../lib/api/issues/reorder.ts';
import { issueTimeEndpoints } from '../lib/api/issues/time-tracking.ts';
import { userAgentEndpoint } from '../lib/api/issues/user-agent.ts';
import { issueTodoEndpoints, todoEndpoints } from '../lib/api/todos/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({
  endpoints: [
    ...issueEndpoints,
    ...issueMoveEndpoints,
    ...issueReorderEndpoints,
    ...issueNoteEndpoints,
    ...issueLinkEndpoints,
    ...issueMergeRequestEndpoints,
    userAgentEndpoint,
    ...issuePeopleEndpoints,
    ...issueTimeEndpoints,
    ...epicEndpoints,
    ...epicNoteEndpoints,
    ...epicIssueEndpoints,
    ...issueTodoEndpoints,
    ...todoEndpoints,
  ],
  deps,
});
