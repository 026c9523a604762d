import { type GitRequest, openGit } from '../../domain/access/git-access.ts';
import type { Prefetch } from '../../domain/access/prefetch.ts';
import type { GitAccess } from '../../domain/access/types.ts';
import { CallerGone } from '../../domain/caller-gone.ts';
import type { Deps } from '../../domain/deps.ts';
import { DomainError } from '../../domain/errors.ts';
import { movedNotice } from '../../domain/git/moved-notice.ts';
import { packUrl } from '../../domain/git/pack-url.ts';
import { type Propose, pushRules } from '../../domain/git/push-answer.ts';
import type { PushTarget } from '../../domain/git/push-uploads.ts';
import type { Admission } from '../../domain/rate-limits/request-counting.ts';
import { pushAccess } from '../../domain/refs/collaboration.ts';
import { besideProposals, isFetchable, isPushable } from '../../domain/refs/hidden-refs.ts';
import { defaultBranchName } from '../../domain/repository/default-branch-name.ts';
import { openRepository } from '../../domain/repository/open.ts';
import { maxPushBytes } from '../../domain/repository/size-limits.ts';
import { requirePushable } from '../../domain/settings/maintenance-mode.ts';
import type { Service } from '../../git/wire/advertise.ts';
import { protocolVersion } from '../../git/wire/capabilities.ts';
import { type SmartHttpResponse, smartHttp } from '../../git/wire/http.ts';
import type { KeptPacks } from '../../git/wire/kept-pack.ts';
import type { ReceivePackOptions } from '../../git/wire/receive-pack.ts';
import type { Repository } from '../../git/wire/repository.ts';
import type { Visibility } from '../../git/wire/visible.ts';
import { CHALLENGE } from '../../http/challenge.ts';
import { credentialOf } from '../../http/credentials.ts';
import type { RequestFacts } from '../../http/endpoint.ts';
import { noRoute, oldVersion, statusOf } from '../../http/errors.ts';
import { logFailure } from '../../http/log.ts';
import { type Reply, reply } from '../../http/reply.ts';
import { repositoryIdOf } from '../../records/repository-owner.ts';
import { annotate } from '../../telemetry/correlation.ts';
import { type LfsPath, parseLfsPath } from '../lfs/path.ts';
import { parseUploadPath } from '../uploads/path.ts';
import { openBesideCode } from './beside-code.ts';
import { asksForImport, serveGoGet } from './go-get.ts';
import {
  beginsFetch,
  beginsPush,
  decodedSegments,
  type GitPath,
  parseAlertPath,
  parseGitPath,
  parseWebPath,
  routeOf,
  UPLOADS,
} from './path.ts';
import { serveUploads } from './uploads.ts';

/** How long a presigned URL of a bundle is valid; a download that has started may finish later. */
const BUNDLE_SECONDS = 900;

const FETCH_LESS =
  'Use --filter=blob:none or --depth=1 and fetch the rest in steps, or git -c fetch.uriProtocols=https clone';

