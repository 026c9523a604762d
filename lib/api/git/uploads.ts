/**
 * Pushes too large for one request, below a repository's URL (`docs/large-pushes.md`): `POST lemnos/uploads?size=`
 * with the commands that precede the pack, `GET lemnos/uploads/<id>/parts`, `POST .../finish`, `GET` and `DELETE .../<id>`.
 */

import type { Deps } from '../../domain/deps.ts';
import { badRequest, notFound } from '../../domain/errors.ts';
import {
  abortUpload,
  beginUpload,
  findUpload,
  finishUpload,
  listParts,
  type PushTarget,
  partsOf,
  reportOf,
} from '../../domain/git/push-uploads.ts';
import { notAllowed } from '../../http/errors.ts';
import { readBytes } from '../../http/read-bytes.ts';
import { json, noContent, type Reply } from '../../http/reply.ts';
import type { PushUpload } from '../../store/git/push-uploads.ts';

/** Enough for about 20,000 commands with names of usual length; gateways accept little more. */
const MAX_REQUEST_BYTES = 4 * 1024 * 1024;

/**
 * @param rest the path below `lemnos/uploads`, without a leading slash
 * @throws DomainError, HttpFailure
 */
export async function serveUploads(
  request: Request,
  rest: string,
  target: PushTarget,
  deps: Deps,
): Promise<Reply> {
  const { searchParams } = new URL(request.url);
  const [id = '', action = ''] = rest.split('/');
  if (id === '') {
    requireMethod(request, 'POST');
    const size = numberIn(searchParams, 'size');
    if (size === undefined) throw badRequest('size is missing');
    const body = await readBytes(request, MAX_REQUEST_BYTES);
    return json(presentUpload(await beginUpload(deps, target, { request: body, size })), { status: 201 });
  }
  const upload = await findUpload(deps, target, id);
  if (action === 'parts') {
    requireMethod(request, 'GET', 'HEAD');
    const { parts, next } = await listParts(deps, upload, numberIn(searchParams, 'after') ?? 0);
    return json({ parts, next_after: next ?? null });
  }
  if (action === 'finish') {
    requireMethod(request, 'POST');
    return json(presentUpload(await finishUpload(deps, upload)), { status: 202 });
  }
  if (action !== '') throw notFound();
  requireMethod(request, 'GET', 'HEAD', 'DELETE');
  if (request.method === 'DELETE') {
    await abortUpload(deps, upload);
    return noContent();
  }
  return json({ ...presentUpload(upload), report: (await reportOf(deps, upload)) ?? null });
}

function presentUpload(upload: PushUpload) {
  const { id, state, staged, progress, failure, expiresAt } = upload;
  return {
    id,
    state,
    size: staged.size,
    part_size: staged.partSize,
    parts: partsOf(upload),
    expires_at: expiresAt,
    phase: progress.phase,
    objects_done: progress.done,
    objects_total: progress.total,
    bytes_done: progress.bytes,
    failure,
  };
}

function requireMethod(request: Request, ...methods: readonly string[]): void {
  if (!methods.includes(request.method)) throw notAllowed(methods);
}

function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw badRequest(`${name} is not a number`);
  return Number(text);
}
