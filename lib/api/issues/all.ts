import { epicEndpoints } from '../epics/endpoints.ts';
import { epicNoteEndpoints } from '../epics/notes.ts';
import { issueEndpoints } from './endpoints.ts';
import { issueLinkEndpoints } from './links.ts';
import { issueMoveEndpoints } from './moves.ts';
import { issueNoteEndpoints } from './notes.ts';
import { epicIssueEndpoints } from './of-epics.ts';
import { issuePeopleEndpoints } from './people.ts';
import { issueReorderEndpoints } from './reorder.ts';
import { issueTimeEndpoints } from './time-tracking.ts';
import { userAgentEndpoint } from './user-agent.ts';

/** The endpoints of issues and epics. */
export const issueAndEpicEndpoints = [
  ...issueEndpoints,
  ...issueMoveEndpoints,
  ...issueReorderEndpoints,
  ...issueNoteEndpoints,
  ...issueLinkEndpoints,
  userAgentEndpoint,
  ...issuePeopleEndpoints,
  ...issueTimeEndpoints,
  ...epicEndpoints,
  ...epicNoteEndpoints,
  ...epicIssueEndpoints,
];
