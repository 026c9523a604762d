/**
 * Git LFS as its own specification has it (`docs/api` of the client): the batch API with basic transfers, and locks. Only
 * pointers and URLs pass through here; the bytes go straight to and from the bucket.
 */
import type { GitAccess } from '../../domain/access/types.ts';
import type { Deps } from '../../domain/deps.ts';
import { DomainError, notFound, tooLarge, unprocessable } from '../../domain/errors.ts';
import { isLfsEnabled } from '../../domain/lfs/enabled.ts';
import {
  AlreadyLocked,
  type LockPage,
  listLocks,
  lockFile,
  type NamedLock,
  unlockFile,
} from '../../domain/lfs/locks.ts';
import {
  type LfsAnswer,
  lfsDownloads,
  lfsUploads,
  listUpload,
  pointerProblem,
} from '../../domain/lfs/objects.ts';
import { requirePushable } from '../../domain/settings/maintenance-mode.ts';
import type { LfsPointer } from '../../git/lfs-pointer.ts';
import { CHALLENGE } from '../../http/challenge.ts';
import type { RequestFacts } from '../../http/endpoint.ts';
import { statusOf } from '../../http/errors.ts';
import { readBytes } from '../../http/read-bytes.ts';
import { type Reply, reply } from '../../http/reply.ts';
import { asksToPush, type LfsPath } from './path.ts';

const TYPE = 'application/vnd.git-lfs+json';

/** Enough for {@link MAX_OBJECTS} objects; a client names 100 at once unless it is told otherwise. */
const MAX_BODY_BYTES = 512 * 1024;
const MAX_OBJECTS = 1000;
/** Locks of a page. */
const MAX_LOCKS = 100;

interface Asked {
  readonly request: Request;
  readonly path: LfsPath;
  readonly access: GitAccess;
  readonly open: Open;
  readonly facts: RequestFacts;
  readonly deps: Deps;
}

/** Checks that the caller may fetch, or push. @throws 401, 403, 404 */
type Open = (purpose: 'read' | 'write') => Promise<GitAccess>;

/** @throws what is no DomainError */
export async function serveLfs(
  request: Request,
  path: LfsPath,
  facts: RequestFacts,
  deps: Deps,
  open: Open,
): Promise<Reply> {
  try {
    const access = await open(asksToPush(path, request.method) ? 'write' : 'read');
    if (!(await isLfsEnabled(deps, access.project.project))) throw notFound();
    return await answer({ request, path, access, open, facts, deps });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return failure(error, facts);
  }
}

async function answer(asked: Asked): Promise<Reply> {
  const { request, path, access, deps } = asked;
  const { method } = request;
  const { route } = path;
  const get = method === 'GET' || method === 'HEAD';
  if (route.kind === 'former')
    return lfsJson(
      {
        message: 'Server supports batch API only, please update your Git LFS client to version 1.0.1 and up.',
      },
      501,
    );
  if (route.kind === 'locks' && get)
    return lfsJson(presentPage(await listLocks(deps, access, lockQuery(request))));
  if (method !== 'POST') throw new DomainError('method-not-allowed', '405 Method Not Allowed');
  if (route.kind === 'batch') return batch(asked);
  await requirePushable(deps);
  const body = await bodyOf(request);
  switch (route.kind) {
    case 'verify': {
      const upload = new URL(request.url).searchParams.get('upload') ?? '';
      await listUpload(deps, access.project, upload, pointerOf(body));
      return lfsJson({ message: 'The object is stored' });
    }
    case 'locks':
      return lfsJson({ lock: presentLock(await lockFile(deps, access, body['path'])) }, 201);
    case 'unlock':
      return lfsJson({ lock: presentLock(await unlockFile(deps, access, route.id, body['force'] === true)) });
    case 'verify-locks': {
      const page = await listLocks(deps, access, {
        ...cursorOf(body['cursor']),
        limit: limitOf(body['limit']),
      });
      const { actor } = access;
      const isOurs = ({ userId }: NamedLock) => actor.kind === 'user' && actor.user.id === userId;
      return lfsJson({
        ours: page.locks.filter(isOurs).map(presentLock),
        theirs: page.locks.filter((lock) => !isOurs(lock)).map(presentLock),
        ...nextCursor(page),
      });
    }
  }
}

async function batch({ request, access, open, facts, deps }: Asked): Promise<Reply> {
  const body = await bodyOf(request);
  const { operation, transfers, hash_algo: algorithm = 'sha256', objects } = body;
  if (operation !== 'download' && operation !== 'upload')
    throw unprocessable('operation is neither download nor upload');
  if (operation === 'upload') {
    // The URL did not tell.
    await open('write');
    await requirePushable(deps);
  }
  if (Array.isArray(transfers) && transfers.length > 0 && !transfers.includes('basic'))
    throw unprocessable('Only the transfer adapter basic is supported');
  if (algorithm !== 'sha256') throw new DomainError('conflict', 'hash_algo is not sha256');
  if (!Array.isArray(objects) || objects.length === 0) throw unprocessable('objects is missing or empty');
  if (objects.length > MAX_OBJECTS) throw tooLarge(`A batch has at most ${MAX_OBJECTS} objects`);
  const named = objects.map(recordOf);
  const problems = named.map((object) => pointerProblem({ oid: object['oid'], size: object['size'] }));
  const pointers = named
    .filter((_, i) => problems[i] === undefined)
    .map((object): LfsPointer => ({ oid: object['oid'] as string, size: object['size'] as number }));
  if (pointers.length === 0) throw unprocessable(problems[0]!);
  const { id, answers } =
    operation === 'upload'
      ? await lfsUploads(deps, access.project, pointers)
      : { id: undefined, answers: await lfsDownloads(deps, access.project, pointers) };
  const verify = id === undefined ? undefined : verifyAction(request, access, facts, id);
  const shown = answers.map((each) => presentObject(each, operation, verify));
  let next = 0;
  return lfsJson({
    transfer: 'basic',
    objects: named.map((object, i) =>
      problems[i] === undefined
        ? shown[next++]
        : { oid: String(object['oid']).slice(0, 64), size: 0, error: { code: 422, message: problems[i] } },
    ),
    hash_algo: 'sha256',
  });
}

