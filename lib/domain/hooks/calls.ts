import { deflateSync } from 'node:zlib';
import { CALL_HOOK_JOB, type HookOrder, type HookOutcome } from '../../outbound/hook-call.ts';
import {
  FAILURES_UNTIL_OFF,
  FAILURES_UNTIL_PAUSE,
  type HookDelivery,
  type HookOwner,
  type HookRecord,
} from '../../records/hooks.ts';
import type { IntegrationRecord } from '../../records/integrations.ts';
import { HOOK_TOKEN, secretOwner } from '../../store/hooks/hooks.ts';
import { MAINTENANCE, message, messageAt, OUTBOUND, outboxWrite } from '../../store/outbox/outbox.ts';
import type { Deps } from '../deps.ts';
import type { Content } from '../integrations/calls/call.ts';
import { contentsAfter, orderFor } from '../integrations/deliveries.ts';
import { deflatedPayload, NEXT_CALL_JOB, payloadOf, three } from './deliveries.ts';
import { allowedFor } from './hooks.ts';
import { callHeader } from './recursion.ts';

/** How long a call may take from its order to the report. Beyond it another order may be made. */
const LEASE_MS = 15 * 60_000;

/** Whose queue it is: of a hook, or of an integration with this slug. */
interface Listener {
  readonly owner: HookOwner;
  readonly hookId: number;
  readonly slug?: string;
}

/** What is called, as long as it is: it has not failed too often, and is the one that the delivery was meant for. */
async function listenerOf(
  { store }: Deps,
  { owner, hookId, slug }: Listener,
): Promise<HookRecord | IntegrationRecord | undefined> {
  if (slug === undefined) {
    const hook = await store.hookRecords.get(owner, hookId);
    return hook !== undefined && hook.failures < FAILURES_UNTIL_OFF ? hook : undefined;
  }
  const integration = await store.integrations.get(owner, slug);
  return integration?.id === hookId && integration.active && !integration.inherits ? integration : undefined;
}

/**
 * Orders the next call of a hook or an integration, unless one is under way: then the report of that continues. Who gives the
 * lease up looks once more, so that no delivery is left that came in between.
 * @param holder of the lease: the message that this runs for
 */
export async function nextCall(deps: Deps, which: Listener, holder: string): Promise<void> {
  const { hookDeliveries } = deps.store;
  const { owner, hookId, slug } = which;
  for (;;) {
    const listener = await listenerOf(deps, which);
    if (listener === undefined) return;
    if (!(await hookDeliveries.take(hookId, holder, deps.now(), LEASE_MS))) return;
    const id = await hookDeliveries.first(hookId);
    const delivery = id === undefined ? undefined : await hookDeliveries.get(hookId, id);
    if (delivery !== undefined) {
      const order = await orderOf(deps, listener, delivery);
      const about = {
        owner,
        hookId,
        deliveryId: delivery.id,
        holder,
        ...(slug === undefined ? {} : { slug }),
      };
      await deps.store.outbox.send([message(OUTBOUND, CALL_HOOK_JOB, { ...about, order })]);
      return;
    }
    if (id !== undefined) await hookDeliveries.drop(hookId, id);
    await hookDeliveries.release(hookId, holder);
    if ((await hookDeliveries.first(hookId)) === undefined) return;
  }
}

async function orderOf(
  deps: Deps,
  hook: HookRecord | IntegrationRecord,
  delivery: HookDelivery,
): Promise<HookOrder> {
  if ('slug' in hook) {
    const content = payloadOf(delivery) as Content;
    const { body, headers, ...order } = await orderFor(deps, hook, content, delivery.event);
    return {
      ...order,
      headers: { ...headers, ...callHeader(delivery) },
      payload: deflateSync(body).toString('base64'),
    };
  }
  const [token, allow] = await Promise.all([
    hook.hasToken ? tokenOf(deps, hook) : undefined,
    allowedFor(deps, hook.owner),
  ]);
  return {
    url: hook.url,
    headers: { ...headersOf(deps, delivery, token), ...callHeader(delivery) },
    payload: Buffer.from(delivery.payload).toString('base64'),
    anyCertificate: !hook.verifiesTls,
    allow,
  };
}

function tokenOf({ secrets }: Deps, { id }: HookRecord): Promise<string | undefined> {
  if (secrets === undefined) throw new Error('this Lambda function has no access to the master key');
  return secrets.read(secretOwner(id), HOOK_TOKEN);
}

