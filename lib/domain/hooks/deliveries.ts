/** From an event to calls of hooks: who hears of it, what they are sent, and what becomes of each call. */
import { createHash, randomUUID } from 'node:crypto';
import { deflateSync, inflateSync } from 'node:zlib';
import { ulid } from 'ulid';
import { CALL_HOOK_JOB, type HookOrder, type HookOutcome } from '../../outbound/hook-call.ts';
import {
  FAILURES_UNTIL_OFF,
  FAILURES_UNTIL_PAUSE,
  type HookDelivery,
  type HookOwner,
  type HookRecord,
} from '../../records/hooks.ts';
import type { IntegrationRecord } from '../../records/integrations.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { NewDelivery } from '../../store/hooks/deliveries.ts';
import { HOOK_TOKEN, secretOwner } from '../../store/hooks/hooks.ts';
import {
  MAINTENANCE,
  message,
  messageAt,
  OUTBOUND,
  type OutboxMessage,
  outboxWrite,
} from '../../store/outbox/outbox.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import { hookCall } from '../../telemetry/correlation.ts';
import type { Deps } from '../deps.ts';
import { conflict, recordNotFound, unprocessable } from '../errors.ts';
import type { HookEvent } from '../hook-events/events.ts';
import type { ToldToHooks } from '../hook-events/tell.ts';
import type { Content } from '../integrations/calls/call.ts';
import { contentsAfter, contentsFor, listens, orderFor } from '../integrations/deliveries.ts';
import { integrationsAround } from '../integrations/effective.ts';
import { mailsFor } from '../integrations/mails.ts';
import type { JobContext, JobOutcome } from '../job.ts';
import { patternMatcher } from '../refs/pattern.ts';
import { cloneRoot } from '../repository/clone-url.ts';
import { allowedFor, getHook, type HookPlace } from './hooks.ts';
import {
  deploymentPayloads,
  madePayloads,
  memberPayloads,
  recordPayloads,
  releasePayloads,
  wikiPagePayloads,
} from './payloads/others.ts';
import type { Facts, Payload, ProjectFacts } from './payloads/parts.ts';
import { jobPayloads, pipelinePayloads } from './payloads/pipelines.ts';
import { pushPayloads } from './payloads/push.ts';
import { issuePayloads, mergeRequestPayloads, notePayloads } from './payloads/tracked.ts';
import { callHeader, causingHooks, mayHear } from './recursion.ts';

/** The job that makes the next call of a hook. */
export const NEXT_CALL_JOB = 'hook.next';

/** Bytes of a deflated payload: it is in a row, and in a message. */
const MAX_PAYLOAD = 128 * 1024;

/** What an event leads to. */
interface Prepared {
  readonly deliveries: readonly NewDelivery[];
  readonly mails: readonly OutboxMessage[];
}

/**
 * What an event is to be delivered as. It is the same when it is prepared again.
 * @param id of the message that promised it. @param call of a hook, to which it goes back
 */
