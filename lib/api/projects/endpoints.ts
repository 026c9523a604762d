import type { ProjectAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import { isAdministrator } from '../../domain/actor.ts';
import { wantedAttributes } from '../../domain/custom-attributes/custom-attributes.ts';
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
import { forkEndpoints } from '../forks/endpoints.ts';
import { editEndpoints } from './edit.ts';
import { sharedFields, topicsOf } from './fields.ts';
import { lifecycleEndpoints } from './lifecycle.ts';
import { given, listInput } from './listing.ts';
import { importStatus as presentedImport } from './present.ts';
import { presented } from './presented.ts';
import { STORAGE, settingsOf } from './settings.ts';
import * as shapes from './shapes.ts';

const area = 'projects';

const list = endpoint({
  method: 'GET',
  path: '/projects',
  area,
  summary: 'List the projects you may see',
  access: anyone(),
  query: () =>
    p.params({
      archived: p.boolean({ description: 'Only archived, or only others' }),
      id_after: p.integer({ description: 'Only greater ids' }),
      id_before: p.integer({ description: 'Only smaller ids' }),
      last_activity_after: p.datetime(),
      last_activity_before: p.datetime(),
      membership: p.boolean({ default: false, description: 'Only where you are a member' }),
      min_access_level: p.integer({
        values: [10, 20, 30, 40, 50],
        description: 'Only where you hold this level',
      }),
      order_by: p.oneOf(
        [
          'id',
          'name',
          'path',
          'created_at',
          'updated_at',
          'last_activity_at',
          'similarity',
          'repository_size',
          'storage_size',
          'packages_size',
          'wiki_size',
        ],
        { default: 'created_at', description: 'Sizes are for administrators' },
      ),
      owned: p.boolean({ default: false, description: 'Only your own' }),
      repository_checksum_failed: p.boolean({ default: false }),
      wiki_checksum_failed: p.boolean({ default: false }),
      repository_storage: p.string({ description: 'Administrators' }),
      search_namespaces: p.boolean({ default: false }),
      search: p.string({ description: 'Part of a name or path' }),
      simple: p.boolean({ default: false, description: 'Only the basic fields' }),
      sort: p.oneOf(['asc', 'desc'], { default: 'desc' }),
      starred: p.boolean({ default: false }),
      statistics: p.boolean({ default: false }),
      topic: p.list(p.string(), { description: 'Only with all of these topics' }),
      visibility: p.oneOf(VISIBILITIES),
      custom_attributes: p.hash({ description: 'Administrators: only projects with these attributes' }),
      with_custom_attributes: p.boolean({ default: false, description: 'Administrators' }),
      with_issues_enabled: p.boolean({ default: false }),
      with_merge_requests_enabled: p.boolean({ default: false }),
      with_programming_language: p.string(),
    }),
  returns: { body: shapes.projectsListed },
  paginate: 'offset+keyset',
  keyset: { marker: 'id', orderBy: ['id'] },
  noun: 'Project',
  errors: [
    { status: 405, description: `An offset above ${MAX_OFFSET}, or an order that keyset does not know` },
  ],
  handle: async ({ actor, query, page, request }, deps) => {
    if (asksForNone(actor, query)) return { items: [], total: 0, more: false };
    const found = await projects.listProjects(deps, actor, {
      ...(page.kind === 'offset'
        ? { page: page.page, perPage: page.perPage, count: true }
        : { page: 1, perPage: page.perPage }),
      membership: query.membership,
      ...listInput(query, isAdministrator(actor)),
      ...given({
        attributes: wantedAttributes(actor, query.custom_attributes),
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

/** No project has failed a checksum; there is one storage, and administrators alone may ask where anything lies. */
const asksForNone = (
  actor: Actor,
  query: {
    readonly repository_checksum_failed: boolean;
    readonly wiki_checksum_failed: boolean;
    readonly repository_storage?: string;
  },
): boolean =>
  query.repository_checksum_failed ||
  query.wiki_checksum_failed ||
  (isAdministrator(actor) && (query.repository_storage ?? STORAGE) !== STORAGE);

const get = endpoint({
  method: 'GET',
  path: '/projects/:id',
  area,
  summary: 'Get a project',
  access: project('read_project', { anonymous: true }),
  query: () =>
    p.params({
      statistics: p.boolean({ default: false }),
      license: p.boolean({ default: false }),
      with_custom_attributes: p.boolean({ default: false }),
    }),
  returns: { body: shapes.projectShown },
  errors: [{ status: 404, description: 'Absent, or not yours to see' }],
  handle: async ({ actor, project, query, request }, deps) =>
    (await presented(deps, actor, [project], request.baseUrl, false, query))[0],
});

const creation = () =>
  ({
    ...sharedFields(),
    visibility: p.oneOf(VISIBILITIES, { description: "The instance's default when absent" }),
    initialize_with_readme: p.boolean({ default: false }),
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
        name: p.string(),
        namespace_id: p.integer({ description: 'Of a group; your own namespace when absent' }),
        template_name: p.string(),
        template_project_id: p.integer(),
        use_custom_template: p.boolean(),
        group_with_project_templates_id: p.integer(),
        ...creation(),
      },
      [
        p.atLeastOneOf('name', 'path'),
        p.mutuallyExclusive('import_url', 'template_name', 'template_project_id'),
      ],
    ),
  returns: { body: shapes.project },
  errors: [
    { status: 400, description: 'Invalid or taken name, by field' },
    { status: 403, description: 'The project limit is reached' },
    { status: 429, description: 'More imports in a minute than the settings allow' },
    { status: 404, description: 'The group was deleted meanwhile' },
    { status: 409, description: 'The group changed meanwhile' },
  ],
  handle: async ({ actor, body, request }, deps) => {
    projects.demandNoTemplate(body);
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
  body: () => p.params({ name: p.string({ required: true }), ...creation() }),
  returns: { body: shapes.project },
  errors: [{ status: 404, description: 'No such user' }],
  handle: async ({ actor, params, body, request }, deps) => {
    const owner = await getUser(deps, actor, params.user_id);
    return createFor(deps, actor, owner, { kind: 'user', owner }, body, request.baseUrl);
  },
});

const importStatus = endpoint({
  method: 'GET',
  path: '/projects/:id/import',
  area,
  summary: "How far the import of a project's repository is",
  access: project('read_project'),
  returns: { body: shapes.importStatus },
  errors: [{ status: 404, description: 'Absent, or not yours to see' }],
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
  ...forkEndpoints,
];

interface CreationBody {
  readonly name?: string;
  readonly path?: string;
  readonly description?: string | null;
  readonly visibility?: (typeof VISIBILITIES)[number];
  readonly default_branch?: string;
  readonly initialize_with_readme: boolean;
  readonly import_url?: string;
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
  const made = await projects.createProject(deps, actor, owner, namespace, {
    importOrder: importUrl === '' ? undefined : await readImportUrl(deps, importUrl),
    name: body.name,
    path: body.path,
    description: body.description ?? null,
    visibility,
    topics: topicsOf(body) ?? [],
    avatar: body.avatar,
    settings: settingsOf(body),
    defaultBranch: body.default_branch,
  });
  const access: ProjectAccess = { project: made, level: levelIn(namespace, owner.id === actor.user.id) };
  const shown = body.initialize_with_readme ? await withReadme(deps, actor, access) : access;
  return (await presented(deps, actor, [shown], baseUrl, false))[0];
}

/** What its creator holds in a new project: they own their namespace, and are Maintainers in a group at least. */
function levelIn(namespace: Namespace, creator: boolean): ProjectAccess['level'] {
  if (!creator) return 0;
  if (namespace.kind === 'user') return 50;
  return namespace.access.level === 50 ? 50 : 40;
}

/** A project that cannot get its first commit is not kept: the request failed, and its name is free again. */
async function withReadme(deps: ApiDeps, actor: Actor, access: ProjectAccess): Promise<ProjectAccess> {
  try {
    return await createInitialReadme(deps, actor, access);
  } catch (error) {
    await projects.deleteProject(deps, actor, access).catch(() => {});
    throw error;
  }
}
