import { notificationSettingEndpoints } from '../lib/api/notifications/endpoints.ts';
import { unsubscribed, unsubscribePage } from '../lib/api/notifications/unsubscribe-page.ts';
import { todoEndpoints } from '../lib/api/todos/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({
  endpoints: [...todoEndpoints, ...notificationSettingEndpoints],
  deps,
  pages: { '/users/unsubscribe': unsubscribePage, 'POST /users/unsubscribe': unsubscribed },
});
