import { readFile } from 'node:fs/promises';
import { type Reply, reply } from '../../http/reply.ts';

/** `/git-remote-lemnos`: the program that lets git push more than a request holds, from the file beside this module. */
export async function remoteHelper(): Promise<Reply> {
  return reply({
    body: await readFile(new URL('./git-remote-lemnos', import.meta.url), 'utf8'),
    type: 'text/x-python; charset=utf-8',
    headers: { 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' },
  });
}
