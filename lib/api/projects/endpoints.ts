import type { ProjectAccess } from '../../domain/access/types.ts';
import { type Actor, isAdministrator } from '../../domain/actor.ts';
import { attributeFilter } from '../../domain/custom-attributes/custom-attributes.ts';
import { invalid } from '../../domain/errors.ts';
import { readImportUrl } from '../../domain/imports/plan.ts';
import type { Namespace } from '../../domain/namespaces/place.ts';
import * as projects from '../../domain/projects/projects.ts';
import { createInitialReadme } from '../../domain/repository/readme.ts';
import { getUser } from '../../domain/users/users.ts';
import { administrator, anyone, project, signedIn } from '../../http/access.ts';
import type { UploadedFile } from '../../http/multipart.ts';
import { MAX_OFFSET } from '../../http/pagination.ts';
import * as p from '../../http/params.ts';
import type { UserRecord } from '../../records/users.ts';
import { VISIBILITIES } from '../../records/visibility.ts';
import { type ApiDeps, endpoint } from '../endpoint.ts';
import { editEndpoints } from './edit.ts';
import { defaultBranchOf, sharedFields, topicsOf } from './fields.ts';
import { lifecycleEndpoints } from './lifecycle.ts';
import { memberFilters, PROJECT_ORDERS } from './list-params.ts';
import { given, listInput } from './listing.ts';
import { importStatus as presentedImport } from './present.ts';
import { presented } from './presented.ts';
import { settingsOf } from './settings.ts';
import * as shapes from './shapes.ts';

const area = 'projects';

const list = endpoint({
  method: 'GET',
  path: '/projects',
  area,
  summary: 'List the projects that you can see',
  access: anyone(),
  query: () =>
    p.params({
      ...memberFilters(),
      id_after: p.integer({ description: 'Return only projects with an id greater than this' }),
      id_before: p.integer({ description: 'Return only projects with an id less than this' }),
      last_activity_after: p.datetime({
        description: 'Return only projects last active after this time (ISO 8601)',
      }),
      last_activity_before: p.datetime({
        description: 'Return only projects last active before this time (ISO 8601)',
      }),
      order_by: p.oneOf(
        [...PROJECT_ORDERS, 'similarity', 'repository_size', 'storage_size', 'packages_size', 'wiki_size'],
        {
          default: 'created_at',
          description: 'Field to sort the projects by; the sizes are for administrators only',
        },
      ),
      repository_checksum_failed: p.boolean({
        default: false,
        description: 'Return only projects whose repository failed a checksum; there are none',
      }),
      wiki_checksum_failed: p.boolean({
        default: false,
        description: 'Return only projects whose wiki failed a checksum; there are none',
      }),
      repository_storage: p.string({
        description: 'Return only projects in this repository storage; administrators only',
      }),
      search_namespaces: p.boolean({
        default: false,
        description: 'Include the paths of ancestor namespaces in the search',
      }),
      topic: p.list(p.string(), { description: 'Return only projects that have all of these topics' }),
      topic_id: p.integer({ description: 'Return only projects that have the topic with this id' }),
      custom_attributes: p.hash({
        description: 'Return only projects with these custom attributes; administrators only',
      }),
      with_programming_language: p.string({
        description: 'Return only projects that use this programming language',
      }),
    }),
  returns: { body: shapes.projectsListed },
  paginate: 'offset+keyset',
  keyset: { marker: 'id', orderBy: ['id'] },
  noun: 'Project',
  errors: [
    {
      status: 405,
      description: `The offset is above ${MAX_OFFSET}, or the order does not support keyset pagination`,
    },
  ],
  handle: async ({ actor, query, page, request }, deps) => {
    if (matchesNothing(deps, actor, query)) return { items: [], total: 0, more: false };
    const found = await projects.listProjects(deps, actor, {
      ...(page.kind === 'offset'
        ? { page: page.page, perPage: page.perPage, count: true }
        : { page: 1, perPage: page.perPage }),
      membership: query.membership,
      ...listInput(query, isAdministrator(actor)),
      topics: (query.topic ?? []).filter((name) => name !== ''),
      ...given({ topicId: query.topic_id }),
      ...given({
        attributes: attributeFilter(actor, query.custom_attributes),
        idAfter: query.id_after,
        idBefore: query.id_before,
        lastActivityAfter: query.last_activity_after?.toISOString(),
        lastActivityBefore: query.last_activity_before?.toISOString(),
      }),
    });
    const last = found.items.at(-1);
    return {
      items: await presented(deps, actor, found.items, request.baseUrl, query.simple, query),
      total: found.total,
      more: found.more,
      next: found.more && last !== undefined ? String(last.project.id) : undefined,
    };
  },
});

