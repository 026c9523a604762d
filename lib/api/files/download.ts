import type { Deps } from '../../domain/deps.ts';
import { type Reply, reply } from '../../http/reply.ts';
import type { Download } from '../../store/blobs/downloads.ts';

/** For `returns.redirect` of an endpoint. */
export const LARGE_DOWNLOAD =
  'More than 16 MiB: `Location` has the content; it is valid for five minutes and needs no credentials';

/** Sends content, or redirects to a copy in the bucket, which is served with the same type and disposition. */
export async function download(
  deps: Deps,
  content: Download | { readonly body: Uint8Array | AsyncIterable<Uint8Array> },
  as: {
    readonly type: string;
    readonly disposition: string;
    readonly headers: Readonly<Record<string, string>>;
  },
): Promise<Reply> {
  const { type, disposition, headers } = as;
  if ('body' in content)
    return reply({ body: content.body, type, headers: { ...headers, 'Content-Disposition': disposition } });
  const Location = await deps.store.downloads.url(content.key, { type, disposition });
  // The URL is a credential: no cache may keep it.
  return reply({ status: 302, headers: { ...headers, Location, 'Cache-Control': 'private, no-store' } });
}
