import { readFile } from 'node:fs/promises';
import { type Reply, reply } from '../../http/reply.ts';

/** `/git-remote-lemnos`: the program that lets git push more than a request holds, as it lies beside this module. */
export async function remoteHelper(): Promise<Reply> {
  return reply({
    body: await readFile(new URL('./git-remote-lemnos', import.meta.url), 'utf8'),
    type: 'text/x-python; charset=utf-8',
    headers: { 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' },
  });
}

/** What somebody must know whose push was refused as too large. */
export const largePushes = (baseUrl: string): string =>
  `A git push of more than 3 MB needs one file on the PATH, made executable: git-remote-lemnos, from ${baseUrl}/git-remote-lemnos. Then push to lemnos::${baseUrl}/<namespace>/<project>.git.`;
