import { prefetchOf } from '../../domain/refs/list.ts';
import { tagProtection } from '../../domain/refs/protection.ts';
import { releasesOfTags } from '../../domain/releases/releases.ts';
import { codeOf } from '../../domain/repository/read.ts';
import { started } from '../../domain/started.ts';
import * as tags from '../../domain/tags/tags.ts';
import { project } from '../../http/access.ts';
import type { KeysetPage, OffsetPage } from '../../http/pagination.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { endpoint } from '../endpoint.ts';
import { projectUrl } from '../projects/present.ts';
import { tag } from './present.ts';
import { protectedTagEndpoints } from './protected.ts';
import { tagReleaseEndpoints } from './release.ts';
import * as shapes from './shapes.ts';

const area = 'tags';
const readable = project('read_code', { anonymous: true });
const absent = { status: 404, description: 'The tag does not exist' };

const listQuery = (
  query: {
    readonly search?: string;
    readonly order_by: 'name' | 'updated';
    readonly sort: 'asc' | 'desc';
  },
  page: OffsetPage | KeysetPage,
) => ({
  search: query.search,
  orderBy: query.order_by,
  descending: query.sort === 'desc',
  offset: page.kind === 'offset' ? page.offset : 0,
  limit: page.perPage,
  after: page.kind === 'keyset' ? page.after : undefined,
});

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/tags',
  area,
  summary: 'List the tags of a repository',
  access: readable,
  query: () =>
    p.params({
      order_by: p.oneOf(['name', 'updated'], {
        default: 'updated',
        description: 'Field to sort the tags by',
      }),
      sort: p.oneOf(['asc', 'desc'], { default: 'desc', description: 'Sort direction' }),
      search: p.string({
        description:
          'Return only tags whose name contains this text; `^term` matches at the start, `term$` at the end',
      }),
    }),
  returns: { body: shapes.tags },
  paginate: 'offset+keyset',
  keyset: { marker: 'page_token' },
  prefetch: ({ query, page }) => ({
    ...prefetchOf(page && { space: 'tags', ...listQuery(query, page) }),
    rules: 'tag',
  }),
  handle: async ({ actor, project, query, page, request }, deps) => {
    const protection = started(tagProtection(deps, project, actor));
    const released = started(deps.store.releases.count(project.project.id));
    const found = await tags.listTags(codeOf(deps, project), listQuery(query, page));
    const url = projectUrl(project.project, request.baseUrl);
    const names = found.items.map(({ name }) => name);
    const [rules, releases] = await Promise.all([protection, releasesOfTags(deps, project, names, released)]);
    return {
      ...found,
      items: found.items.map((record) => tag(record, url, rules, releases.get(record.name))),
      next: found.more ? found.items.at(-1)?.name : undefined,
    };
  },
});

const tagName = () => p.params({ tag_name: p.string({ required: true, description: 'Name of the tag' }) });

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/tags/:tag_name',
  area,
  summary: 'Get a tag',
  access: readable,
  params: tagName,
  returns: { body: shapes.tag },
  errors: [absent],
  prefetch: ({ params }) => ({ tags: [params.tag_name], rules: 'tag' }),
  handle: async ({ actor, project, params, request }, deps) => {
    const protection = started(tagProtection(deps, project, actor));
    const [record, releases] = await Promise.all([
      tags.getTag(codeOf(deps, project), params.tag_name),
      releasesOfTags(deps, project, [params.tag_name]),
    ]);
    const url = projectUrl(project.project, request.baseUrl);
    return tag(record, url, await protection, releases.get(params.tag_name));
  },
});

const create = endpoint({
  method: 'POST',
  path: '/projects/:id/repository/tags',
  area,
  summary: 'Create a tag',
  access: project('read_code'),
  body: () =>
    p.params({
      tag_name: p.string({ required: true, description: 'Name of the tag' }),
      ref: p.string({ required: true, description: 'Name of a branch or tag, or commit SHA to tag' }),
      message: p.string({
        description: 'Message of an annotated tag; default: a lightweight tag is created',
      }),
    }),
  returns: { body: shapes.tag },
  errors: [
    {
      status: 400,
      description: 'The name is invalid or taken, the ref does not exist, or the tag is protected',
    },
    { status: 403, description: 'The caller may not push' },
    { status: 405, description: 'The name conflicts with an existing tag' },
  ],
  prefetch: ({ body }) => ({ revisions: [body.ref], tags: [body.tag_name], rules: 'tag' }),
  handle: async ({ actor, project, body, request }, deps) => {
    const input = { name: body.tag_name, ref: body.ref, message: body.message };
    const { made, protection } = await tags.createTag(deps, actor, project, input);
    return tag(made, projectUrl(project.project, request.baseUrl), protection, undefined);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/projects/:id/repository/tags/:tag_name',
  area,
  summary: 'Delete a tag',
  access: project('read_code'),
  params: tagName,
  returns: { status: 204 },
  errors: [{ status: 403, description: 'The caller may not push, or the tag is protected' }, absent],
  prefetch: ({ params }) => ({ tags: [params.tag_name], rules: 'tag' }),
  handle: async ({ actor, project, params, unmodifiedSince }, deps) => {
    await tags.deleteTag(deps, actor, project, params.tag_name, unmodifiedSince);
    return noContent();
  },
});

export const tagEndpoints = [list, get, create, remove, ...tagReleaseEndpoints, ...protectedTagEndpoints];
