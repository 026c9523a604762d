/** Taking alerts of monitoring tools. */

import type { AlertEndpoint } from '../../store/alerts/integrations.ts';
import { MAINTENANCE, message } from '../../store/outbox/outbox.ts';
import { tokenHash } from '../access/token-check.ts';
import type { Deps } from '../deps.ts';
import { dropRefused } from '../long-texts.ts';

export const NOTE_ALERT_JOB = 'alerts.note';

/** What a tool sends to. */
export interface AlertAddress {
  readonly fullPath: string;
  /** Undefined: the key says which. */
  readonly endpoint: string | undefined;
}

/** Why an alert is not taken. `unauthorized`: the key is wrong. `unknown`: there is no such project. */
export type Refusal = 'unauthorized' | 'forbidden' | 'unknown';

/** How long a process takes a key and an address as good that were found to be so, in ms. */
const KNOWN_MS = 5_000;
/** Keys that a process knows. */
const MAX_KNOWN = 1_000;

/** The keys that are good, the oldest first, with the time of their reading. */
const known = new WeakMap<
  Deps['store'],
  Map<string, { readonly found: AlertEndpoint; readonly at: number }>
>();

/** What this process knows is out of date: it has changed an integration. */
export const forgetKeys = ({ store }: Deps): boolean => known.delete(store);

/**
 * Whether a tool may send alerts there. Who shows no key learns nothing of which projects there are. A good key is not
 * looked up again for five seconds, so that many alerts at once cost no read each; what is refused is never remembered.
 */
export async function alertEndpoint(
  deps: Deps,
  address: AlertAddress,
  key: string | undefined,
): Promise<AlertEndpoint | Refusal> {
  if (key === undefined) return 'unauthorized';
  const hash = tokenHash(key);
  const asked = JSON.stringify([hash, address.endpoint, address.fullPath]);
  const at = deps.now().getTime();
  const before = known.get(deps.store)?.get(asked);
  if (before !== undefined && at >= before.at && at < before.at + KNOWN_MS) return before.found;
  const keys = known.get(deps.store) ?? new Map();
  known.set(deps.store, keys);
  const found = await lookedUp(deps, address, hash);
  keys.delete(asked);
  if (typeof found === 'string') return found;
  if (keys.size >= MAX_KNOWN) keys.delete(keys.keys().next().value);
  keys.set(asked, { found, at });
  return found;
}

async function lookedUp(
  { store }: Deps,
  { fullPath, endpoint }: AlertAddress,
  hash: string,
): Promise<AlertEndpoint | Refusal> {
  const [holder, { named, keyed }] = await Promise.all([
    store.names.holder('path', fullPath),
    store.alertIntegrations.receiving(endpoint, hash),
  ]);
  const projectId = holder?.type === 'project' ? holder.id : undefined;
  if (named !== undefined && named.projectId === projectId) {
    if (named.keyHash !== hash) return 'unauthorized';
    return named.active ? named : 'forbidden';
  }
  if (keyed === undefined) return 'unauthorized';
  if (keyed.projectId !== projectId) return 'unknown';
  return endpoint === undefined && keyed.active ? keyed : 'forbidden';
}

/** Whether alerts come slowly enough to be taken. @returns seconds until they are taken again; undefined: they are */
export async function alertsThrottled(deps: Deps, { projectId }: AlertEndpoint): Promise<number | undefined> {
  const settings = await deps.settings.current();
  if (!settings.throttle_incident_management_notification_enabled) return undefined;
  const limit = settings.throttle_incident_management_notification_per_period;
  const seconds = settings.throttle_incident_management_notification_period_in_seconds;
  const now = deps.now();
  if (await deps.store.rateLimits.take({ kind: 'alert', limit, seconds }, String(projectId), now))
    return undefined;
  return seconds - (Math.floor(now.getTime() / 1000) % seconds);
}

/**
 * Takes an alert. It is safe in the queue when this returns.
 * @param payload JSON. @param baseUrl of links in what it leads to
 * @throws StoreUnavailable
 */
export async function takeAlert(
  deps: Deps,
  { projectId, id: integrationId }: Pick<AlertEndpoint, 'projectId' | 'id'>,
  payload: string,
  baseUrl: string,
): Promise<void> {
  const kept = await deps.store.texts.keep(projectId, payload);
  const body = { projectId, integrationId, at: deps.now().toISOString(), payload: kept, baseUrl };
  try {
    await deps.store.outbox.send([message(MAINTENANCE, NOTE_ALERT_JOB, body)]);
  } catch (error) {
    await dropRefused(deps, kept, error);
    throw error;
  }
}
