/** Serves attached files at the URLs that texts contain. */
import type { ProjectAccess } from '../../domain/access/types.ts';
import type { Deps } from '../../domain/deps.ts';
import { notFound } from '../../domain/errors.ts';
import { shownType } from '../../domain/uploads/uploads.ts';
import { matches } from '../../http/conditional.ts';
import type { RequestFacts } from '../../http/endpoint.ts';
import { notAllowed } from '../../http/errors.ts';
import { type Reply, reply } from '../../http/reply.ts';
import { contentDisposition } from '../files/present.ts';
import type { UploadPath } from './path.ts';

/** A file never changes: its URL is made anew for each. But whoever may no longer see the project must not read it. */
const REVALIDATED = 'private, max-age=0, must-revalidate';

/** Uploaded files are untrusted: browsers must not guess other types, nor run any script in them. */
const SANDBOX = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; media-src 'self'; style-src 'unsafe-inline'; sandbox",
};

/** @throws 404 */
export async function serveUpload(
  { secret, name }: UploadPath,
  { method, headers }: RequestFacts,
  { project: { id } }: ProjectAccess,
  { store }: Deps,
): Promise<Reply> {
  if (method !== 'GET' && method !== 'HEAD') throw notAllowed(['GET', 'HEAD']);
  const type = shownType(name);
  const common = {
    ETag: `"${secret}"`,
    'Cache-Control': REVALIDATED,
    'Content-Disposition': contentDisposition(type === undefined ? 'attachment' : 'inline', name),
    ...SANDBOX,
  };
  const known = matches(headers, common.ETag);
  if (method === 'HEAD' || known) {
    const size = await store.uploads.size(id, secret, name);
    if (size === undefined) throw notFound('File');
    if (known) return reply({ status: 304, headers: common });
    return reply({ headers: { ...common, 'Content-Length': String(size) }, type: type ?? DOWNLOADED });
  }
  const file = await store.uploads.open(id, secret, name);
  if (file === undefined) throw notFound('File');
  return reply({
    body: file.body,
    type: type ?? DOWNLOADED,
    headers: { ...common, 'Content-Length': String(file.size) },
  });
}

const DOWNLOADED = 'application/octet-stream';
