/** What is recorded of changes to groups and projects: an event for each attribute that the audit is about. */
import type { GroupRecord } from '../../records/groups.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { Visibility } from '../../records/visibility.ts';
import type { Put } from '../../store/table/write.ts';
import type { Deps } from '../deps.ts';
import type { Namespace } from '../namespaces/place.ts';
import { type AuditAuthor, type Audited, audited, auditedResource, auditing } from './event.ts';

type Changed = Pick<
  GroupRecord | ProjectRecord,
  'id' | 'name' | 'fullPath' | 'path' | 'visibility' | 'settings'
>;
type Value = string | number | boolean | null;

/** Settings with what is in force where nobody chose. */
type Settings = Readonly<Record<string, Value>>;

const OF_GROUPS: Settings = {
  lfs_enabled: true,
  membership_lock: false,
  prevent_sharing_groups_outside_hierarchy: false,
  project_creation_level: 'developer',
  request_access_enabled: true,
  require_two_factor_authentication: false,
  share_with_group_lock: false,
  shared_runners_minutes_limit: null,
  subgroup_creation_level: 'maintainer',
  two_factor_grace_period: 48,
};

const OF_PROJECTS: Settings = {
  analytics_access_level: 'enabled',
  approvals_before_merge: 0,
  builds_access_level: 'enabled',
  container_registry_access_level: 'enabled',
  forking_access_level: 'enabled',
  issues_access_level: 'enabled',
  merge_requests_access_level: 'enabled',
  operations_access_level: 'enabled',
  packages_enabled: true,
  pages_access_level: 'private',
  public_builds: true,
  repository_access_level: 'enabled',
  request_access_enabled: true,
  requirements_access_level: 'enabled',
  snippets_access_level: 'enabled',
  wiki_access_level: 'enabled',
};

/** What is recorded of a project that is made in a namespace: in the group, too, when it comes from elsewhere. */
export function creationEvents(
  deps: Deps,
  author: AuditAuthor,
  namespace: Namespace,
  imported: boolean,
): Promise<(project: ProjectRecord) => Put>[] {
  const made = auditing(deps, author).then(
    (record) => (project: ProjectRecord) =>
      record({ entity: auditedResource('Project', project), details: { add: 'project' } }),
  );
  if (!imported || namespace.kind === 'user') return [made];
  const { group } = namespace.access;
  const brought = auditing(deps, author).then(
    (record) => (project: ProjectRecord) =>
      record({
        entity: auditedResource('Group', group),
        details: { custom_message: 'Project imported', ...targetingProject(project) },
      }),
  );
  return [made, brought];
}

export const targetingProject = ({ id, fullPath }: Pick<ProjectRecord, 'id' | 'fullPath'>) => ({
  target_id: id,
  target_type: 'Project',
  target_details: fullPath,
});

/** Nothing where nothing changes. @param is with the path that it has from then on */
export const groupChanged = (deps: Deps, author: AuditAuthor, was: Changed, is: Changed): Promise<Put[]> =>
  recorded(deps, author, auditedResource('Group', is), changes(was, is, OF_GROUPS));

/** The same. */
export const projectChanged = (deps: Deps, author: AuditAuthor, was: Changed, is: Changed): Promise<Put[]> =>
  recorded(deps, author, auditedResource('Project', is), changes(was, is, OF_PROJECTS));

/** That it stands elsewhere, and is less visible there where it is. */
export function resourceMoved(
  deps: Deps,
  author: AuditAuthor,
  kind: 'Group' | 'Project',
  was: Changed,
  is: Changed,
): Promise<Put[]> {
  const moved = { change: 'namespace', from: was.fullPath, to: is.fullPath };
  return recorded(deps, author, auditedResource(kind, is), [moved, ...visibilityChange(was, is)]);
}

/** What happened to all of it: `{ add: 'project' }`, `{ custom_message: 'Project archived' }`. */
export const happened = (
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

function changes(was: Changed, is: Changed, settings: Settings): Audited['details'][] {
  const found: Audited['details'][] = [];
  if (was.name !== is.name) found.push({ change: 'name', from: was.name, to: is.name });
  if (was.path !== is.path) found.push({ change: 'path', from: was.fullPath, to: is.fullPath });
  found.push(...visibilityChange(was, is));
  for (const [name, unset] of Object.entries(settings)) {
    const [from, to] = [was, is].map((record) => (record.settings[name] as Value | undefined) ?? unset);
    if (from !== to) found.push({ change: name, from: from!, to: to! });
  }
  return found;
}

const visibilityChange = (was: Changed, is: Changed): Audited['details'][] =>
  was.visibility === is.visibility
    ? []
    : [{ change: 'visibility', from: LEVEL_NAMES[was.visibility], to: LEVEL_NAMES[is.visibility] }];

const LEVEL_NAMES: Readonly<Record<Visibility, string>> = {
  private: 'Private',
  internal: 'Internal',
  public: 'Public',
};
