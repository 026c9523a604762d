/**
 * Events for hooks, promised in the transaction of the change that they are about: one message for each change, however many
 * hooks hear of it, and none where there is no hook. A worker finds the hooks.
 */
import type { HookCounts } from '../../records/hooks.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { MAINTENANCE, messageInOrder, type OutboxMessage } from '../../store/outbox/outbox.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import type { HookEvent } from './events.ts';

export const TELL_HOOKS_JOB = 'hook.tell';

/** Where something happened: in a project, in a group (its id and those above), or to the instance. */
export type HookScene =
  | { readonly kind: 'project'; readonly id: number; readonly groupIds: readonly number[] }
  | { readonly kind: 'group'; readonly groupIds: readonly number[] }
  | { readonly kind: 'system' };

/** Who did it. Plain data, for messages. */
export interface HookActor {
  readonly actorId: number | null;
  readonly baseUrl: string;
}

export interface ToldToHooks extends HookActor {
  readonly scene: HookScene;
  readonly events: readonly HookEvent[];
  /** When it happened; ISO 8601. */
  readonly at: string;
}

/** Of events that hooks of the instance hear of. */
const HEARD_BY_SYSTEM: ReadonlySet<HookEvent['kind']> = new Set([
  'push',
  'merge-request',
  'record',
  'member',
]);

/** Bytes of a message, which a queue limits. */
const MAX_BYTES = 150_000;

/** @returns the message for the transaction of the change; none where no hook can hear of it */
export async function tellHooks(
  deps: Deps,
  by: Actor | HookActor,
  place: HookPlace,
  events: readonly HookEvent[],
): Promise<OutboxMessage[]> {
  return events.length === 0 ? [] : (await prepareHooks(deps, by))(place, events);
}

type HookPlace = ProjectRecord | Exclude<HookScene, { kind: 'project' }>;

/** Like {@link tellHooks}, for what has no id yet. */
export async function prepareHooks(
  deps: Deps,
  by: Actor | HookActor,
): Promise<(place: HookPlace, events: readonly HookEvent[]) => OutboxMessage[]> {
  const counts = await deps.settings.hooks();
  return (place, events) => told(deps, counts, by, place, events);
}

function told(
  deps: Deps,
  { group, system, integrations }: HookCounts,
  by: Actor | HookActor,
  place: HookPlace,
  events: readonly HookEvent[],
): OutboxMessage[] {
  const scene: HookScene =
    'kind' in place ? place : { kind: 'project', id: place.id, groupIds: place.ancestorIds };
  const heard =
    (integrations > 0 && scene.kind === 'project') ||
    ('kind' in place ? 0 : (place.hooksCount ?? 0) + (place.integrationsCount ?? 0)) > 0 ||
    (group > 0 && scene.kind !== 'system' && scene.groupIds.length > 0) ||
    (system > 0 && events.some(({ kind }) => HEARD_BY_SYSTEM.has(kind)));
  if (!heard) return [];
  const body = { scene, events, at: deps.now().toISOString(), ...whoOf(deps, by) } satisfies ToldToHooks;
  if (Buffer.byteLength(JSON.stringify(body)) > MAX_BYTES) return [];
  return [messageInOrder(MAINTENANCE, TELL_HOOKS_JOB, { list: listOf(scene, events), body })];
}

/** What is told in its order: what happens to one project, or within one top-level group. */
function listOf(scene: HookScene, [event]: readonly HookEvent[]): string {
  const projectId =
    scene.kind === 'project' ? scene.id : event?.kind === 'record' && event.attributes['project_id'];
  if (typeof projectId === 'number') return `hooks/project/${projectId}`;
  return scene.kind === 'group' && scene.groupIds[0] !== undefined
    ? `hooks/group/${scene.groupIds[0]}`
    : 'hooks/instance';
}

const whoOf = (deps: Deps, by: Actor | HookActor): HookActor =>
  'kind' in by
    ? {
        actorId: by.kind === 'user' ? by.user.id : null,
        baseUrl: by.origin?.baseUrl ?? deps.environment.baseUrl ?? '',
      }
    : { actorId: by.actorId, baseUrl: by.baseUrl };