/** The client calls it with these headers after an upload: with the caller's own credential, as it came. */
function verifyAction(request: Request, { project }: GitAccess, { baseUrl }: RequestFacts, id: string) {
  const path = project.project.fullPath.split('/').map(encodeURIComponent).join('/');
  const header: Record<string, string> = {};
  for (const name of ['Authorization', 'Private-Token']) {
    const value = request.headers.get(name);
    if (value !== null) header[name] = value;
  }
  return { href: `${baseUrl}/${path}.git/info/lfs/objects/verify?upload=${id}`, header };
}

function presentObject(
  { oid, size, transfer, error }: LfsAnswer,
  operation: 'download' | 'upload',
  verify: { readonly href: string; readonly header: Readonly<Record<string, string>> } | undefined,
) {
  if (error !== undefined) return { oid, size, error };
  // What the server has is not uploaded again.
  if (transfer === undefined) return { oid, size };
  const { url, headers, seconds } = transfer;
  const action = { href: url, ...(headers && { header: headers }), expires_in: seconds };
  return {
    oid,
    size,
    // The URLs need no credential of the caller's, and the bucket must not see one.
    authenticated: true,
    actions: {
      [operation]: action,
      ...(operation === 'upload' && verify ? { verify: { ...verify, expires_in: seconds } } : {}),
    },
  };
}

const presentLock = ({ id, path, lockedAt, ownerName }: NamedLock) => ({
  id,
  path,
  locked_at: `${lockedAt.slice(0, 19)}Z`,
  owner: { name: ownerName },
});

const nextCursor = ({ cursor }: LockPage) => (cursor === undefined ? {} : { next_cursor: cursor });

const presentPage = (page: LockPage) => ({ locks: page.locks.map(presentLock), ...nextCursor(page) });

/** `refspec` says which ref the client is about; locks hold on every ref. */
function lockQuery(request: Request) {
  const { searchParams } = new URL(request.url);
  const given = (name: string) => {
    const text = searchParams.get(name) ?? '';
    return text === '' ? {} : { [name]: text };
  };
  const limit = searchParams.get('limit') ?? '';
  return {
    ...given('path'),
    ...given('id'),
    ...given('cursor'),
    limit: limitOf(/^\d{1,15}$/.test(limit) ? Number(limit) : limit === '' ? undefined : limit),
  };
}

const cursorOf = (cursor: unknown) =>
  cursor === undefined || cursor === null || cursor === '' ? {} : { cursor: String(cursor) };

/** Clients that want all send 0, or nothing. */
function limitOf(limit: unknown): number {
  if (limit === undefined || limit === null || limit === 0) return MAX_LOCKS;
  if (!Number.isSafeInteger(limit) || (limit as number) < 0) throw unprocessable('limit is not a number');
  return Math.min(limit as number, MAX_LOCKS);
}

function pointerOf(body: Readonly<Record<string, unknown>>): LfsPointer {
  const { oid, size } = body;
  const problem = pointerProblem({ oid, size });
  if (problem !== undefined) throw unprocessable(problem);
  return { oid: oid as string, size: size as number };
}

const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

async function bodyOf(request: Request): Promise<Record<string, unknown>> {
  const bytes = await readBytes(request, MAX_BODY_BYTES, () =>
    tooLarge(`The request has more than ${MAX_BODY_BYTES} bytes`),
  );
  try {
    return recordOf(JSON.parse(Buffer.from(bytes).toString('utf8')));
  } catch {
    throw unprocessable('The request is not JSON');
  }
}

const lfsJson = (value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Reply =>
  reply({
    status,
    type: TYPE,
    // Answers carry URLs that need no credential.
    headers: { 'Cache-Control': 'private, no-store', ...headers },
    body: JSON.stringify(value),
  });

function failure(error: DomainError, { baseUrl, requestId }: RequestFacts): Reply {
  const status = statusOf(error.code);
  return lfsJson(
    {
      message: error.text,
      ...(error instanceof AlreadyLocked ? { lock: presentLock(error.lock) } : {}),
      documentation_url: `${baseUrl}/api/docs`,
      request_id: requestId,
    },
    status,
    {
      ...(error.retryAfter === undefined ? {} : { 'Retry-After': String(error.retryAfter) }),
      ...(status === 401 ? { 'LFS-Authenticate': CHALLENGE, 'WWW-Authenticate': CHALLENGE } : {}),
    },
  );
}
