import { groupEndpoints } from '../lib/api/groups/endpoints.ts';
import { groupMemberEndpoints } from '../lib/api/members/endpoints.ts';
import { namespaceEndpoints } from '../lib/api/namespaces/endpoints.ts';
import { groupMoveEndpoints } from '../lib/api/storage-moves/of-groups.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({
  endpoints: [...groupEndpoints, ...namespaceEndpoints, ...groupMemberEndpoints, ...groupMoveEndpoints],
  deps,
});
