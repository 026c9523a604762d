/** Audit events of changes to groups and projects: one event for each audited attribute that changed. */
import type { GroupRecord } from '../../records/groups.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { Visibility } from '../../records/visibility.ts';
import type { Put } from '../../store/table/write.ts';
import type { Deps } from '../deps.ts';
import type { Namespace } from '../namespaces/place.ts';
import { AUDITED_SETTINGS, type SettingDefaults, type SettingValue } from './audited-settings.ts';
import { type AuditAuthor, type Audited, audited, auditedResource, prepareAudited } from './event.ts';

type Changed = Pick<
  GroupRecord | ProjectRecord,
  'id' | 'name' | 'fullPath' | 'path' | 'visibility' | 'settings'
>;
/** Audit events of the creation of a project; an import is also recorded in the group. */
export function creationEvents(
  deps: Deps,
  author: AuditAuthor,
  namespace: Namespace,
  imported: boolean,
): Promise<(project: ProjectRecord) => Put>[] {
  const created = prepareAudited(deps, author).then(
    (record) => (project: ProjectRecord) =>
      record({ entity: auditedResource('Project', project), details: { add: 'project' } }),
  );
  if (!imported || namespace.kind === 'user') return [created];
  const { group } = namespace.access;
  const importedInto = prepareAudited(deps, author).then(
    (record) => (project: ProjectRecord) =>
      record({
        entity: auditedResource('Group', group),
        details: { custom_message: 'Project imported', ...targetingProject(project) },
      }),
  );
  return [created, importedInto];
}

export const targetingProject = ({ id, fullPath }: Pick<ProjectRecord, 'id' | 'fullPath'>) => ({
  target_id: id,
  target_type: 'Project',
  target_details: fullPath,
});

/** Empty if no audited attribute changed. @param current the new state, with its new path */
export const groupChanged = (
  deps: Deps,
  author: AuditAuthor,
  previous: Changed,
  current: Changed,
): Promise<Put[]> =>
  recorded(
    deps,
    author,
    auditedResource('Group', current),
    changes(previous, current, AUDITED_SETTINGS.groups),
  );

/** Like {@link groupChanged}, for a project. */
export const projectChanged = (
  deps: Deps,
  author: AuditAuthor,
  previous: Changed,
  current: Changed,
): Promise<Put[]> =>
  recorded(
    deps,
    author,
    auditedResource('Project', current),
    changes(previous, current, AUDITED_SETTINGS.projects),
  );

/** The move to another namespace, and the change of visibility if the move lowers it. */
export function resourceMoved(
  deps: Deps,
  author: AuditAuthor,
  kind: 'Group' | 'Project',
  previous: Changed,
  current: Changed,
): Promise<Put[]> {
  const moved = { change: 'namespace', from: previous.fullPath, to: current.fullPath };
  return recorded(deps, author, auditedResource(kind, current), [
    moved,
    ...visibilityChange(previous, current),
  ]);
}

/** An event about the resource as a whole: `{ add: 'project' }`, `{ custom_message: 'Project archived' }`. */
export const auditedResourceEvent = (
  deps: Deps,
  author: AuditAuthor,
  kind: 'Group' | 'Project',
  record: Pick<Changed, 'id' | 'fullPath'>,
  details: Audited['details'],
): Promise<Put> => audited(deps, author, { entity: auditedResource(kind, record), details });

const recorded = (
  deps: Deps,
  author: AuditAuthor,
  entity: Audited['entity'],
  all: readonly Audited['details'][],
): Promise<Put[]> => Promise.all(all.map((details) => audited(deps, author, { entity, details })));

function changes(previous: Changed, current: Changed, settings: SettingDefaults): Audited['details'][] {
  const all: Audited['details'][] = [];
  if (previous.name !== current.name) all.push({ change: 'name', from: previous.name, to: current.name });
  if (previous.path !== current.path)
    all.push({ change: 'path', from: previous.fullPath, to: current.fullPath });
  all.push(...visibilityChange(previous, current));
  for (const [name, unset] of Object.entries(settings)) {
    const [from, to] = [previous, current].map(
      (record) => (record.settings[name] as SettingValue | undefined) ?? unset,
    );
    if (from !== to) all.push({ change: name, from: from!, to: to! });
  }
  return all;
}

const visibilityChange = (previous: Changed, current: Changed): Audited['details'][] =>
  previous.visibility === current.visibility
    ? []
    : [{ change: 'visibility', from: LEVEL_NAMES[previous.visibility], to: LEVEL_NAMES[current.visibility] }];

const LEVEL_NAMES: Readonly<Record<Visibility, string>> = {
  private: 'Private',
  internal: 'Internal',
  public: 'Public',
};
