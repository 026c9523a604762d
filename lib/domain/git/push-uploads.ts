import { repositoryIdOf } from '../../records/repository-owner.ts';
import {
  IncompleteUpload,
  type PresignedPart,
  partCount,
  type UploadedPart,
} from '../../store/blobs/staging.ts';
import { LimitReached, Missing } from '../../store/errors.ts';
import { type PushUpload, UPLOADS_PER_USER, type UploadOf } from '../../store/git/push-uploads.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import {
  badRequest,
  conflict,
  DomainError,
  forbidden,
  notFound,
  tooLarge,
  tooManyRequests,
} from '../errors.ts';
import { maxPushBytes } from '../repository/size-limits.ts';
import { readPushRequest } from './receive-upload.ts';

/**
 * Pushes that are too large for one request: created, uploaded in parts to the staging area, finished, and ingested by
 * a worker. An upload is visible only to the user who created it, and only in its repository.
 */

/** Who may push, and to what. */
export interface PushTarget {
  readonly actor: Actor;
  readonly of: UploadOf;
}

/** Size of the smallest pack: header and checksum. */
const MIN_PUSH_BYTES = 32;
/** Parts in one response. */
const PAGE_SIZE = 100;
const URL_SECONDS = 3600;
const REQUEST = 'request';
const REPORT = 'report';

/**
 * Creates an upload.
 * @param request the part of a `git push` request before its pack
 * @param size size of the pack in bytes
 * @throws 400 for an invalid push, 413 for one above the limit, 429 if the user has too many open uploads
 */
export async function beginUpload(
  deps: Deps,
  { actor, of }: PushTarget,
  { request, size }: { readonly request: Uint8Array; readonly size: number },
): Promise<PushUpload> {
  if (actor.kind !== 'user') throw forbidden();
  if (!Number.isSafeInteger(size) || size < MIN_PUSH_BYTES) throw badRequest('size is not that of a pack');
  const maxBytes = await maxPushBytes(deps);
  if (size > maxBytes) throw tooLarge(`413 Request Entity Too Large: a push may have ${maxBytes} bytes`);
  await readPushRequest(request);
  const { stagingArea: staging, pushUploads } = deps.store;
  const now = deps.now();
  try {
    await pushUploads.requireSlot(actor.user.id, now);
    const staged = await staging.create(size, now);
    try {
      await staging.note(staged.id, REQUEST, request);
      return await pushUploads.open({ ...of, userId: actor.user.id, tokenId: actor.token!.id, staged }, now);
    } catch (error) {
      await staging.discard(staged).catch(() => {});
      throw error;
    }
  } catch (error) {
    if (!(error instanceof LimitReached)) throw error;
    throw tooManyRequests(
      `${UPLOADS_PER_USER} uploads of yours are under way: finish or abort one of them first`,
    );
  }
}

export const partsOf = ({ staged }: PushUpload): number => partCount(staged);

/** @throws 404 for an upload to another repository or of another user */
export async function findUpload(deps: Deps, { actor, of }: PushTarget, id: string): Promise<PushUpload> {
  const upload = await deps.store.pushUploads.get(id, deps.now());
  const own = actor.kind === 'user' && upload?.userId === actor.user.id;
  if (upload === undefined || !own || nameOf(upload) !== nameOf(of)) throw notFound('Upload');
  return upload;
}

const nameOf = (of: UploadOf): string =>
  'beside' in of ? repositoryIdOf(of.beside) : `project-${of.projectId}`;

export interface PartsPage {
  /** Uploaded parts with their ETags, the others with presigned URLs. */
  readonly parts: readonly (UploadedPart | PresignedPart)[];
  /** Number of the last part of this page; undefined on the last page. */
  readonly next: number | undefined;
}

/** @throws 409 if the upload is finished */
export async function listParts(deps: Deps, upload: PushUpload, after: number): Promise<PartsPage> {
  if (upload.state !== 'uploading') throw conflict('409 Conflict: the upload is finished');
  if (!Number.isSafeInteger(after) || after < 0) throw badRequest('after is no part number');
  const { stagingArea: staging } = deps.store;
  const count = partCount(upload.staged);
  const last = Math.min(count, after + PAGE_SIZE);
  const arrived = new Map<number, UploadedPart>();
  for (const part of await staging.parts(upload.staged, { after, limit: PAGE_SIZE }))
    arrived.set(part.number, part);
  const numbers = Array.from({ length: Math.max(0, last - after) }, (_, index) => after + 1 + index);
  const missing = numbers.filter((number) => !arrived.has(number));
  const urls = await staging.presignParts(upload.staged, missing, URL_SECONDS);
  const parts = [...arrived.values(), ...urls].sort((a, b) => a.number - b.number);
  return { parts, next: last < count ? last : undefined };
}

/**
 * Completes an upload; a worker then ingests the push. Idempotent.
 * @throws 409 with the missing parts; 410 if the upload has expired
 */
export async function finishUpload(deps: Deps, upload: PushUpload): Promise<PushUpload> {
  const { stagingArea: staging, pushUploads } = deps.store;
  if (upload.state === 'aborted') throw conflict('409 Conflict: the upload was aborted');
  if (upload.state !== 'uploading') return upload;
  try {
    await staging.complete(upload.staged);
  } catch (error) {
    if (error instanceof IncompleteUpload) {
      throw new DomainError('conflict', '409 Conflict: parts are missing', { parts: error.parts });
    }
    if (error instanceof Missing) throw new DomainError('gone', '410 Gone: the upload has expired');
    throw error;
  }
  await pushUploads.queue(upload, deps.now());
  return (await pushUploads.get(upload.id, deps.now())) ?? upload;
}

/** @throws 409 if a worker has claimed it */
export async function abortUpload(deps: Deps, upload: PushUpload): Promise<void> {
  if (!(await deps.store.pushUploads.abort(upload))) {
    throw conflict('409 Conflict: the push is being taken in or has been');
  }
  await deps.store.stagingArea.discard(upload.staged);
}

/** The result of a finished push: a `PushReport` as JSON. */
export async function reportOf(deps: Deps, upload: PushUpload): Promise<unknown> {
  const bytes = upload.state === 'done' ? await deps.store.stagingArea.noted(upload.id, REPORT) : undefined;
  return bytes && JSON.parse(Buffer.from(bytes).toString());
}
