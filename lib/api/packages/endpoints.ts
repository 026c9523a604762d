import { openRequestWithDeployToken } from '../../domain/access/deploy-access.ts';
import { can } from '../../domain/access/permissions.ts';
import type { ProjectAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import * as packages from '../../domain/packages/packages.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { PACKAGE_STATUSES, type PackageFileRecord, type PackageRecord } from '../../records/packages.ts';
import { BY_ROWS, counted, endpoint } from '../endpoint.ts';
import { download, LARGE_DOWNLOAD } from '../files/download.ts';
import { contentDisposition } from '../files/present.ts';
import * as shapes from './shapes.ts';

const area = 'releases';
const path = '/projects/:id/packages';
const generic = `${path}/generic/:package_name/:package_version/:file_name` as const;
const readers = project('read_package', { anonymous: true });
const absent = { status: 404, description: 'The project has no such package or file' };
const disabled = { status: 403, description: 'The caller lacks the role, or the project has no packages' };

/** Those of the interface; of others than generic ones there is none. */
const PACKAGE_TYPES = [
  'maven',
  'npm',
  'conan',
  'nuget',
  'pypi',
  'composer',
  'generic',
  'golang',
  'debian',
  'rubygems',
  'helm',
  'terraform_module',
] as const;

const DEPLOY_TOKENS = 'Deploy tokens are taken too, in `Deploy-Token` or HTTP Basic.';

/** The largest file, as in the product; a gateway takes smaller requests. */
const MAX_FILE_BYTES = 5 * 1024 ** 3;

const packageId = () =>
  p.params({ package_id: p.integer({ required: true, description: 'ID of the package' }) });
const fileName = () =>
  p.params({
    package_name: p.string({
      required: true,
      maxLength: packages.MAX_PACKAGE_NAME,
      pattern: packages.PACKAGE_NAME,
      description: 'Letters, digits and `.`, `_`, `+`, `-`',
    }),
    package_version: p.string({
      required: true,
      maxLength: packages.MAX_PACKAGE_NAME,
      pattern: packages.PACKAGE_VERSION,
      description: 'Letters, digits and `.`, `_`, `+`, `-`, without two dots in a row',
    }),
    file_name: p.string({
      required: true,
      maxLength: packages.MAX_PACKAGE_NAME,
      pattern: packages.PACKAGE_NAME,
      description: 'Letters, digits and `.`, `_`, `+`, `-`',
    }),
  });

/** Packages as responses show them; only who may delete one is told where. */
function presenting(actor: Actor, access: ProjectAccess, baseUrl: string) {
  const { fullPath } = access.project;
  const deletes = can(actor, access, 'destroy_package');
  return ({ id, name, version, status, projectId, createdAt }: PackageRecord) => ({
    id,
    name,
    version,
    package_type: 'generic',
    status,
    _links: {
      web_path: `/${fullPath}/-/packages/${id}`,
      ...(deletes ? { delete_api_path: `${baseUrl}/api/v4/projects/${projectId}/packages/${id}` } : {}),
    },
    created_at: createdAt,
    last_downloaded_at: null,
    tags: [],
  });
}

const presentVersion = ({ id, version, createdAt }: PackageRecord) => ({
  id,
  version,
  created_at: createdAt,
  tags: [],
});

const presentFile = (file: PackageFileRecord) => ({
  id: file.id,
  package_id: file.packageId,
  created_at: file.createdAt,
  file_name: file.name,
  size: file.size,
  file_md5: file.md5,
  file_sha1: file.sha1,
  file_sha256: file.sha256,
});

/** A file as its upload is answered: where it is downloaded from too, which uploaders print. */
function presentUploaded(
  file: PackageFileRecord,
  { name, version }: packages.PackageFileName,
  baseUrl: string,
) {
  const path = [name, version, file.name].map(encodeURIComponent).join('/');
  const url = `${baseUrl}/api/v4/projects/${file.projectId}/packages/generic/${path}`;
  return { ...presentFile(file), updated_at: file.createdAt, file: { url } };
}

const upload = endpoint({
  method: 'PUT',
  path: generic,
  area,
  summary: 'Upload a file of a generic package',
  description: `Makes the package if there is none. A file of the same name stays, and the new one is downloaded. ${DEPLOY_TOKENS}`,
  access: project('create_package'),
  jobTokens: true,
  deployAccess: { scopes: ['write_package_registry'], open: openRequestWithDeployToken },
  params: fileName,
  content: 'The file',
  bodyLimit: MAX_FILE_BYTES,
  query: () =>
    p.params({
      status: p.oneOf(PACKAGE_STATUSES, {
        default: 'default',
        description: 'Of a package that is made: lists leave hidden ones out',
      }),
      select: p.oneOf(['package_file'], { description: 'Whether the answer is the file' }),
    }),
  returns: { status: 201, body: shapes.uploaded },
  errors: [disabled, { status: 413, description: 'The file is larger than 5 GiB' }],
  handle: async ({ actor, deployToken, project, params, query, content, request }, deps) => {
    const named = { name: params.package_name, version: params.package_version, file: params.file_name };
    const creatorId = deployToken?.createdById ?? actor.user.id;
    const file = await packages.uploadPackageFile(deps, creatorId, project, named, query.status, content);
    return query.select === 'package_file'
      ? presentUploaded(file, named, request.baseUrl)
      : { message: '201 Created' };
  },
});

const downloadFile = endpoint({
  method: 'GET',
  path: generic,
  area,
  summary: 'Download a file of a generic package',
  description: `The newest one of the name. ${DEPLOY_TOKENS}`,
  access: readers,
  jobTokens: true,
  deployAccess: {
    scopes: ['read_package_registry', 'write_package_registry'],
    open: openRequestWithDeployToken,
  },
  params: fileName,
  returns: { type: 'application/octet-stream', redirect: LARGE_DOWNLOAD },
  errors: [absent, disabled],
  handle: async ({ project, params }, deps) => {
    const { package_name: name, package_version: version, file_name: file } = params;
    const found = await packages.findPackageFile(deps, project, { name, version, file });
    const { store } = deps;
    const isLarge = store.downloads.isLarge(found.size);
    const content = isLarge ? { key: store.packages.keyOf(found) } : await store.packages.open(found);
    return download(deps, content, {
      type: 'application/octet-stream',
      disposition: contentDisposition('attachment', found.name),
      headers: { 'X-Content-Type-Options': 'nosniff' },
    });
  },
});

const list = endpoint({
  method: 'GET',
  path,
  area,
  summary: 'List the packages of a project',
  access: readers,
  jobTokens: true,
  query: () =>
    p.params({
      order_by: p.oneOf(['created_at', 'name', 'version', 'type'], {
        default: 'created_at',
        description: 'Field to sort by',
      }),
      sort: p.oneOf(['asc', 'desc'], { default: 'asc', description: 'Sort direction' }),
      package_type: p.oneOf(PACKAGE_TYPES, { description: 'Return only packages of this type' }),
      package_name: p.string({ description: 'Part of the name' }),
      include_versionless: p.boolean({ description: 'Generic packages always have a version' }),
      status: p.oneOf([...PACKAGE_STATUSES, 'processing', 'error'], {
        description: 'Return only packages with this status. Default: those that are not hidden',
      }),
    }),
  returns: { body: shapes.packages },
  errors: [disabled],
  ...BY_ROWS,
  handle: async ({ actor, project, query, page, request }, deps) => {
    const { order_by: order } = query;
    const found = await packages.listPackages(
      deps,
      project,
      {
        order: order === 'name' || order === 'version' ? order : 'created',
        direction: query.sort,
        name: query.package_name,
        type: query.package_type,
        status: query.status,
      },
      counted(page),
    );
    return { ...found, items: found.items.map(presenting(actor, project, request.baseUrl)) };
  },
});

const get = endpoint({
  method: 'GET',
  path: `${path}/:package_id`,
  area,
  summary: 'Get a package',
  access: readers,
  jobTokens: true,
  params: packageId,
  returns: { body: shapes.packageWithVersions },
  errors: [absent, disabled],
  handle: async ({ actor, project, params, request }, deps) => {
    const found = await packages.getPackage(deps, project, params.package_id);
    const versions = (await packages.otherVersions(deps, found)).map(presentVersion);
    return { ...presenting(actor, project, request.baseUrl)(found), versions };
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: `${path}/:package_id`,
  area,
  summary: 'Delete a package',
  access: project('destroy_package'),
  jobTokens: true,
  params: packageId,
  returns: { status: 204 },
  errors: [absent, disabled, { status: 409, description: 'Files are being added' }],
  handle: async ({ project, params, unmodifiedSince }, deps) => {
    await packages.deletePackage(deps, project, params.package_id, unmodifiedSince);
    return noContent();
  },
});

const files = endpoint({
  method: 'GET',
  path: `${path}/:package_id/package_files`,
  area,
  summary: 'List the files of a package',
  access: readers,
  jobTokens: true,
  params: packageId,
  returns: { body: shapes.packageFiles },
  errors: [absent, disabled],
  paginate: 'offset',
  handle: async ({ project, params, page }, deps) => {
    const found = await packages.listPackageFiles(deps, project, params.package_id, counted(page));
    return { ...found, items: found.items.map(presentFile) };
  },
});

const removeFile = endpoint({
  method: 'DELETE',
  path: `${path}/:package_id/package_files/:package_file_id`,
  area,
  summary: 'Delete a file of a package',
  access: project('destroy_package'),
  jobTokens: true,
  params: () =>
    p.params({
      package_id: p.integer({ required: true, description: 'ID of the package' }),
      package_file_id: p.integer({ required: true, description: 'ID of the file' }),
    }),
  returns: { status: 204 },
  errors: [absent, disabled, { status: 409, description: 'Files of the name are being added' }],
  handle: async ({ project, params, unmodifiedSince }, deps) => {
    const { package_id: id, package_file_id: fileId } = params;
    await packages.deletePackageFile(deps, project, id, fileId, unmodifiedSince);
    return noContent();
  },
});

export const packageEndpoints = [upload, downloadFile, list, get, remove, files, removeFile];
