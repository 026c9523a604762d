/** Audit events of variables: which one, never what it holds. */

import type { CiVariable, VariableOwner } from '../../records/ci-variables.ts';
import type { Audited, AuditedEntity } from '../audit-events/event.ts';

const TYPES: Readonly<Record<VariableOwner['kind'], string>> = {
  instance: 'Ci::InstanceVariable',
  group: 'Ci::GroupVariable',
  project: 'Ci::Variable',
  schedule: 'Ci::PipelineScheduleVariable',
};

const target = ({ owner, id, key }: CiVariable) => ({
  target_id: id,
  target_type: TYPES[owner.kind],
  target_details: key,
});

export const auditedVariable = (
  what: 'add' | 'remove',
  entity: AuditedEntity,
  variable: CiVariable,
): Audited => ({ entity, details: { [what]: 'ci_variable', ...target(variable) } });

const TOLD = [
  ['protected', 'variable protection'],
  ['masked', 'variable masking'],
  ['environmentScope', 'variable environment scope'],
  ['type', 'variable type'],
  ['raw', 'variable expansion'],
] as const;

/** One for each property that changes. */
export function auditedChanges(entity: AuditedEntity, previous: CiVariable, next: CiVariable): Audited[] {
  const changes = TOLD.filter(([name]) => previous[name] !== next[name]).map(([name, change]) => ({
    change,
    from: String(previous[name]),
    to: String(next[name]),
  }));
  return [...changes, ...(previous.value === next.value ? [] : [{ change: 'variable value' }])].map(
    (details) => ({ entity, details: { ...details, ...target(next) } }),
  );
}
