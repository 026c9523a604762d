import { invitationAnswered, invitationPage } from '../lib/api/invitations/invitation-page.ts';
import { memberEndpoints } from '../lib/api/members/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({
  endpoints: memberEndpoints,
  deps,
  pages: { '/users/invitation': invitationPage, 'POST /users/invitation': invitationAnswered },
});