function headersOf(
  { environment }: Deps,
  { event, eventId }: HookDelivery,
  token: string | undefined,
): Record<string, string> {
  const own = environment.serviceName;
  const named = (name: string) => ({
    [`X-${name}-Event`]: event,
    [`X-${name}-Event-UUID`]: eventId,
    [`X-${name}-Instance`]: environment.baseUrl ?? '',
    ...(token === undefined ? {} : { [`X-${name}-Token`]: headerText(token) }),
  });
  return {
    'Content-Type': 'application/json',
    'User-Agent': own,
    ...named('Gitlab'),
    ...(own === 'Gitlab' ? {} : named(own)),
  };
}

/** A header has no line breaks, and bytes alone. */
const headerText = (text: string): string => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '');

const FIRST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 3_600_000;
const RETRIED_FOR_MS = 24 * 3_600_000;

const pauseAfter = (failures: number): number =>
  Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 10), LONGEST_PAUSE_MS);

/** Answers about this call alone, which another attempt would get again. */
const isFinal = ({ status, failure }: HookOutcome): boolean =>
  failure === 'bad-url' ||
  (status !== null && status >= 400 && status < 500 && ![408, 425, 429].includes(status));

const isSuccess = ({ status }: HookOutcome): boolean => status !== null && status >= 200 && status < 300;

/** Notes what became of a call, and orders the next one, or the next attempt. May run twice. */
export async function callEnded(
  deps: Deps,
  report: {
    readonly owner: HookOwner;
    readonly hookId: number;
    readonly deliveryId: string;
    readonly holder: string;
    readonly slug?: string;
    readonly outcome: HookOutcome;
  },
  messageId: string,
): Promise<void> {
  const { owner, hookId, deliveryId, holder, outcome, slug } = report;
  const which = { owner, hookId, ...(slug === undefined ? {} : { slug }) };
  const [hook, integration, delivery] = await Promise.all([
    slug === undefined ? deps.store.hookRecords.get(owner, hookId) : undefined,
    slug === undefined ? undefined : listenerOf(deps, which),
    deps.store.hookDeliveries.get(hookId, deliveryId),
  ]);
  if (delivery === undefined) return;
  const now = deps.now();
  const success = isSuccess(outcome);
  const failures = success ? 0 : (hook?.failures ?? 0) + 1;
  const retryAt = now.getTime() + pauseAfter(delivery.attempts + 1);
  const inTime = retryAt - Date.parse(delivery.createdAt) < RETRIED_FOR_MS;
  const state = success ? 'delivered' : isFinal(outcome) || !inTime ? 'failed' : 'waiting';
  // Integrations have no pauses of their own.
  const pausedUntil =
    failures >= FAILURES_UNTIL_PAUSE ? now.getTime() + pauseAfter(failures - FAILURES_UNTIL_PAUSE + 1) : 0;
  const resumesAt = success ? 0 : Math.max(state === 'waiting' ? retryAt : 0, pausedUntil);
  const health = {
    failures,
    disabledUntil: pausedUntil === 0 ? null : new Date(resumesAt).toISOString(),
  };
  const later =
    resumesAt === 0 ? [] : [outboxWrite(messageAt(MAINTENANCE, NEXT_CALL_JOB, which, new Date(resumesAt)))];
  const next = success && integration !== undefined ? nextDeliveries(integration, delivery, outcome) : [];
  const settled = await deps.store.hookDeliveries.settle(
    holder,
    {
      owner,
      hook,
      ...(hook !== undefined && (hook.failures !== failures || hook.disabledUntil !== health.disabledUntil)
        ? { health }
        : {}),
      delivery,
      answer: {
        ...outcome,
        body: outcome.body.slice(0, KEPT_ANSWER),
        url: hook?.url ?? '',
        at: now.toISOString(),
      },
      state,
      notBefore: resumesAt === 0 ? undefined : resumesAt,
      alongside: [...later, ...next.flatMap((each) => deps.store.hookDeliveries.waits(each, now))],
    },
    now,
  );
  if (settled && resumesAt === 0) await nextCall(deps, which, messageId);
}

/** Characters of an answer that are kept. */
const KEPT_ANSWER = 8 * 1024;

/** What an integration is to be told after an answer: before all that waits. */
function nextDeliveries(
  listener: HookRecord | IntegrationRecord,
  delivery: HookDelivery,
  { body }: HookOutcome,
): HookDelivery[] {
  if (!('slug' in listener)) return [];
  const contents = contentsAfter(listener, payloadOf(delivery) as Content, body);
  const { answer: _, ...rest } = delivery;
  return contents.map((content, index) => ({
    ...rest,
    id: `${delivery.id}-${three(index)}`,
    payload: deflatedPayload(content),
    state: 'waiting',
    attempts: 0,
  }));
}

/** The headers of a delivery, without the token. */
export const shownHeaders = (deps: Deps, hook: HookRecord, delivery: HookDelivery): Record<string, string> =>
  headersOf(deps, delivery, hook.hasToken ? '[REDACTED]' : undefined);
