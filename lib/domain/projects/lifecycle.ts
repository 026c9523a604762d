/** Archives, deletions that may be taken back, and back again. */

import type { ProjectRecord } from '../../records/projects.ts';
import { NameTaken } from '../../store/errors.ts';
import type { ProjectChange } from '../../store/projects/update.ts';
import type { Write } from '../../store/table/write.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { requesterOf } from '../audit-events/event.ts';
import { happened } from '../audit-events/setting-changes.ts';
import { deletionMark, scheduleDeletion } from '../deletion/mark-and-delete.ts';
import { requireProjectDeletion } from '../deletion/protection.ts';
import type { Deps } from '../deps.ts';
import { refused } from '../errors.ts';
import { MAX_NAME_LENGTH } from '../name-rules.ts';
import { deleteProject } from './projects.ts';
import { projectChangeError } from './update.ts';

/**
 * Whether a project takes changes of its content. Nothing to do where it is so already.
 * @throws 400 for one that waits for its deletion, 409 when it changed meanwhile
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
  const event = await happened(deps, actor, 'Project', project, done);
  return told(change(deps, project, { archived }, [event]));
}

export interface DeletionInput {
  /** Without waiting any longer, which only a project can be asked for that waits already. */
  readonly permanently?: boolean | undefined;
  /** Of that project, so that it is the one that was meant. */
  readonly fullPath?: string | undefined;
}

/**
 * Projects in groups wait for some days where the instance has it so: archived, under another name, so that theirs is
 * free. All others are gone at once.
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
    await happened(deps, actor, 'Project', project, { custom_message: 'Project marked for deletion' }),
  ];
  await told(change(deps, project, { ...putAside(project), archived: true, deletion: mark }, alongside));
}

/** Takes a deletion back, under the former name where that is still free. @throws 400, 409 */
export async function restoreProject(
  deps: Deps,
  actor: Actor,
  { project }: ProjectAccess,
): Promise<ProjectRecord> {
  if (!isMarked(project)) throw refused('Project has not been marked for deletion');
  const { name, path } = project;
  const back = { archived: false, deletion: null };
  const former = { name: withoutSuffix(project, name), path: withoutSuffix(project, path) };
  const restored = { id: project.id, fullPath: `${project.namespacePath}/${former.path}` };
  const done = { custom_message: 'Project restored' };
  try {
    const event = await happened(deps, actor, 'Project', restored, done);
    return await change(deps, project, { ...back, ...former }, [event]);
  } catch (error) {
    if (!(error instanceof NameTaken)) throw projectChangeError(error);
  }
  // Somebody else has the path by now; the name need not be the only one.
  const event = await happened(deps, actor, 'Project', project, done);
  return told(change(deps, project, { ...back, name: former.name }, [event]));
}

const isMarked = ({ deletion }: ProjectRecord): boolean => (deletion ?? null) !== null;

const suffixOf = ({ id }: ProjectRecord): string => `-deleted-${id}`;

/** Where there is room for it. */
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

/** With errors for the caller. */
async function told<T>(changing: Promise<T>): Promise<T> {
  try {
    return await changing;
  } catch (error) {
    throw projectChangeError(error);
  }
}
