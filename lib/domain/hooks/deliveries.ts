/** Deliveries of events to hooks: what one is, and those that were made. */
import { createHash, randomUUID } from 'node:crypto';
import { deflateSync, inflateSync } from 'node:zlib';
import { ulid } from 'ulid';
import type { HookDelivery, HookRecord } from '../../records/hooks.ts';
import type { IntegrationRecord } from '../../records/integrations.ts';
import type { NewDelivery } from '../../store/hooks/deliveries.ts';
import { MAINTENANCE, message } from '../../store/outbox/outbox.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import type { Deps } from '../deps.ts';
import { recordNotFound } from '../errors.ts';
import { getHook, type HookPlace } from './hooks.ts';
import type { Payload } from './payloads/parts.ts';

/** The job that makes the next call of a hook. */
export const NEXT_CALL_JOB = 'hook.next';

/** Bytes of a deflated payload: it is in a row, and in a message. */
const MAX_PAYLOAD = 128 * 1024;

/** Three digits. */
export const three = (n: number): string => String(n).padStart(3, '0');

export function newDelivery(
  deps: Deps,
  listener: Pick<HookRecord, 'id' | 'owner'> | IntegrationRecord,
  { trigger, event, causedBy = [] }: Pick<HookDelivery, 'trigger' | 'event' | 'causedBy'>,
  id: string,
  eventId: string,
  payload: Uint8Array,
): NewDelivery {
  const { id: hookId, owner } = listener;
  const slug = 'slug' in listener ? { slug: listener.slug } : {};
  return {
    delivery: {
      id,
      hookId,
      eventId,
      trigger,
      event: owner.kind === 'system' && !('slug' in listener) ? 'System Hook' : event,
      payload,
      state: 'waiting',
      attempts: 0,
      createdAt: deps.now().toISOString(),
      key: randomUUID(),
      ...(causedBy.length === 0 ? {} : { causedBy }),
    },
    message: message(MAINTENANCE, NEXT_CALL_JOB, { owner, hookId, ...slug }),
  };
}

/** The same for all hooks, and at every attempt. */
export function eventIdOf(order: string): string {
  const hex = createHash('sha256').update(order).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Leaves the files of commits out of a payload that is too large, then all commits, then cuts long texts. */
export function deflatedPayload(body: Payload['body']): Uint8Array {
  const commits = body['commits'] as readonly object[] | undefined;
  const attempts = [
    () => body,
    () => ({ ...body, commits: commits?.map((each) => ({ ...each, added: [], modified: [], removed: [] })) }),
    () => ({ ...body, commits: [] }),
    () => JSON.parse(JSON.stringify(body, (_, value) => cutText(value))) as Payload['body'],
  ];
  for (const attempt of attempts) {
    const deflated = deflateSync(JSON.stringify(attempt()));
    if (deflated.length <= MAX_PAYLOAD) return deflated;
  }
  return deflateSync(JSON.stringify({ object_kind: body['object_kind'], event_name: body['event_name'] }));
}

const cutText = (value: unknown): unknown =>
  typeof value === 'string' ? value.slice(0, 1_000) : Array.isArray(value) ? value.slice(0, 100) : value;

/** Recent deliveries, the newest first. @throws 404 */
export async function listDeliveries(
  deps: Deps,
  place: HookPlace,
  hookId: number,
  request: PageRequest,
): Promise<Page<HookDelivery>> {
  const hook = await getHook(deps, place, hookId);
  return deps.store.hookDeliveries.page(hook.id, request);
}

/** What a delivery sends, as JSON. */
export const payloadOf = ({ payload }: HookDelivery): unknown =>
  JSON.parse(inflateSync(payload).toString('utf8'));

/** Sends a delivery once more, as a new one with the same event. @throws 404 */
export async function resendDelivery(
  deps: Deps,
  place: HookPlace,
  hookId: number,
  deliveryId: string,
): Promise<HookDelivery> {
  const hook = await getHook(deps, place, hookId);
  const delivery = await deps.store.hookDeliveries.get(hook.id, deliveryId);
  if (delivery === undefined) throw recordNotFound();
  const id = `${ulid(deps.now().getTime())}-000000`;
  const again = newDelivery(deps, hook, delivery, id, delivery.eventId, delivery.payload);
  await deps.store.hookDeliveries.enqueue([again], deps.now());
  return again.delivery;
}
