import type { MemberSource } from '../../records/members.ts';
import { type EventTarget, eventWrite, type PushRecord } from '../../store/events/events.ts';
import type { EventAction } from '../../store/events/facet.ts';
import type { Put } from '../../store/table/write.ts';
import type { Deps } from '../deps.ts';

/** An action of a user in a project, or with an epic of a group. */
export interface Activity {
  readonly authorId: number;
  /** 0: it is of a group. */
  readonly projectId: number;
  readonly groupId?: number;
  readonly action: EventAction;
  readonly target?: EventTarget;
  readonly push?: PushRecord;
  /** The created project was imported. */
  readonly imported?: boolean;
}

/**
 * Creates the write of an event for the feeds of its project and author. It belongs in the transaction of the action
 * (`alongside`), so that refused actions leave no event.
 */
export const activity = async (deps: Deps, input: Activity): Promise<Put> =>
  (await prepareActivity(deps))(input);

/** Like {@link activity}, for a target without an ID yet: allocates the event's ID now, in parallel with other reads. */
export async function prepareActivity(deps: Deps): Promise<(input: Activity) => Put> {
  const id = await deps.store.events.nextId();
  return ({ target = null, push = null, imported, ...event }) =>
    eventWrite({
      ...event,
      id,
      target,
      push,
      ...(imported === true ? { imported } : {}),
      createdAt: deps.now().toISOString(),
    });
}

/** The event of a membership that starts or ends in a project; none in a group. */
export async function membershipActivity(
  deps: Deps,
  source: MemberSource,
  authorId: number,
  action: 'joined' | 'left' | 'expired',
): Promise<Put[]> {
  return source.kind === 'project' ? [await activity(deps, { projectId: source.id, authorId, action })] : [];
}
