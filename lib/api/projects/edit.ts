import { isAdministrator } from '../../domain/actor.ts';
import { invalid } from '../../domain/errors.ts';
import { readImportUrl } from '../../domain/imports/plan.ts';
import { updateProject } from '../../domain/projects/update.ts';
import { requireMovable, scheduleMove } from '../../domain/storage-moves/schedule.ts';
import { currentStorage, storedSubject } from '../../domain/storage-moves/subjects.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { VISIBILITIES } from '../../records/visibility.ts';
import { type ApiDeps, endpoint } from '../endpoint.ts';
import { defaultBranchOf, sharedFields, topicsOf } from './fields.ts';
import { presented } from './presented.ts';
import { settingsOf } from './settings.ts';
import * as shapes from './shapes.ts';

const area = 'projects';

const fields = () => ({
  name: p.changedText({ description: 'Name of the project' }),
  visibility: p.oneOf(VISIBILITIES, { description: 'Visibility of the project; only Owners can change it' }),
  ...sharedFields(),
  path: p.changedText({ description: 'Path of the project below its namespace' }),
});

/** Settings that only administrators can change; ignored for other callers. */
const ADMINISTRATOR_SETTINGS = ['mirror_user_id'];

const update = endpoint({
  method: 'PUT',
  path: '/projects/:id',
  area,
  summary: 'Update a project',
  description:
    '`topics` replaces all existing topics. After a change of path the former path still leads to the project.',
  access: project('admin_project'),
  body: () => p.params(fields(), [p.atLeastOneOf(...Object.keys(fields()))]),
  returns: { body: shapes.project },
  errors: [
    { status: 400, description: 'Invalid values by field, or no parameter given' },
    {
      status: 409,
      description: 'The project was changed by another request, or its group is being transferred',
    },
  ],
  handle: async ({ actor, project: access, body, request }, deps) => {
    const settings = settingsOf(body);
    const storage = isAdministrator(actor) ? body.repository_storage : undefined;
    const moves = storage !== undefined && isElsewhere(deps, access.project, storage);
    if (!isAdministrator(actor)) for (const name of ADMINISTRATOR_SETTINGS) delete settings[name];
    const importUrl = body.import_url?.trim();
    if (importUrl !== undefined)
      settings['import_url'] = importUrl === '' ? null : (await readImportUrl(deps, importUrl)).source.url;
    const updated = await updateProject(deps, actor, access, {
      name: body.name,
      path: body.path,
      description: body.description,
      visibility: body.visibility,
      defaultBranch: defaultBranchOf(body),
      topics: topicsOf(body),
      avatar: body.avatar,
      settings,
    });
    if (moves) await scheduleMove(deps, storedSubject('project', updated), storage);
    return (await presented(deps, actor, [{ ...access, project: updated }], request.baseUrl, false))[0];
  },
});

/** @throws 400 where there is no such storage, or the project is being moved */
function isElsewhere(deps: ApiDeps, record: ProjectRecord, storage: string): boolean {
  if (!Object.hasOwn(deps.environment.storages, storage))
    throw invalid({ repository_storage: ['is not included in the list'] });
  const subject = storedSubject('project', record);
  if (currentStorage(subject) === storage) return false;
  requireMovable(deps, subject, storage);
  return true;
}

export const editEndpoints = [update];
