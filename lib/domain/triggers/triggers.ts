/** Triggers: tokens that start pipelines of a project with the rights of those who made them. */

import { randomBytes } from 'node:crypto';
import type { TriggerRecord } from '../../records/triggers.ts';
import { signedIn } from '../access/permissions.ts';
import { tokenHash } from '../access/token-check.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { audited, auditedResource } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { creationError, forbidden, invalid, notFound } from '../errors.ts';
import { retryWhileStale } from '../retry-while-stale.ts';
import { sealing } from '../secrets/sealing.ts';

/** Characters. */
const MAX_DESCRIPTION = 255;
const TOKEN_BYTES = 20;

/** In the order of ids. */
export const listTriggers = (deps: Deps, { project }: ProjectAccess): Promise<TriggerRecord[]> =>
  deps.store.triggers.of(sealing(deps), project.id);

/** @throws 404 `404 Trigger Not Found` */
export async function getTrigger(deps: Deps, { project }: ProjectAccess, id: number): Promise<TriggerRecord> {
  const trigger = await deps.store.triggers.get(sealing(deps), project.id, id);
  if (trigger === undefined) throw notFound('Trigger');
  return trigger;
}

/** @throws 400 by field; 404 when the project is deleted meanwhile */
export async function createTrigger(
  deps: Deps,
  actor: Actor,
  { project }: ProjectAccess,
  description: string,
): Promise<TriggerRecord> {
  requireValid(description);
  const at = deps.now().toISOString();
  const trigger: TriggerRecord = {
    id: await deps.store.triggers.nextId(),
    projectId: project.id,
    description,
    ownerId: signedIn(actor).user.id,
    // Without a prefix, which would be all that others see of it.
    token: randomBytes(TOKEN_BYTES).toString('hex'),
    lastUsedAt: null,
    createdAt: at,
    updatedAt: at,
    version: 1,
  };
  const event = await audited(deps, actor, told('Created', project, trigger));
  try {
    await deps.store.triggers.create(sealing(deps), trigger, tokenHash(trigger.token), [event]);
    return trigger;
  } catch (error) {
    throw creationError(error, 'pipeline triggers');
  }
}

/** @throws 400 by field; 403 for another than its owner; 404; 409 */
export const describeTrigger = (
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  id: number,
  description: string | undefined,
): Promise<TriggerRecord> =>
  retryWhileStale(async () => {
    const trigger = await getTrigger(deps, access, id);
    if (trigger.ownerId !== signedIn(actor).user.id) throw forbidden();
    if (description === undefined || description === trigger.description) return trigger;
    requireValid(description);
    return deps.store.triggers.describe(trigger, description, deps.now());
  }, 'Project');

/**
 * @param unchanged called with the time of the last change; throws if that is later than the caller allows
 * @throws 404; 409
 */
export const removeTrigger = (
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  id: number,
  unchanged: (changed: string) => void,
): Promise<void> =>
  retryWhileStale(async () => {
    const trigger = await getTrigger(deps, access, id);
    unchanged(trigger.updatedAt);
    const event = await audited(deps, actor, told('Revoked', access.project, trigger));
    await deps.store.triggers.remove(trigger, tokenHash(trigger.token), [event]);
  }, 'Project');

const told = (what: string, project: ProjectAccess['project'], { id }: TriggerRecord) => ({
  entity: auditedResource('Project', project),
  details: { custom_message: `${what} pipeline trigger token with id ${id}` },
});

/** @throws 400 by field */
function requireValid(description: string): void {
  if (description.length > MAX_DESCRIPTION)
    throw invalid({ description: [`is too long (maximum is ${MAX_DESCRIPTION} characters)`] });
}
