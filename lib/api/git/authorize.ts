import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { requireSignIn } from '../../domain/access/git-access.ts';
import type { Deps } from '../../domain/deps.ts';
import { DomainError } from '../../domain/errors.ts';
import { Throttled } from '../../domain/rate-limits/throttles.ts';
import { credentialOf } from '../../http/credentials.ts';
import type { HttpDeps } from '../../http/endpoint.ts';
import { asksToPush, parseLfsPath } from '../lfs/path.ts';
import { parseUploadPath } from '../uploads/path.ts';
import { openBesideCode } from './beside-code.ts';
import { beginsPush, decodedSegments, parseGitPath, parseWebPath } from './path.ts';

/**
 * Decides whether the gateway forwards a Git request. A request that is challenged for credentials ends here, so it is
 * counted for the rate limit here; a caller over the limit is forwarded, and the function answers 429.
 * @returns false exactly when the caller is to be challenged for (other) credentials
 */
export async function mayPass(
  event: Pick<
    APIGatewayRequestAuthorizerEvent,
    'path' | 'headers' | 'queryStringParameters' | 'httpMethod' | 'requestContext'
  >,
  deps: Deps & Pick<HttpDeps, 'admissions'>,
): Promise<boolean> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(event.queryStringParameters ?? {})) query.set(name, value ?? '');
  const lfs = parseLfsPath(event.path);
  const git = lfs === undefined ? parseGitPath(event.path, query) : undefined;
  const web = (lfs ?? git) === undefined ? parseWebPath(event.path) : undefined;
  const upload = (lfs ?? git ?? web) === undefined ? parseUploadPath(event.path) : undefined;
  const fullPath =
    (git ?? web)?.fullPath ?? upload?.project ?? (lfs && decodedSegments(lfs.project)?.join('/'));
  if (fullPath === undefined) return true;
  // A push is redirected, and challenged at its destination.
  if (git !== undefined && deps.environment.gitFrontUrl !== undefined && beginsPush(git)) return true;
  const purpose = lfs !== undefined && asksToPush(lfs, event.httpMethod) ? 'write' : (git?.purpose ?? 'read');
  const headers = new Headers();
  for (const [name, value] of Object.entries(event.headers ?? {})) {
    if (value !== undefined && /^(authorization|private-token)$/i.test(name)) headers.set(name, value);
  }
  const credential = credentialOf(headers, (web ?? upload) && Object.fromEntries(query));
  const admission = deps.admissions?.begin(
    { kind: 'web', method: event.httpMethod, path: event.path },
    event.requestContext?.identity?.sourceIp ?? '',
  );
  try {
    if (credential.kind === 'none' && admission?.isFull(admission.stranger))
      await admission.admit(admission.stranger);
    const request = { credential, fullPath, purpose };
    if (git !== undefined && git.of.kind !== 'code') await openBesideCode(deps, git, request);
    else
      await requireSignIn(deps, {
        ...request,
        ...(web && { web: 'code' }),
        ...(upload && { web: 'attachments' }),
      });
    return true;
  } catch (error) {
    if (error instanceof Throttled) return true;
    if (!(error instanceof DomainError)) throw error;
    if (error.code !== 'unauthorized') return true;
  }
  return (
    admission?.admit(admission.stranger).then(
      () => false,
      () => true,
    ) ?? false
  );
}
