import { cloneRoot } from '../../domain/clone-url.ts';
import type { Page } from '../../http/function.ts';
import { reply } from '../../http/reply.ts';
import type { ApiDeps } from '../endpoint.ts';

/** `/`: says what answers here and where to go on. */
export const homePage: Page<ApiDeps> = async ({ baseUrl }, _, deps) => {
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