async function prepare(
  deps: Deps,
  told: ToldToHooks,
  id: string,
  call: string | undefined,
): Promise<Prepared> {
  const { scene } = told;
  const [causedBy, allHooks, allIntegrations] = await Promise.all([
    causingHooks(deps.store.hookDeliveries, call),
    hooksAround(deps, told),
    scene.kind === 'project' ? integrationsAround(deps, scene.id, scene.groupIds) : [],
  ]);
  const hooks = allHooks.filter((hook) => mayHear(causedBy, hook));
  const integrations = allIntegrations.filter((integration) => mayHear(causedBy, integration));
  if (hooks.length + integrations.length === 0) return NOTHING;
  const [facts, project] = await Promise.all([
    factsOf(deps, told),
    scene.kind === 'project' ? deps.store.projects.get(scene.id) : undefined,
  ]);
  const all: NewDelivery[] = [];
  const mails: OutboxMessage[] = [];
  for (const [e, event] of told.events.entries()) {
    const payloads = await payloadsOf(
      deps,
      project,
      facts,
      event,
      (trigger) =>
        hooks.some(({ switches }) => switches.includes(trigger)) ||
        integrations.some((integration) => listens(integration, trigger)),
    );
    for (const [p, payload] of payloads.entries()) {
      const order = `${id}-${three(e)}${three(p)}`;
      const hearing = hooks.filter((hook) => hears(hook, payload));
      if (hearing.length > 0) {
        const deflated = deflatedPayload(payload.body);
        for (const hook of hearing)
          all.push(newDelivery(deps, hook, { ...payload, causedBy }, order, eventIdOf(order), deflated));
      }
      if (project === undefined || !payload.for.includes('project')) continue;
      for (const integration of integrations) {
        mails.push(...(await mailsFor(deps, integration, project, payload, facts.user, order)));
        const contents = await contentsFor(deps, integration, project, payload, facts.baseUrl);
        for (const [c, content] of contents.entries())
          all.push(
            newDelivery(
              deps,
              integration,
              { ...payload, causedBy },
              `${order}-${three(c)}`,
              eventIdOf(order),
              deflatedPayload(content),
            ),
          );
      }
    }
  }
  return { deliveries: all, mails };
}

const NOTHING: Prepared = { deliveries: [], mails: [] };

/** Puts an event into the queues of all hooks that hear of it. May run twice. */
async function deliver(deps: Deps, { deliveries, mails }: Prepared): Promise<void> {
  await deps.store.hookDeliveries.enqueue(deliveries, deps.now());
  if (mails.length > 0) await deps.store.outbox.send(mails);
}

/** Delivers an event that a message of an earlier release has. @param id of the message */
export const deliverEvent = async (deps: Deps, told: ToldToHooks, id: string): Promise<void> =>
  deliver(deps, await prepare(deps, told, id, hookCall()));

/** Events whose payloads are made at once. */
const AT_ONCE = 5;

/** The promise of a message, in its list. */
export interface ListedPromise {
  readonly list: string;
  readonly id: string;
}

/**
 * Delivers what is promised in a list up to a message, in the order of the promises. Workers that do so at the same time
 * write the same rows. A message that comes for the last time is delivered alone: nothing waits for it any more, and it for
 * nothing.
 */
export async function deliverInOrder(
  deps: Deps,
  { list, id: messageId }: ListedPromise,
  { lastDelivery, deadline }: Pick<JobContext, 'lastDelivery' | 'deadline'>,
): Promise<JobOutcome> {
  const { promisesInOrder: promises } = deps.store;
  if (lastDelivery) await promises.waitNoMore(list, messageId);
  for (;;) {
    const found = lastDelivery
      ? [await promises.get(list, messageId)].filter((promise) => promise !== undefined)
      : await promises.upTo(list, messageId, AT_ONCE);
    if (found.length === 0) return true;
    if (Date.now() > deadline) return { body: { list, id: messageId } };
    const prepared = await Promise.all(
      found.map(({ id, body, hookCall: call }) => prepare(deps, body as unknown as ToldToHooks, id, call)),
    );
    for (const [i, { id }] of found.entries()) {
      await deliver(deps, prepared[i]!);
      await promises.kept(list, id);
    }
  }
}

const three = (n: number): string => String(n).padStart(3, '0');

