import { userProjectEndpoints } from '../lib/api/projects/of-users.ts';
import { userEndpoints } from '../lib/api/users/endpoints.ts';
import { choosePasswordPage, passwordChosen } from '../lib/api/users/password-page.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({
  endpoints: [...userEndpoints, ...userProjectEndpoints],
  deps,
  pages: { '/users/password/edit': choosePasswordPage, 'POST /users/password': passwordChosen },
});
