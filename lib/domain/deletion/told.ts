import type { GroupRecord } from '../../records/groups.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import type { Requester } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { groupEvents, projectEvent } from '../hook-events/records.ts';
import { tellHooks } from '../hook-events/tell.ts';

/** What hooks hear of a project or group that is deleted, for the transaction that does it. @param by who asked for it */
export function toldOfDeletion(
  deps: Deps,
  record: ProjectRecord | GroupRecord,
  by: Requester | undefined,
): Promise<OutboxMessage[]> {
  const doer = {
    actorId: deleterIn(by).deleterId ?? null,
    baseUrl: deps.environment.baseUrl ?? '',
  };
  return 'parentId' in record
    ? tellHooks(
        deps,
        doer,
        { kind: 'group', groupIds: record.ancestorIds },
        groupEvents('destroy', record, undefined),
      )
    : tellHooks(deps, doer, { kind: 'system' }, [projectEvent('destroy', record)]);
}

/** Who deletes, for the worker that removes what there was. */
export const deleterIn = (by: Requester | undefined): { readonly deleterId?: number } =>
  by === undefined || by.authorId < 0 ? {} : { deleterId: by.authorId };
