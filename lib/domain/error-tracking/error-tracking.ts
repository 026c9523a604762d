/** Settings of error tracking, and the keys with which programs send errors. */

import { randomBytes } from 'node:crypto';
import type { ClientKey, ErrorTrackingSettings } from '../../records/error-tracking.ts';
import { Stale } from '../../store/errors.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { audited, auditedResource } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { creationError, notFound, recordNotFound } from '../errors.ts';
import { retryWhileStale } from '../retry-while-stale.ts';

const KEY_PREFIX = 'glet_';

/** @throws 404 `404 Error Tracking Setting Not Found` where there are none */
export async function getSettings(deps: Deps, { project }: ProjectAccess): Promise<ErrorTrackingSettings> {
  const settings = await deps.store.errorTracking.settings(project.id);
  if (settings === undefined) throw notFound('Error Tracking Setting');
  return settings;
}

/** @throws 404 where there are none; 409 */
export const changeSettings = (
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  change: { readonly active: boolean; readonly integrated?: boolean | undefined },
): Promise<ErrorTrackingSettings> =>
  retryWhileStale(async () => {
    const before = await getSettings(deps, access);
    return store(deps, actor, access, before, { integrated: before.integrated, ...defined(change) });
  }, 'Project');

/** Changes the settings, or makes them. @throws 404 when the project is deleted meanwhile; 409 */
export const setSettings = (
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  settings: { readonly active: boolean; readonly integrated: boolean },
): Promise<ErrorTrackingSettings> =>
  retryWhileStale(
    async () =>
      store(deps, actor, access, await deps.store.errorTracking.settings(access.project.id), settings),
    'Project',
  );

const defined = ({
  active,
  integrated,
}: {
  readonly active: boolean;
  readonly integrated?: boolean | undefined;
}) => (integrated === undefined ? { active } : { active, integrated });

async function store(
  deps: Deps,
  actor: Actor,
  { project }: ProjectAccess,
  before: ErrorTrackingSettings | undefined,
  { active, integrated }: { readonly active: boolean; readonly integrated: boolean },
): Promise<ErrorTrackingSettings> {
  if (before?.active === active && before.integrated === integrated) return before;
  const next = { projectId: project.id, active, integrated, version: (before?.version ?? 0) + 1 };
  const told = `Turned error tracking ${active ? 'on' : 'off'}${integrated ? ', by this service' : ''}`;
  await deps.store.errorTracking.put(next, before, [await eventOf(deps, actor, project, told)]);
  return next;
}

/** In the order of ids. */
export const listKeys = (deps: Deps, { project }: ProjectAccess): Promise<ClientKey[]> =>
  deps.store.errorTracking.keysOf(project.id);

/** @throws 400 when there are too many; 404 when the project is deleted meanwhile */
export async function createKey(deps: Deps, actor: Actor, { project }: ProjectAccess): Promise<ClientKey> {
  const key: ClientKey = {
    id: await deps.store.errorTracking.nextKeyId(),
    projectId: project.id,
    active: true,
    publicKey: `${KEY_PREFIX}${randomBytes(16).toString('hex')}`,
    createdAt: deps.now().toISOString(),
  };
  const event = await eventOf(deps, actor, project, `Created error tracking client key with id ${key.id}`);
  try {
    await deps.store.errorTracking.createKey(key, [event]);
    return key;
  } catch (error) {
    throw creationError(error, 'error tracking client keys');
  }
}

/**
 * @param unchanged called with the time it was created; throws if that is later than the caller allows
 * @returns the deleted key @throws 404
 */
export async function deleteKey(
  deps: Deps,
  actor: Actor,
  { project }: ProjectAccess,
  id: number,
  unchanged: (changed: string) => void,
): Promise<ClientKey> {
  const key = await deps.store.errorTracking.key(project.id, id);
  if (key === undefined) throw recordNotFound();
  unchanged(key.createdAt);
  const event = await eventOf(deps, actor, project, `Revoked error tracking client key with id ${id}`);
  try {
    await deps.store.errorTracking.removeKey(key, [event]);
  } catch (error) {
    throw error instanceof Stale ? recordNotFound() : error;
  }
  return key;
}

const eventOf = (deps: Deps, actor: Actor, project: ProjectAccess['project'], text: string) =>
  audited(deps, actor, { entity: auditedResource('Project', project), details: { custom_message: text } });
