import type { RequestFacts } from '../../http/endpoint.ts';
import { type Reply, reply } from '../../http/reply.ts';

/** `/`: says what answers here and where to go on. */
export function homePage({ baseUrl }: RequestFacts): Reply {
  const lines = [
    'Lemnos: source hosting over REST v4 and Git smart HTTP.',
    '',
    `  documentation   ${baseUrl}/api/docs`,
    `  interface       ${baseUrl}/api/v4/openapi.json`,
    `  clone           git clone ${baseUrl}/<namespace>/<project>.git`,
    '',
    'A push of more than a few megabytes needs git-remote-lemnos on the PATH:',
    '',
    `  install         curl -fo ~/.local/bin/git-remote-lemnos ${baseUrl}/git-remote-lemnos`,
    '                  chmod +x ~/.local/bin/git-remote-lemnos',
    `  push            git push lemnos::${baseUrl}/<namespace>/<project>.git`,
    '',
  ];
  return reply({ body: lines.join('\n'), type: 'text/plain; charset=utf-8' });
}
