import { cloneRoot } from '../../domain/repository/clone-url.ts';
import type { Page } from '../../http/function.ts';
import { reply } from '../../http/reply.ts';
import type { ApiDeps } from '../endpoint.ts';
import { docsPage, viewerFile } from './docs-page.ts';
import { largePushLines, largePushNote } from './large-pushes.ts';
import { remoteHelper } from './remote-helper.ts';

type MetaPage = Page<Pick<ApiDeps, 'settings' | 'environment'>>;

/** `/`: says what this service is and where to go from here, or redirects to the page that an administrator chose. */
export const homePage: MetaPage = async ({ baseUrl }, _, deps) => {
  const { settings, environment } = await deps();
  const { home_page_url: chosen } = await settings.current();
  const elsewhere = chosen === null || chosen === '' ? undefined : new URL(chosen).href;
  // A redirect to this very page would never end.
  if (elsewhere !== undefined && elsewhere.replace(/[?#].*$/, '').replace(/\/+$/, '') !== baseUrl)
    return reply({ status: 302, headers: { Location: elsewhere, 'Cache-Control': 'no-cache' } });
  const root = await cloneRoot({ settings }, baseUrl);
  const lines = [
    'Lemnos: source hosting over REST v4 and Git smart HTTP.',
    '',
    `  documentation   ${baseUrl}/api/docs`,
    `  interface       ${baseUrl}/api/v4/openapi.json`,
    `  clone           git clone ${root}/<namespace>/<project>.git`,
    '',
    ...largePushLines(environment, { baseUrl, cloneRoot: root }),
    '',
  ];
  return reply({ body: lines.join('\n'), type: 'text/plain; charset=utf-8' });
};

/** `/api/docs` */
export const apiDocsPage: MetaPage = async ({ baseUrl }, _, deps) => {
  const { settings, environment } = await deps();
  const root = await cloneRoot({ settings }, baseUrl);
  return docsPage({ title: 'Lemnos API', note: largePushNote(environment, { baseUrl, cloneRoot: root }) });
};

/** The pages of this area, by path. `ANY_VIEWER_FILE` stands for every file below `/api/docs/`. */
const ANY_VIEWER_FILE = '/api/docs/{file}';

export const metaPages: Readonly<Record<string, MetaPage>> = {
  '/': homePage,
  '/api/docs': apiDocsPage,
  [ANY_VIEWER_FILE]: (_, request) => viewerFile(request),
  '/git-remote-lemnos': remoteHelper,
};

/** The page that answers at a path whose last part can be anything. */
export const metaPageAlias = (path: string): string | undefined =>
  /^\/api\/docs\/[^/]+$/.test(path) ? ANY_VIEWER_FILE : undefined;
