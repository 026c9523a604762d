/** Archiving, delayed deletion and restoring of projects. */

import type { ProjectRecord } from '../../records/projects.ts';
import { NameTaken } from '../../store/errors.ts';
import type { ProjectChange } from '../../store/projects/update.ts';
import type { Write } from '../../store/table/write.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { requesterOf } from '../audit-events/event.ts';
import { auditedResourceEvent } from '../audit-events/setting-changes.ts';
import { deletionMark, scheduleDeletion } from '../deletion/mark-and-delete.ts';
import { requireProjectDeletion } from '../deletion/protection.ts';
import type { Deps } from '../deps.ts';
import { refused } from '../errors.ts';
import { MAX_NAME_LENGTH } from '../name-rules.ts';
import { deleteProject } from './projects.ts';
import { projectChangeError } from './update.ts';

/**
 * Archives or unarchives a project; an archived one is read-only. Idempotent.
 * @throws 400 for a project marked for deletion, 409 on a concurrent change
 */
export async function archiveProject(
  deps: Deps,
  actor: Actor,
  { project }: ProjectAccess,
  archived: boolean,
): Promise<ProjectRecord> {
  if (project.archived === archived) return project;
  if (isMarked(project)) throw refused('Project is marked for deletion: restore it first.');
  const done = { custom_message: archived ? 'Project archived' : 'Project unarchived' };
  const event = await auditedResourceEvent(deps, actor, 'Project', project, done);
  return translateErrors(change(deps, project, { archived }, [event]));
}

export interface DeletionInput {
  /** Delete now. Only for a project that is already marked for deletion. */
  readonly permanently?: boolean | undefined;
  /** Full path of the project, required as a confirmation. */
  readonly fullPath?: string | undefined;
}

/**
 * Marks a project in a group for deletion if delayed deletion is on: it is archived and renamed, so that its path is
 * free. Deletes other projects with immediate effect.
 * @throws 400, 403, 404, 409
 */
export async function askForDeletion(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  { permanently = false, fullPath }: DeletionInput,
): Promise<void> {
  const { project } = access;
  await requireProjectDeletion(deps, actor);
  if (permanently && isMarked(project)) {
    if (fullPath?.toLowerCase() !== project.fullPath.toLowerCase())
      throw refused('`full_path` is incorrect. You must enter the complete path for the project.');
    return deleteProject(deps, actor, access);
  }
  const mark = project.namespaceKind === 'group' ? await deletionMark(deps, 'project') : undefined;
  if (mark === undefined) return deleteProject(deps, actor, access);
  if (permanently) throw refused('Project must be marked for deletion first.');
  if (isMarked(project)) return;
  const alongside = [
    scheduleDeletion({ kind: 'project', id: project.id }, mark, requesterOf(actor)),
    await auditedResourceEvent(deps, actor, 'Project', project, {
      custom_message: 'Project marked for deletion',
    }),
  ];
  await translateErrors(
    change(deps, project, { ...putAside(project), archived: true, deletion: mark }, alongside),
  );
}

/** Cancels a delayed deletion, with the former name and path where they are still free. @throws 400, 409 */
export async function restoreProject(
  deps: Deps,
  actor: Actor,
  { project }: ProjectAccess,
): Promise<ProjectRecord> {
  if (!isMarked(project)) throw refused('Project has not been marked for deletion');
  const { name, path } = project;
  const back = { archived: false, deletion: null };
  let taken: readonly string[];
  const former = { name: withoutSuffix(project, name), path: withoutSuffix(project, path) };
  const restored = { id: project.id, fullPath: `${project.namespacePath}/${former.path}` };
  const done = { custom_message: 'Project restored' };
  try {
    const event = await auditedResourceEvent(deps, actor, 'Project', restored, done);
    return await change(deps, project, { ...back, ...former }, [event]);
  } catch (error) {
    if (!(error instanceof NameTaken)) throw projectChangeError(error);
    taken = error.names;
  }
  // What has been taken since keeps the suffix.
  const free = Object.fromEntries(Object.entries(former).filter(([field]) => !taken.includes(field)));
  const event = await auditedResourceEvent(deps, actor, 'Project', project, done);
  return translateErrors(change(deps, project, { ...back, ...free }, [event]));
}

const isMarked = ({ deletion }: ProjectRecord): boolean => (deletion ?? null) !== null;

const suffixOf = ({ id }: ProjectRecord): string => `-deleted-${id}`;

/** Returns name and path with the suffix, unless they would be too long. */
function putAside(project: ProjectRecord): Pick<ProjectChange, 'name' | 'path'> {
  const [name, path] = [project.name, project.path].map((text) => text + suffixOf(project));
  return [name!, path!].some((text) => text.length > MAX_NAME_LENGTH) ? {} : { name: name!, path: path! };
}

const withoutSuffix = (project: ProjectRecord, text: string): string => {
  const suffix = suffixOf(project);
  return text.endsWith(suffix) && text !== suffix ? text.slice(0, -suffix.length) : text;
};

async function change(
  { store, now }: Deps,
  project: ProjectRecord,
  input: ProjectChange,
  alongside: readonly Write[] = [],
): Promise<ProjectRecord> {
  const named = project.namespaceKind === 'group' && input.path !== undefined;
  const parent = named ? await store.groups.get(project.namespaceId) : undefined;
  return store.projects.update(project, input, { now: now(), parent, alongside });
}

/** Translates errors of the store. */
async function translateErrors<T>(changing: Promise<T>): Promise<T> {
  try {
    return await changing;
  } catch (error) {
    throw projectChangeError(error);
  }
}