/** Serves Git's smart HTTP protocol; as the catch-all at the root, also the 404 of every unknown path. */
export async function serveGit(
  request: Request,
  facts: RequestFacts,
  deps: Deps,
  admission?: Admission,
): Promise<Response | Reply> {
  const { pathname, searchParams } = new URL(request.url);
  if (pathname.startsWith('/api/v3/')) throw oldVersion();
  const lfs = parseLfsPath(pathname);
  if (lfs !== undefined) return serveLargeFiles(request, lfs, facts, deps, admission);
  const path = parseGitPath(pathname, searchParams);
  if (path === undefined) {
    const alert = parseAlertPath(pathname);
    if (alert === undefined) return serveBesideGit(request, facts, deps, admission);
    annotate({ route: '/:project/alerts/notify' });
    const { serveAlert } = await import('../alerts/serve.ts');
    return serveAlert(request, alert, facts, deps, admission);
  }
  annotate({ route: routeOf(path), purpose: path.purpose });
  const { gitFrontUrl, maxFetchBytes } = deps.environment;
  // Before authentication: the redirect is the same for every caller.
  if (gitFrontUrl !== undefined && beginsPush(path)) {
    return toFront(gitFrontUrl, pathname, 'git-receive-pack');
  }
  const fetchesAtFront = gitFrontUrl !== undefined && maxFetchBytes !== undefined && beginsFetch(path);
  const uploads = path.rest.startsWith(UPLOADS);
  const onError = (error: unknown) => {
    if (!(error instanceof DomainError || error instanceof CallerGone))
      logFailure(error, { ...facts, path: pathname });
  };
  try {
    const credential = credentialOf(request.headers);
    const version = request.headers.get('git-protocol') ?? undefined;
    const { fullPath, purpose } = path;
    const asked: GitRequest = {
      credential,
      fullPath,
      purpose,
      origin: { address: facts.sourceIp, requestId: facts.requestId, baseUrl: facts.baseUrl },
      ...(admission && { admission }),
    };
    const readsUpload = uploads && (request.method === 'GET' || request.method === 'HEAD');
    const admitPush = async () => {
      if (purpose === 'write' && !readsUpload) await requirePushable(deps);
    };
    const uploading = (target: PushTarget) =>
      serveUploads(request, path.rest.slice(UPLOADS.length + 1), target, deps);
    let served: Served;
    if (path.of.kind === 'code') {
      const prefetch = prefetchOf(path, version, fetchesAtFront);
      const access = await openGit(deps, { ...asked, ...(prefetch && { prefetch }), pushAccess });
      await admitPush();
      if (uploads) {
        const { actor, project } = access;
        return await uploading({ actor, of: { projectId: project.project.id } });
      }
      served = await servedCode(deps, access, path, facts.baseUrl);
    } else {
      const beside = await openBesideCode(deps, path, asked);
      await admitPush();
      if (uploads) return await uploading({ actor: beside.actor, of: { beside: beside.owner } });
      served = {
        repository: await beside.repository(path.rest === 'git-receive-pack'),
        repositoryId: repositoryIdOf(beside.owner),
        rules: () => ({ authorize: beside.authorize }),
      };
    }
    const { repository, repositoryId, notice } = served;
    const pushing = path.rest === 'git-receive-pack';
    // After authorization: the size of a repository is for its readers.
    if (fetchesAtFront && searchParams.get('service') === 'git-upload-pack') {
      if ((await packedBytes(repository)) > maxFetchBytes)
        return toFront(gitFrontUrl, pathname, 'git-upload-pack');
    }
    let counting: Promise<void> | undefined;
    const response = await smartHttp(
      {
        method: request.method,
        path: path.rest,
        query: searchParams,
        headers: request.headers,
        body: (request.body ?? []) as AsyncIterable<Uint8Array>,
      },
      repository,
      {
        // Behind a gateway, the gateway's own limit of about 4.5 MB applies first.
        limits: { maxRequestBytes: await maxPushBytes(deps) },
        visible: served.visible ?? isFetchable,
        bundles: {
          url: ({ location }) => deps.store.blobs.presignedGet(location, BUNDLE_SECONDS),
          request: () => deps.store.maintenanceNotes.askForBundle(repositoryId),
        },
        packLimit: maxFetchBytes === undefined ? undefined : { bytes: maxFetchBytes, advice: FETCH_LESS },
        packUrl: (pack) => packUrl(deps, pack),
        keptPacks: served.keptPacks,
        pushable: isPushable,
        defaultBranch: await defaultBranchName(deps),
        ...(pushing ? { ...served.rules(), policyName: deps.environment.serviceName } : {}),
        ...(notice === undefined ? {} : { notice }),
        onError,
        onPack: () => {
          counting = served.fetched?.();
        },
        failureText: (error) => (error instanceof DomainError ? error.text : undefined),
      },
    );
    return reply({
      status: response.status,
      headers: response.headers,
      body: bodyThen(response, () => counting),
    });
  } catch (error) {
    // The API for large pushes returns errors as the REST API does, except for the authentication challenge.
    const asText = error instanceof DomainError && (!uploads || error.code === 'unauthorized');
    if (!asText) throw error;
    return plainTextError(error);
  }
}

/** What Git's protocol is served from. */
interface Served {
  readonly repository: Repository;
  readonly repositoryId: string;
  /** Default: all that can be fetched at all. */
  readonly visible?: Visibility;
  /** Of a push. */
  readonly rules: () => Pick<ReceivePackOptions, 'authorize' | 'conclude'>;
  readonly notice?: string | undefined;
  /** Counts a fetch. */
  readonly fetched?: () => Promise<void>;
  readonly keptPacks?: KeptPacks;
}

async function servedCode(
  deps: Deps,
  access: GitAccess,
  { rest, fullPath }: GitPath,
  baseUrl: string,
): Promise<Served> {
  const { project, prefetched, hidesProposals } = access.project;
  const pusher = rest === 'git-receive-pack' ? { pusher: access.actor } : {};
  return {
    repository: openRepository(deps, project, { prefetched, ...pusher }),
    repositoryId: project.repositoryId,
    ...(hidesProposals && { visible: (name) => isFetchable(name) && besideProposals(name) }),
    rules: () => pushRules(deps, access, propose),
    notice: await movedNotice(deps, project, fullPath, baseUrl),
    fetched: () => deps.store.fetches.count(project.id, deps.now()),
    keptPacks: (name) => deps.store.keptPacks.of(project.repositoryId, name),
  };
}

