import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import type { Deps } from '../../domain/deps.ts';
import { DomainError } from '../../domain/errors.ts';
import { openGit } from '../../domain/git-access.ts';
import { credentialOf } from '../../http/credentials.ts';
import { beginsPush, parseGitPath } from './path.ts';

/** @returns false exactly when the caller is to be asked for (other) credentials */
export async function mayPass(
  event: Pick<APIGatewayRequestAuthorizerEvent, 'path' | 'headers' | 'queryStringParameters'>,
  deps: Deps,
): Promise<boolean> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(event.queryStringParameters ?? {})) query.set(name, value ?? '');
  const path = parseGitPath(event.path, query);
  if (path === undefined) return true;
  // Whoever pushes is sent on and asked there.
  if (deps.environment.gitFrontUrl !== undefined && beginsPush(path)) return true;
  const headers = new Headers();
  for (const [name, value] of Object.entries(event.headers ?? {})) {
    if (value !== undefined && /^(authorization|private-token)$/i.test(name)) headers.set(name, value);
  }
  try {
    await openGit(deps, {
      credential: credentialOf(headers),
      fullPath: path.fullPath,
      purpose: path.purpose,
    });
    return true;
  } catch (error) {
    if (error instanceof DomainError) return error.code !== 'unauthorized';
    throw error;
  }
}
