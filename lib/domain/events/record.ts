import type { MemberSource } from '../../records/members.ts';
import {
  type EventAction,
  type EventTarget,
  eventWrite,
  type PushRecord,
} from '../../store/events/events.ts';
import type { Put } from '../../store/table/write.ts';
import type { Deps } from '../deps.ts';

/** What somebody did in a project. */
export interface Activity {
  readonly authorId: number;
  readonly projectId: number;
  readonly action: EventAction;
  readonly target?: EventTarget;
  readonly push?: PushRecord;
  /** A project that was created from elsewhere. */
  readonly imported?: boolean;
}

/**
 * Tells in the feeds of a project and of its author what was done: the row goes into the transaction that does it
 * (`alongside`), so that what was refused is told nowhere.
 */
export const activity = async (deps: Deps, input: Activity): Promise<Put> => (await telling(deps))(input);

/** As {@link activity}, for what has no id yet: the event's own is taken now, beside other round trips. */
export async function telling(deps: Deps): Promise<(input: Activity) => Put> {
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

/** What comings and goings in a project tell; in a group they tell nothing. */
export async function membershipActivity(
  deps: Deps,
  source: MemberSource,
  authorId: number,
  action: 'joined' | 'left' | 'expired',
): Promise<Put[]> {
  return source.kind === 'project' ? [await activity(deps, { projectId: source.id, authorId, action })] : [];
}
