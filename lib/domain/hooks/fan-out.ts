import { ulid } from 'ulid';
import { FAILURES_UNTIL_OFF, type HookOwner, type HookRecord } from '../../records/hooks.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { NewDelivery } from '../../store/hooks/deliveries.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import { hookCall } from '../../telemetry/correlation.ts';
import type { Deps } from '../deps.ts';
import { conflict, unprocessable } from '../errors.ts';
import type { HookEvent } from '../hook-events/events.ts';
import type { ToldToHooks } from '../hook-events/tell.ts';
import { contentsFor, listens } from '../integrations/deliveries.ts';
import { integrationsAround } from '../integrations/effective.ts';
import { mailsFor } from '../integrations/mails.ts';
import type { JobContext, JobOutcome } from '../job.ts';
import { patternMatcher } from '../refs/pattern.ts';
import { cloneRoot } from '../repository/clone-url.ts';
import { deflatedPayload, eventIdOf, newDelivery, three } from './deliveries.ts';
import { getHook, type HookPlace } from './hooks.ts';
import { notePayloads } from './payloads/notes.ts';
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
import { issuePayloads, mergeRequestPayloads } from './payloads/tracked.ts';
import { causingHooks, mayHear } from './recursion.ts';

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
  if (event.kind === 'record') return recordPayloads(deps, facts, event);
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
