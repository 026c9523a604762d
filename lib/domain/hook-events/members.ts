/** What hooks are told of memberships, however they begin, change and end. */
import type { GroupRecord } from '../../records/groups.ts';
import type { MemberRecord } from '../../records/members.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { type HookActor, prepareHooks } from './tell.ts';

/** Of one that ended: as it was. */
export type ToldMember = Pick<MemberRecord, 'source' | 'userId' | 'accessLevel' | 'expiresAt' | 'createdAt'>;

type TellOfMember = (
  place: ProjectRecord | GroupRecord,
  member: ToldMember,
  what: 'add' | 'update' | 'remove',
) => OutboxMessage[];

/** Prepares messages for the transactions of memberships, of which hooks of groups, and of the instance, hear. */
export async function prepareMemberHooks(deps: Deps, by: Actor | HookActor): Promise<TellOfMember> {
  const tell = await prepareHooks(deps, by);
  return (place, { source, userId, accessLevel, expiresAt, createdAt }, what) =>
    tell('parentId' in place ? { kind: 'group', groupIds: [...place.ancestorIds, place.id] } : place, [
      { kind: 'member', what, source, userId, accessLevel, expiresAt, createdAt },
    ]);
}

/** Nobody did it. */
export const byNobody = ({ environment }: Deps): HookActor => ({
  actorId: null,
  baseUrl: environment.baseUrl ?? '',
});