function newDelivery(
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
function eventIdOf(order: string): string {
  const hex = createHash('sha256').update(order).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

async function hooksAround({ store }: Deps, { scene }: ToldToHooks): Promise<HookRecord[]> {
  const groups = scene.kind === 'system' ? [] : scene.groupIds;
  const owners: HookOwner[] = [
    ...(scene.kind === 'project' ? [{ kind: 'project', id: scene.id } as const] : []),
    ...groups.map((id) => ({ kind: 'group', id }) as const),
    { kind: 'system' },
  ];
  const found = await Promise.all(owners.map((owner) => store.hookRecords.of(owner)));
  return found.flat().filter(({ failures }) => failures < FAILURES_UNTIL_OFF);
}

async function factsOf(deps: Deps, { actorId, baseUrl, at }: ToldToHooks): Promise<Facts> {
  const [user, root] = await Promise.all([
    actorId === null ? undefined : deps.store.users.get(actorId),
    cloneRoot(deps, baseUrl),
  ]);
  return { user, baseUrl, cloneRoot: root, at };
}

function hears({ owner, switches, branchFilter }: HookRecord, payload: Payload): boolean {
  if (!payload.for.includes(owner.kind)) return false;
  if (payload.always !== true && !switches.includes(payload.trigger)) return false;
  if (payload.branch === undefined || branchFilter === null) return true;
  return patternMatcher(branchFilter)(payload.branch);
}

async function payloadsOf(
  deps: Deps,
  project: ProjectRecord | undefined,
  facts: Facts,
  event: HookEvent,
  wants: (trigger: Payload['trigger']) => boolean,
): Promise<Payload[]> {
  if (event.kind === 'member') return memberPayloads(deps, facts, event);
  if (event.kind === 'record') return recordPayloads(facts, event);
  if (project === undefined || project.deletedAt !== null) return [];
  const within: ProjectFacts = { ...facts, project };
  switch (event.kind) {
    case 'push':
      return pushPayloads(deps, within, event, wants);
    case 'issue':
      return issuePayloads(deps, within, event);
    case 'merge-request':
      return mergeRequestPayloads(deps, within, event);
    case 'note':
      return notePayloads(deps, within, event);
    case 'release':
      return releasePayloads(deps, within, event);
    case 'wiki-page':
      return wikiPagePayloads(deps, within, event);
    case 'deployment':
      return deploymentPayloads(deps, within, event);
    case 'pipeline':
      return pipelinePayloads(deps, within, event);
    case 'job':
      return jobPayloads(deps, within, event);
    case 'made':
      return madePayloads(within, event);
  }
}

/** Leaves the files of commits out of a payload that is too large, then all commits, then cuts long texts. */
function deflatedPayload(body: Payload['body']): Uint8Array {
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

/** The headers of a delivery, without the token. */
export const shownHeaders = (deps: Deps, hook: HookRecord, delivery: HookDelivery): Record<string, string> =>
  headersOf(deps, delivery, hook.hasToken ? '[REDACTED]' : undefined);

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

/**
 * Sends an example of a kind of event, also to a hook that is called no more: if it answers, it is called again.
 * @throws 404; 422 where there is nothing to make an example of
 */
export async function testHook(
  deps: Deps,
  place: HookPlace,
  hookId: number,
  told: Omit<ToldToHooks, 'at' | 'events'>,
  event: HookEvent | Payload,
): Promise<void> {
  const hook = await getHook(deps, place, hookId);
  const facts = await factsOf(deps, { ...told, at: deps.now().toISOString(), events: [] });
  const { scene } = told;
  const project = scene.kind === 'project' ? await deps.store.projects.get(scene.id) : undefined;
  const payloads = 'trigger' in event ? [event] : await payloadsOf(deps, project, facts, event, () => true);
  const payload = payloads.find(({ for: kinds }) => kinds.includes(hook.owner.kind));
  if (payload === undefined) throw unprocessable('There is nothing that the event could be about');
  if (hook.failures >= FAILURES_UNTIL_OFF)
    await deps.store.hookRecords
      .change(hook, { failures: FAILURES_UNTIL_OFF - 1, disabledUntil: null }, [])
      .catch(() => {
        throw conflict('The hook was changed by other requests: try again');
      });
  await deps.store.hookDeliveries.resume(hook.id);
  const order = `${ulid(deps.now().getTime())}-000000`;
  const deflated = deflatedPayload(payload.body);
  const made = newDelivery(deps, hook, payload, order, eventIdOf(order), deflated);
  await deps.store.hookDeliveries.enqueue([made], deps.now());
}
