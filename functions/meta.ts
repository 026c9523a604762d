import { markdownEndpoints } from '../lib/api/markdown/endpoints.ts';
import { metaEndpoints } from '../lib/api/meta/endpoints.ts';
import { metaPageAlias, metaPages } from '../lib/api/meta/pages.ts';
import { templateEndpoints } from '../lib/api/templates/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({
  endpoints: [
    ...metaEndpoints(async () => (await import('../lib/api/all.ts')).apiDocument()),
    ...templateEndpoints,
    ...markdownEndpoints,
  ],
  deps,
  pages: metaPages,
  alias: metaPageAlias,
});