/** No project has failed a checksum. Only administrators can filter by storage. */
const matchesNothing = (
  { environment }: ApiDeps,
  actor: Actor,
  query: {
    readonly repository_checksum_failed: boolean;
    readonly wiki_checksum_failed: boolean;
    readonly repository_storage?: string;
  },
): boolean =>
  query.repository_checksum_failed ||
  query.wiki_checksum_failed ||
  (isAdministrator(actor) &&
    query.repository_storage !== undefined &&
    !Object.hasOwn(environment.storages, query.repository_storage));

const get = endpoint({
  method: 'GET',
  path: '/projects/:id',
  area,
  summary: 'Get a project',
  access: project('read_project', { anonymous: true }),
  query: () =>
    p.params({
      statistics: p.boolean({
        default: false,
        description: 'Include statistics; requires the Reporter role',
      }),
      license: p.boolean({ default: false, description: 'Include the licence of the project' }),
      with_custom_attributes: p.boolean({
        default: false,
        description: 'Include custom attributes; administrators only',
      }),
    }),
  returns: { body: shapes.projectShown },
  errors: [{ status: 404, description: 'The project does not exist, or the caller may not see it' }],
  handle: async ({ actor, project, query, request }, deps) =>
    (await presented(deps, actor, [project], request.baseUrl, false, { ...query, runnersToken: true }))[0],
});

const creation = () =>
  ({
    ...sharedFields(),
    visibility: p.oneOf(VISIBILITIES, {
      description: 'Visibility of the project; default: the setting `default_project_visibility`',
    }),
    initialize_with_readme: p.boolean({
      default: false,
      description: 'Create the repository with a commit that adds a README.md',
    }),
  }) as const;

const create = endpoint({
  method: 'POST',
  path: '/projects',
  area,
  summary: 'Create a project',
  access: signedIn(),
  body: () =>
    p.params(
      {
        name: p.string({ description: 'Name of the project; default: the path' }),
        namespace_id: p.integer({
          description: 'Id of a group to create the project in; default: your own namespace',
        }),
        template_name: p.string({ description: 'Refused: project templates are not supported' }),
        template_project_id: p.integer({ description: 'Refused: project templates are not supported' }),
        use_custom_template: p.boolean({ description: 'Refused: project templates are not supported' }),
        group_with_project_templates_id: p.integer({
          description: 'Refused: project templates are not supported',
        }),
        ...creation(),
      },
      [
        p.atLeastOneOf('name', 'path'),
        p.mutuallyExclusive('import_url', 'template_name', 'template_project_id'),
      ],
    ),
  returns: { body: shapes.project },
  errors: [
    { status: 400, description: 'Invalid values by field, for example a name that is taken' },
    { status: 403, description: 'The project limit of the user is reached' },
    { status: 429, description: 'More imports per minute than the setting `project_import_limit` allows' },
    { status: 404, description: 'The group was deleted by another request' },
    { status: 409, description: 'The group was changed by another request' },
  ],
  handle: async ({ actor, body, request }, deps) => {
    projects.requireNoTemplate(body);
    const namespace = await projects.namespaceToCreateIn(deps, actor, body.namespace_id);
    return createFor(deps, actor, actor.user, namespace, body, request.baseUrl);
  },
});