/** Loaded when it is called for, because few pushes have options. */
const propose: Propose = async (...push) =>
  (await import('../../domain/merge-requests/of-pushes.ts')).proposePushed(...push);

/** Git LFS, whose code is loaded when it is called for. */
async function serveLargeFiles(
  request: Request,
  path: LfsPath,
  facts: RequestFacts,
  deps: Deps,
  admission: Admission | undefined,
): Promise<Reply> {
  const segments = decodedSegments(path.project);
  if (segments === undefined) throw noRoute();
  annotate({ route: `/:repository/info/lfs/${path.route.kind}` });
  const { serveLfs } = await import('../lfs/serve.ts');
  const credential = credentialOf(request.headers);
  let counted = false;
  return serveLfs(request, path, facts, deps, (purpose) => {
    const opening = openGit(deps, {
      credential,
      fullPath: segments.join('/'),
      purpose,
      origin: { address: facts.sourceIp, requestId: facts.requestId, baseUrl: facts.baseUrl },
      pushAccess,
      // Once, however often it asks.
      ...(admission && !counted && { admission }),
    });
    counted = true;
    return opening;
  });
}

/** Serves the paths of web pages that are not Git's. */
async function serveBesideGit(
  { url, method }: Request,
  facts: RequestFacts,
  deps: Deps,
  admission: Admission | undefined,
): Promise<Reply> {
  const { pathname, searchParams } = new URL(url);
  if (asksForImport(method, searchParams)) return serveGoGet(pathname, facts, deps, admission);
  const path = parseWebPath(pathname);
  const upload = path === undefined ? parseUploadPath(pathname) : undefined;
  if (path === undefined && upload === undefined) throw noRoute();
  annotate({ route: path === undefined ? '/:project/uploads' : `/:repository/-/${path.web}` });
  try {
    const access = await openGit(deps, {
      credential: credentialOf(facts.headers, Object.fromEntries(searchParams)),
      fullPath: path?.fullPath ?? upload!.project,
      purpose: 'read',
      web: path === undefined ? 'attachments' : 'code',
      origin: { address: facts.sourceIp, requestId: facts.requestId },
      ...(admission && { admission }),
      ...(path && { prefetch: {} }),
    });
    if (path === undefined) {
      const { serveUpload } = await import('../uploads/web.ts');
      return await serveUpload(upload!, facts, access.project, deps);
    }
    // Archives and files, which Git itself does without.
    const { serveWeb } = await import('./web.ts');
    return await serveWeb(path, searchParams, facts, access, deps);
  } catch (error) {
    if (error instanceof DomainError && error.code === 'unauthorized') return plainTextError(error);
    throw error;
  }
}

/** What to prefetch for each of Git's requests, before its body is read. @param measured whether packs are added up */
function prefetchOf(
  { rest, purpose }: GitPath,
  version: string | undefined,
  measured: boolean,
): Prefetch | undefined {
  if (rest === 'git-receive-pack') return { head: true, rules: 'both' };
  if (rest === 'git-upload-pack') return { under: [''] };
  // Protocol version 2 lists refs in the second request.
  const listsRefs = purpose === 'write' || protocolVersion(version) !== 2;
  if (rest !== 'info/refs' || !(listsRefs || measured)) return undefined;
  return { ...(listsRefs && { under: [''] as const }), packs: measured };
}

function toFront(front: string, pathname: string, service: Service): Reply {
  const Location = `${front}${pathname}?service=${service}`;
  return reply({ status: 302, headers: { Location, 'Cache-Control': 'no-cache' } });
}

/** Bytes of the packs that a clone may need. */
async function packedBytes({ objects }: Repository): Promise<number> {
  const packs = await objects.listPacks();
  const live = packs.filter(({ source }) => source !== 'unreachable-garbage');
  return live.reduce((sum, { packSize }) => sum + packSize, 0);
}

/** Ends the body only after the push, or the count of the fetch: Lambda freezes the function when the response ends. */
async function* bodyThen(
  response: SmartHttpResponse,
  counting: () => Promise<void> | undefined,
): AsyncGenerator<Uint8Array> {
  yield* response.body;
  await response.push;
  await counting();
}

/** An error as plain text, which Git prints after `remote:`. */
function plainTextError(error: DomainError): Reply {
  const status = statusOf(error.code);
  return reply({
    status,
    body: `${error.text}\n`,
    type: 'text/plain; charset=utf-8',
    headers: {
      'Cache-Control': 'no-cache',
      ...(error.retryAfter === undefined ? {} : { 'Retry-After': String(error.retryAfter) }),
      ...(status === 401 ? { 'WWW-Authenticate': CHALLENGE } : {}),
    },
  });
}
