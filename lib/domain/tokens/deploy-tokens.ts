/** Deploy tokens: read access to a project, or to all projects of a group, without a user. */

import type { MemberSource } from '../../records/members.ts';
import type { DeployTokenRecord, DeployTokenScope } from '../../records/tokens.ts';
import { LimitReached, Missing } from '../../store/errors.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import { signedIn } from '../access/permissions.ts';
import { hasEnded, TOKEN_PREFIXES, tokenHash, usualName } from '../access/token-check.ts';
import type { Actor } from '../actor.ts';
import { recordingRefusals } from '../audit-events/audited-refusals.ts';
import { audited, prepareAudited } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { badRequest, invalid, notFound, resourceNotFound } from '../errors.ts';
import { entityOf } from '../members/audit.ts';
import { type MembershipResource, sourceOf } from '../members/list.ts';
import { auditedDeployToken } from './audit.ts';
import { newTokenText } from './tokens.ts';

export interface DeployTokenInput {
  readonly name: string;
  readonly scopes: readonly DeployTokenScope[];
  readonly username: string | undefined;
  readonly expiresAt: Date | undefined;
}

interface ToldDeployToken {
  readonly token: DeployTokenRecord;
  /** Shown only once. */
  readonly text: string;
}

/** @throws 400 by field, 404. Failures are recorded too. */
export const createDeployToken = (
  deps: Deps,
  actor: Actor,
  place: MembershipResource,
  input: DeployTokenInput,
): Promise<ToldDeployToken> =>
  recordingRefusals(
    deps,
    actor,
    { entity: () => entityOf(place), what: `create ${sourceOf(place).kind} deploy token` },
    () => create(deps, actor, place, input),
  );

async function create(
  deps: Deps,
  actor: Actor,
  place: MembershipResource,
  { name, scopes, username, expiresAt }: DeployTokenInput,
): Promise<ToldDeployToken> {
  const resource = sourceOf(place);
  const problems = {
    ...(name.trim() === '' ? { name: ["can't be blank"] } : {}),
    ...(scopes.length === 0 ? { base: ["Scopes can't be blank"] } : {}),
    ...(username === undefined || /^[A-Za-z0-9._+-]+$/.test(username)
      ? {}
      : { username: ["can contain only letters, digits, '_', '-', '+', and '.'"] }),
  };
  if (Object.keys(problems).length > 0) throw invalid(problems);
  const text = newTokenText(TOKEN_PREFIXES.deploy);
  const token = {
    resource,
    name,
    scopes: [...new Set(scopes)],
    expiresAt: expiresAt?.toISOString() ?? null,
    hash: tokenHash(text),
    createdById: signedIn(actor).user.id,
  };
  const usernameOf = (id: number) => username ?? usualName(id);
  try {
    const event = await prepareAudited(deps, actor);
    const alongside = (created: DeployTokenRecord) => [
      event(auditedDeployToken('Created', entityOf(place), created)),
    ];
    const options = { usernameOf, now: deps.now(), alongside };
    return { token: await deps.store.deployTokens.create(token, options), text };
  } catch (error) {
    if (error instanceof Missing) throw resourceNotFound(resource);
    if (error instanceof LimitReached) {
      throw badRequest(`There are ${error.limit} deploy tokens: delete some first`);
    }
    throw error;
  }
}

/** Lists the deploy tokens of a project or group, or all of the instance. */
export async function listDeployTokens(
  deps: Deps,
  resource: MemberSource | undefined,
  { active, ...request }: PageRequest & { readonly active: boolean | undefined },
): Promise<Page<DeployTokenRecord>> {
  const now = deps.now();
  return deps.store.deployTokens.list({
    ...request,
    ...(resource === undefined ? {} : { resource }),
    // As in the original product, `false` does not filter.
    ...(active === true ? { where: (token: DeployTokenRecord) => !hasEnded(token, now) } : {}),
  });
}

/** @throws 404 `404 Deploy Token Not Found` */
export async function deployToken(
  deps: Deps,
  place: MembershipResource,
  id: number,
): Promise<DeployTokenRecord> {
  const { kind, id: sourceId } = sourceOf(place);
  const token = await deps.store.deployTokens.get(id);
  if (token?.resource.kind !== kind || token.resource.id !== sourceId) throw notFound('Deploy Token');
  return token;
}

/** Revokes a token, effective from the next request. @throws 404 */
export async function deleteDeployToken(
  deps: Deps,
  actor: Actor,
  place: MembershipResource,
  token: DeployTokenRecord,
): Promise<void> {
  const event = await audited(deps, actor, auditedDeployToken('Destroyed', entityOf(place), token));
  try {
    await deps.store.deployTokens.remove(token, [event]);
  } catch (error) {
    throw error instanceof Missing ? notFound('Deploy Token') : error;
  }
}