const createForUser = endpoint({
  method: 'POST',
  path: '/projects/user/:user_id',
  area,
  summary: "Create a project in a user's namespace",
  access: administrator(),
  params: () => p.params({ user_id: p.routeInteger({ description: 'Id of the user' }) }),
  body: () =>
    p.params({ name: p.string({ required: true, description: 'Name of the project' }), ...creation() }),
  returns: { body: shapes.project },
  errors: [{ status: 404, description: 'The user does not exist' }],
  handle: async ({ actor, params, body, request }, deps) => {
    const owner = await getUser(deps, actor, params.user_id);
    return createFor(deps, actor, owner, { kind: 'user', owner }, body, request.baseUrl);
  },
});

const importStatus = endpoint({
  method: 'GET',
  path: '/projects/:id/import',
  area,
  summary: 'Get the import status of a project',
  access: project('read_project'),
  returns: { body: shapes.importStatus },
  errors: [{ status: 404, description: 'The project does not exist, or the caller may not see it' }],
  handle: async ({ actor, project }) => presentedImport(project, isAdministrator(actor)),
});

export const projectEndpoints = [
  list,
  get,
  importStatus,
  create,
  createForUser,
  ...editEndpoints,
  ...lifecycleEndpoints,
];

interface CreationBody {
  readonly name?: string;
  readonly path?: string;
  readonly description?: string | null;
  readonly visibility?: (typeof VISIBILITIES)[number];
  readonly default_branch?: string;
  readonly initialize_with_readme: boolean;
  readonly import_url?: string;
  readonly repository_storage?: string;
  readonly topics?: readonly string[];
  readonly tag_list?: readonly string[];
  readonly avatar?: UploadedFile | null;
}

async function createFor(
  deps: ApiDeps,
  actor: Extract<Actor, { kind: 'user' }>,
  owner: UserRecord,
  namespace: Namespace,
  body: CreationBody,
  baseUrl: string,
) {
  const importUrl = body.import_url?.trim() ?? '';
  if (importUrl !== '' && body.initialize_with_readme) {
    throw invalid({ import_url: ['and initialize_with_readme are mutually exclusive'] });
  }
  const visibility = await projects.visibilityToCreateWith(deps, actor, namespace, body.visibility);
  const created = await projects.createProject(deps, actor, owner, namespace, {
    importOrder: importUrl === '' ? undefined : await readImportUrl(deps, importUrl),
    name: body.name,
    path: body.path,
    description: body.description ?? null,
    visibility,
    topics: topicsOf(body) ?? [],
    avatar: body.avatar,
    settings: settingsOf(body),
    storage: isAdministrator(actor) ? body.repository_storage : undefined,
    defaultBranch: defaultBranchOf(body),
  });
  const access: ProjectAccess = { project: created, level: levelIn(namespace, owner.id === actor.user.id) };
  const shown = body.initialize_with_readme ? await withReadme(deps, actor, access) : access;
  return (await presented(deps, actor, [shown], baseUrl, false))[0];
}

/** Access level of the creator in a new project: Owner in their own namespace, at least Maintainer in a group. */
function levelIn(namespace: Namespace, creator: boolean): ProjectAccess['level'] {
  if (!creator) return 0;
  if (namespace.kind === 'user') return 50;
  return namespace.access.level === 50 ? 50 : 40;
}

/** Deletes the project when the first commit fails, so that its name is free for another attempt. */
async function withReadme(deps: ApiDeps, actor: Actor, access: ProjectAccess): Promise<ProjectAccess> {
  try {
    return await createInitialReadme(deps, actor, access);
  } catch (error) {
    await projects.deleteProject(deps, actor, access).catch(() => {});
    throw error;
  }
}
