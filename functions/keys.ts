import { confirmationPage, emailConfirmed } from '../lib/api/emails/confirmation-page.ts';
import { emailEndpoints } from '../lib/api/emails/endpoints.ts';
import { keyEndpoints } from '../lib/api/keys/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({
  endpoints: [...keyEndpoints, ...emailEndpoints],
  deps,
  pages: { '/users/confirmation': confirmationPage, 'POST /users/confirmation': emailConfirmed },
});
