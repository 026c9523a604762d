import type { ProjectAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import * as releases from '../../domain/releases/releases.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { accepted, json, reply } from '../../http/reply.ts';
import { LINK_TYPES, type ReleaseRecord } from '../../records/releases.ts';
import { type ApiDeps, counted, endpoint } from '../endpoint.ts';
import { accepted as acceptedShape } from '../meta/shapes.ts';
import { linkEndpoints } from './links.ts';
import { presented } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'releases';
const absent = { status: 404, description: 'The tag has no release' };
const guarded = {
  status: 403,
  description: 'The caller may not change releases, or not of this protected tag',
};
const tagName = () => p.params({ tag_name: p.string({ required: true, description: 'Name of the tag' }) });
const html = () =>
  p.params({
    include_html_description: p.boolean({
      default: false,
      description: 'Whether the answer has the description as HTML too',
    }),
  });

const shown = async (
  deps: ApiDeps,
  actor: Actor,
  access: ProjectAccess,
  release: ReleaseRecord,
  options: Parameters<typeof presented>[4],
) => (await presented(deps, actor, access, [release], options))[0]!;

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/releases',
  area,
  summary: 'List the releases of a project',
  description: 'Callers who may not read code see neither tags nor source code.',
  access: project('read_release', { anonymous: true }),
  jobTokens: true,
  query: () =>
    p.params({
      order_by: p.oneOf(['released_at', 'created_at'], {
        default: 'released_at',
        description: 'Field to sort the releases by',
      }),
      sort: p.oneOf(['asc', 'desc'], { default: 'desc', description: 'Sort direction' }),
      include_html_description: p.boolean({
        default: false,
        description: 'Whether releases have their description as HTML too',
      }),
    }),
  returns: { body: shapes.releases },
  paginate: 'offset',
  handle: async ({ actor, project, query, page, request: { baseUrl } }, deps) => {
    const order = query.order_by === 'released_at' ? 'released' : 'created';
    const found = await releases.listReleases(deps, project, order, query.sort, counted(page));
    const options = { baseUrl, html: query.include_html_description };
    return { ...found, items: await presented(deps, actor, project, found.items, options) };
  },
});

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/releases/:tag_name',
  area,
  summary: 'Get a release',
  access: project('read_code', { anonymous: true }),
  jobTokens: true,
  params: tagName,
  query: html,
  returns: { body: shapes.release },
  errors: [absent],
  prefetch: ({ params }) => ({ tags: [params.tag_name] }),
  handle: async ({ actor, project, params, query, request: { baseUrl } }, deps) => {
    const release = await releases.getRelease(deps, project, params.tag_name);
    return shown(deps, actor, project, release, { baseUrl, html: query.include_html_description });
  },
});

const LATEST = {
  '': 'Get the latest release',
  '/assets/links': 'List the links of the latest release',
  '/assets/links/:link_id': 'Get a link of the latest release',
};
const linkId = () => p.integer({ required: true, description: 'ID of the link' });

const latestOf = (rest: keyof typeof LATEST) =>
  endpoint({
    method: 'GET',
    path: `/projects/:id/releases/permalink/latest${rest}`,
    area,
    summary: LATEST[rest],
    description: 'Redirects to the release with the latest `released_at` that is not in the future.',
    access: project('read_code', { anonymous: true }),
    jobTokens: true,
    params: () => p.params(rest.endsWith(':link_id') ? { link_id: linkId() } : {}),
    query: html,
    returns: { redirect: 'The same of the latest release' },
    errors: [{ status: 404, description: 'The project has no release' }],
    handle: async ({ project, params, query, request }, deps) => {
      const { tag } = await releases.latestRelease(deps, project);
      const base = `${request.baseUrl}/api/v4/projects/${project.project.id}/releases`;
      const below = rest.replace(':link_id', String((params as { link_id?: number }).link_id ?? ''));
      const asked = query.include_html_description ? '?include_html_description=true' : '';
      return reply({
        status: 302,
        headers: { Location: `${base}/${encodeURIComponent(tag)}${below}${asked}` },
      });
    },
  });

const fields = () => ({
  name: p.string({ description: 'Name of the release. Default: that of the tag' }),
  description: p.string({ description: 'Notes in Markdown, at most 56 KiB' }),
  milestones: p.list(p.string(), {
    maxItems: releases.MAX_MILESTONES_OF_RELEASE,
    description: 'Titles of milestones of the project or of its groups',
  }),
  released_at: p.datetime({ description: 'When it was or will be released. Default: now' }),
});

