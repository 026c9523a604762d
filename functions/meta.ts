import { metaEndpoints } from '../lib/api/meta/endpoints.ts';
import { homePage } from '../lib/api/meta/pages.ts';
import { largePushes, remoteHelper } from '../lib/api/meta/remote-helper.ts';
import { docsPage } from '../lib/http/docs-page.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({
  endpoints: metaEndpoints(async () => (await import('../lib/api/all.ts')).apiDocument()),
  deps,
  pages: {
    '/': homePage,
    '/api/docs': ({ baseUrl }) => docsPage({ title: 'Lemnos', note: largePushes(baseUrl) }),
    '/git-remote-lemnos': remoteHelper,
  },
});
