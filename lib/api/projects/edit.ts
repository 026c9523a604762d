import { isAdministrator } from '../../domain/actor.ts';
import { readImportUrl } from '../../domain/imports/plan.ts';
import { updateProject } from '../../domain/projects/update.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { VISIBILITIES } from '../../records/visibility.ts';
import { endpoint } from '../endpoint.ts';
import { sharedFields, topicsOf } from './fields.ts';
import { presented } from './presented.ts';
import { demandStorage, settingsOf } from './settings.ts';
import * as shapes from './shapes.ts';

const area = 'projects';

const fields = () => ({
  name: p.string(),
  visibility: p.oneOf(VISIBILITIES, { description: 'For Owners to change' }),
  ...sharedFields(),
});

/** Only administrators decide these; from others they are ignored. */
const ADMINISTRATORS = ['repository_storage', 'mirror_user_id'];

const update = endpoint({
  method: 'PUT',
  path: '/projects/:id',
  area,
  summary: 'Change a project',
  description: 'Topics take the place of those there are. A former path leads on.',
  access: project('admin_project'),
  body: () => p.params(fields(), [p.atLeastOneOf(...Object.keys(fields()))]),
  returns: { body: shapes.project },
  errors: [
    { status: 400, description: 'Invalid, by field; or nothing given' },
    { status: 409, description: 'It changed meanwhile, or the group it is in moves' },
  ],
  handle: async ({ actor, project: access, body, request }, deps) => {
    const settings = settingsOf(body);
    if (isAdministrator(actor)) demandStorage(body.repository_storage);
    else for (const name of ADMINISTRATORS) delete settings[name];
    const importUrl = body.import_url?.trim();
    if (importUrl !== undefined)
      settings['import_url'] = importUrl === '' ? null : (await readImportUrl(deps, importUrl)).source.url;
    const updated = await updateProject(deps, actor, access, {
      name: body.name,
      path: body.path,
      description: body.description,
      visibility: body.visibility,
      defaultBranch: body.default_branch,
      topics: topicsOf(body),
      avatar: body.avatar,
      settings,
    });
    return (await presented(deps, actor, [{ ...access, project: updated }], request.baseUrl, false))[0];
  },
});

export const editEndpoints = [update];
