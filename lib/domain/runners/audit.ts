/** Audit events of runners, recorded in the project, group or instance that they take jobs of. */
import type { RunnerPlace, RunnerRecord } from '../../records/runners.ts';
import { AUDITED_INSTANCE, type Audited, type AuditedEntity, auditedSource } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';

/** Where a runner was registered; of a project that is gone only the id is known. */
export const placeOf = ({ groupId, projectIds }: RunnerRecord): RunnerPlace =>
  groupId !== null
    ? { kind: 'group', id: groupId }
    : projectIds[0] === undefined
      ? { kind: 'instance' }
      : { kind: 'project', id: projectIds[0] };

export async function entityOfPlace({ store }: Deps, place: RunnerPlace): Promise<AuditedEntity> {
  if (place.kind === 'instance') return AUDITED_INSTANCE;
  const { kind, id } = place;
  const record = kind === 'group' ? await store.groups.get(id) : await store.projects.get(id);
  return auditedSource(kind, { id, fullPath: record?.fullPath ?? '' });
}

export const auditedRunner = (
  entity: AuditedEntity,
  { id, description }: Pick<RunnerRecord, 'id' | 'description'>,
  text: string,
): Audited => ({
  entity,
  details: {
    custom_message: text,
    target_id: id,
    target_type: 'Runner',
    target_details: description,
  },
});

/** `instance CI runner` */
export const kindOf = ({ type }: Pick<RunnerRecord, 'type'>): string =>
  `${type.replace('_type', '')} CI runner`;
