import { cloneRoot } from '../../domain/repository/clone-url.ts';
import type { Page } from '../../http/function.ts';
import { reply } from '../../http/reply.ts';
import type { ApiDeps } from '../endpoint.ts';

/** `/`: says what answers here and where to go on; or leads to the page that an administrator chose. */
export const homePage: Page<ApiDeps> = async ({ baseUrl }, _, deps) => {
  const { home_page_url: chosen } = await (await deps()).settings.current();
  const elsewhere = chosen === null || chosen === '' ? undefined : new URL(chosen).href;
  // A page that leads to itself leads nowhere.
  if (elsewhere !== undefined && elsewhere.replace(/[?#].*$/, '').replace(/\/+$/, '') !== baseUrl)
    return reply({ status: 302, headers: { Location: elsewhere, 'Cache-Control': 'no-cache' } });
  const root = await cloneRoot(await deps(), baseUrl);
  const lines = [
    'Lemnos: source hosting over REST v4 and Git smart HTTP.',
    '',
    `  documentation   ${baseUrl}/api/docs`,
    `  interface       ${baseUrl}/api/v4/openapi.json`,
    `  clone           git clone ${root}/<namespace>/<project>.git`,
    '',
    'A push of more than a few megabytes needs git-remote-lemnos on the PATH:',
    '',
    `  install         curl -fo ~/.local/bin/git-remote-lemnos ${baseUrl}/git-remote-lemnos`,
    '                  chmod +x ~/.local/bin/git-remote-lemnos',
    `  push            git push lemnos::${root}/<namespace>/<project>.git`,
    '',
  ];
  return reply({ body: lines.join('\n'), type: 'text/plain; charset=utf-8' });
};
