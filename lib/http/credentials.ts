/** Finds the credential of a request: in a header, or in a parameter for clients that cannot set headers. */

import { JOB_USERNAME, TOKEN_PREFIXES } from '../domain/access/token-check.ts';
import type { Credential } from '../domain/actor.ts';

/** Parameters that contain secrets: never included in links or logs. */
export const SECRET_PARAMETERS: ReadonlySet<string> = new Set(['private_token', 'access_token', 'job_token']);

type Parameters = Readonly<Record<string, unknown>>;

/** The first of `PRIVATE-TOKEN`, `private_token`, `Authorization: Bearer`, `access_token`, HTTP Basic's password. */
export function credentialOf(headers: Headers, parameters: Parameters = {}): Credential {
  const authorization = headers.get('authorization') ?? '';
  return (
    token(headers.get('private-token'), 'private-token') ??
    token(textOf(parameters, 'private_token'), 'private-token') ??
    token(/^bearer +(\S+) *$/i.exec(authorization)?.[1], 'bearer') ??
    token(textOf(parameters, 'access_token'), 'bearer') ??
    basic(authorization) ?? { kind: 'none' }
  );
}

/**
 * The token of a job, for endpoints that take one: it counts before every other credential. In HTTP Basic the user name
 * says that it is one.
 */
export function jobCredentialOf(headers: Headers, parameters: Parameters = {}): Credential | undefined {
  const shown = basic(headers.get('authorization') ?? '');
  return (
    token(headers.get('job-token'), 'job-token') ??
    token(textOf(parameters, 'job_token'), 'job-token') ??
    (shown?.username === JOB_USERNAME ? token(shown.token, 'job-token') : undefined)
  );
}

/** A deploy token, for endpoints that take one: `Deploy-Token`, or the password of HTTP Basic under any user name. */
export function deployCredentialOf(headers: Headers): Credential | undefined {
  const shown = basic(headers.get('authorization') ?? '');
  return (
    token(headers.get('deploy-token'), 'deploy-token') ??
    (shown?.token.startsWith(TOKEN_PREFIXES.deploy) ? token(shown.token, 'deploy-token') : undefined)
  );
}

/** The id or username of the `Sudo` header or the `sudo` parameter. */
export function sudoOf(headers: Headers, parameters: Parameters = {}): string | undefined {
  const sudo = headers.get('sudo')?.trim() || textOf(parameters, 'sudo')?.trim();
  return sudo === undefined || sudo === '' ? undefined : sudo;
}

function token(
  text: string | null | undefined,
  via: Extract<Credential, { kind: 'token' }>['via'],
): Extract<Credential, { kind: 'token' }> | undefined {
  const trimmed = text?.trim() ?? '';
  // No valid token is this long; the limit bounds the cost of hashing and logging untrusted input.
  return trimmed === '' ? undefined : { kind: 'token', token: trimmed.slice(0, 4096), via };
}

/** HTTP Basic (RFC 7617): the password is the token. Only Git checks the user name, of deploy tokens. */
function basic(authorization: string): Extract<Credential, { kind: 'token' }> | undefined {
  const encoded = /^basic +([A-Za-z0-9+/_-]+=*) *$/i.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  const password = colon < 0 ? undefined : token(decoded.slice(colon + 1), 'basic');
  return password && { ...password, username: decoded.slice(0, Math.min(colon, 255)) };
}

function textOf(parameters: Parameters, name: string): string | undefined {
  const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined;
}
