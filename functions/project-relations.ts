import { ofTopic } from '../lib/api/avatars/endpoints.ts';
import { customAttributeEndpoints } from '../lib/api/custom-attributes/endpoints.ts';
import { projectRelationEndpoints } from '../lib/api/project-relations/endpoints.ts';
import { starEndpoints } from '../lib/api/stars/endpoints.ts';
import { statisticsEndpoints } from '../lib/api/statistics/endpoints.ts';
import { topicEndpoints } from '../lib/api/topics/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({
  endpoints: [
    ...starEndpoints,
    ...projectRelationEndpoints,
    ...statisticsEndpoints,
    ...topicEndpoints,
    ...customAttributeEndpoints,
    ofTopic,
  ],
  deps,
});