const create = endpoint({
  method: 'POST',
  path: '/projects/:id/releases',
  area,
  summary: 'Create a release',
  description: 'Creates the tag too, if there is none.',
  access: project('admin_release'),
  jobTokens: true,
  bodyLimit: 1024 * 1024,
  body: () =>
    p.params({
      tag_name: p.string({ required: true, description: 'Name of the tag' }),
      ref: p.string({ description: 'Branch, tag or commit SHA from which the tag is created' }),
      tag_message: p.string({ description: 'Message of the tag that is created, which is then annotated' }),
      ...fields(),
      assets: p.object(
        {
          links: p.array(
            p.object({
              name: p.string({ required: true, description: 'Name of the link' }),
              url: p.string({ required: true, description: 'URL of the file' }),
              filepath: p.string({ description: 'Path of its permanent address, such as `/bin/tool`' }),
              direct_asset_path: p.string({ description: 'Another name of `filepath`' }),
              link_type: p.oneOf(LINK_TYPES, { description: 'Type of the link. Default: `other`' }),
            }),
            { maxItems: 200, description: 'Links to files' },
          ),
        },
        { description: 'Files of the release' },
      ),
    }),
  returns: { body: shapes.release },
  errors: [
    { status: 400, description: 'A value is invalid, or a milestone or the revision does not exist' },
    guarded,
    { status: 409, description: 'The tag has a release' },
    { status: 422, description: 'There is no such tag, and no `ref`; or there are too many releases' },
  ],
  prefetch: ({ body }) => ({ revisions: [body.ref ?? ''], tags: [body.tag_name], rules: 'tag' }),
  handle: async ({ actor, project, body, request: { baseUrl } }, deps) => {
    const release = await releases.createRelease(deps, actor, project, {
      tag: body.tag_name,
      name: body.name,
      description: body.description,
      ref: body.ref,
      tagMessage: body.tag_message,
      releasedAt: body.released_at,
      milestones: body.milestones,
      links: body.assets?.links?.map((link) => ({
        name: link.name,
        url: link.url,
        filepath: link.filepath ?? link.direct_asset_path,
        type: link.link_type,
      })),
    });
    return shown(deps, actor, project, release, { baseUrl });
  },
});

const update = endpoint({
  method: 'PUT',
  path: '/projects/:id/releases/:tag_name',
  area,
  summary: 'Update a release',
  access: project('admin_release'),
  jobTokens: true,
  bodyLimit: 1024 * 1024,
  params: tagName,
  body: () => p.params(fields()),
  returns: { body: shapes.release },
  errors: [
    { status: 400, description: 'A value is invalid, or a milestone does not exist' },
    guarded,
    absent,
    { status: 409, description: 'The release was changed by another request' },
  ],
  prefetch: ({ params }) => ({ tags: [params.tag_name], rules: 'tag' }),
  handle: async ({ actor, project, params, body, request: { baseUrl } }, deps) => {
    const release = await releases.changeRelease(deps, actor, project, params.tag_name, {
      name: body.name,
      description: body.description,
      releasedAt: body.released_at,
      milestones: body.milestones,
    });
    return shown(deps, actor, project, release, { baseUrl });
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/projects/:id/releases/:tag_name',
  area,
  summary: 'Delete a release',
  description: 'The tag stays.',
  access: project('admin_release'),
  jobTokens: true,
  params: tagName,
  returns: { status: 200, body: shapes.release },
  errors: [guarded, absent, { status: 409, description: 'The release was changed by another request' }],
  prefetch: ({ params }) => ({ tags: [params.tag_name], rules: 'tag' }),
  handle: async ({ actor, project, params, request: { baseUrl } }, deps) => {
    const release = await releases.removeRelease(deps, actor, project, params.tag_name);
    return json(await shown(deps, actor, project, release, { baseUrl }));
  },
});

const collect = endpoint({
  method: 'POST',
  path: '/projects/:id/releases/:tag_name/evidence',
  area,
  summary: 'Create another evidence of a release',
  description:
    'A worker writes down what the release is at that moment. The first evidence is collected when the release comes.',
  access: project('admin_release'),
  params: tagName,
  returns: { status: 202, body: acceptedShape, description: 'The evidence is about to be collected' },
  errors: [guarded, absent, { status: 422, description: 'There are 20 evidences already' }],
  prefetch: () => ({ packs: false, rules: 'tag' }),
  handle: async ({ actor, project, params }, deps) => {
    await releases.collectAnother(deps, actor, project, params.tag_name);
    return accepted();
  },
});

export const releaseEndpoints = [
  list,
  latestOf(''),
  latestOf('/assets/links'),
  latestOf('/assets/links/:link_id'),
  get,
  create,
  update,
  remove,
  collect,
  ...linkEndpoints,
];
