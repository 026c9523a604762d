import { accessRequestEndpoints } from '../lib/api/access-requests/endpoints.ts';
import { billableEndpoints } from '../lib/api/billable-members/endpoints.ts';
import { groupSsoEndpoints } from '../lib/api/group-sso/endpoints.ts';
import { invitationEndpoints } from '../lib/api/invitations/endpoints.ts';
import { invitationAnswered, invitationPage } from '../lib/api/invitations/invitation-page.ts';
import { projectMemberEndpoints } from '../lib/api/members/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({
  endpoints: [
    ...projectMemberEndpoints,
    ...invitationEndpoints,
    ...accessRequestEndpoints,
    ...billableEndpoints,
    ...groupSsoEndpoints,
  ],
  deps,
  pages: { '/users/invitation': invitationPage, 'POST /users/invitation': invitationAnswered },
});
