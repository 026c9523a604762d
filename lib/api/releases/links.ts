import * as releaseLinks from '../../domain/releases/links.ts';
import { getRelease } from '../../domain/releases/releases.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { json } from '../../http/reply.ts';
import { LINK_TYPES } from '../../records/releases.ts';
import { endpoint } from '../endpoint.ts';
import { projectUrl } from '../projects/present.ts';
import { releaseLink } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'releases';
const path = '/projects/:id/releases/:tag_name/assets/links';
const readers = project('read_code', { anonymous: true });
const writers = project('admin_release');
const absent = { status: 404, description: 'The tag has no release, or the release no such link' };
const refusals = [
  { status: 400, description: 'A value is invalid, or taken by another link of the release' },
  { status: 403, description: 'The caller may not change releases, or not of this protected tag' },
  absent,
  { status: 409, description: 'The release was changed by other requests' },
];
const tagName = () => ({ tag_name: p.string({ required: true, description: 'Name of the tag' }) });
const linkId = () =>
  p.params({ ...tagName(), link_id: p.integer({ required: true, description: 'ID of the link' }) });
const fields = () => ({
  filepath: p.string({ nullable: true, description: 'Path of its permanent address, such as `/bin/tool`' }),
  direct_asset_path: p.string({ nullable: true, description: 'Another name of `filepath`' }),
  link_type: p.oneOf(LINK_TYPES, { description: 'Type of the link. Default: `other`' }),
});

const list = endpoint({
  method: 'GET',
  path,
  area,
  summary: 'List the links of a release',
  access: readers,
  jobTokens: true,
  params: () => p.params(tagName()),
  returns: { body: shapes.links },
  paginate: 'offset',
  errors: [absent],
  handle: async ({ project, params, page, request }, deps) => {
    const { links, tag } = await getRelease(deps, project, params.tag_name);
    const url = projectUrl(project.project, request.baseUrl);
    const shown = links.slice(page.offset, page.offset + page.perPage);
    return { items: shown.map((link) => releaseLink(link, tag, url)), total: links.length };
  },
});

const get = endpoint({
  method: 'GET',
  path: `${path}/:link_id`,
  area,
  summary: 'Get a link of a release',
  access: readers,
  jobTokens: true,
  params: linkId,
  returns: { body: shapes.link },
  errors: [absent],
  handle: async ({ project, params, request }, deps) => {
    const { link, release } = await releaseLinks.getLink(deps, project, params.tag_name, params.link_id);
    return releaseLink(link, release.tag, projectUrl(project.project, request.baseUrl));
  },
});

const create = endpoint({
  method: 'POST',
  path,
  area,
  summary: 'Create a link of a release',
  access: writers,
  jobTokens: true,
  params: () => p.params(tagName()),
  body: () =>
    p.params({
      name: p.string({ required: true, description: 'Name of the link' }),
      url: p.string({ required: true, description: 'URL of the file' }),
      ...fields(),
    }),
  returns: { body: shapes.link },
  errors: refusals,
  prefetch: () => ({ packs: false, rules: 'tag' }),
  handle: async ({ actor, project, params, body, request }, deps) => {
    const { name, url, link_type: type } = body;
    const filepath = body.filepath ?? body.direct_asset_path;
    const input = { name, url, filepath, type };
    const link = await releaseLinks.createLink(deps, actor, project, params.tag_name, input);
    return releaseLink(link, params.tag_name, projectUrl(project.project, request.baseUrl));
  },
});

const update = endpoint({
  method: 'PUT',
  path: `${path}/:link_id`,
  area,
  summary: 'Update a link of a release',
  access: writers,
  jobTokens: true,
  params: linkId,
  body: () =>
    p.params(
      {
        name: p.string({ description: 'Name of the link' }),
        url: p.string({ description: 'URL of the file' }),
        ...fields(),
      },
      [p.atLeastOneOf('name', 'url', 'filepath', 'direct_asset_path', 'link_type')],
    ),
  returns: { body: shapes.link },
  errors: refusals,
  prefetch: () => ({ packs: false, rules: 'tag' }),
  handle: async ({ actor, project, params, body, request }, deps) => {
    const { name, url, link_type: type } = body;
    const filepath = body.filepath === undefined ? body.direct_asset_path : body.filepath;
    const input = {
      ...(name === undefined ? {} : { name }),
      ...(url === undefined ? {} : { url }),
      filepath,
      type,
    };
    const { tag_name: tag, link_id: id } = params;
    const link = await releaseLinks.changeLink(deps, actor, project, tag, id, input);
    return releaseLink(link, tag, projectUrl(project.project, request.baseUrl));
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: `${path}/:link_id`,
  area,
  summary: 'Delete a link of a release',
  access: writers,
  jobTokens: true,
  params: linkId,
  returns: { status: 200, body: shapes.link },
  errors: refusals,
  prefetch: () => ({ packs: false, rules: 'tag' }),
  handle: async ({ actor, project, params, request }, deps) => {
    const { tag_name: tag, link_id: id } = params;
    const link = await releaseLinks.removeLink(deps, actor, project, tag, id);
    return json(releaseLink(link, tag, projectUrl(project.project, request.baseUrl)));
  },
});

export const linkEndpoints = [list, get, create, update, remove];
