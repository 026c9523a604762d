import type { WikiOf } from '../../domain/wikis/access.ts';
import { attachToWiki } from '../../domain/wikis/attachments.ts';
import { WIKI_FORMATS } from '../../domain/wikis/page-names.ts';
import * as wikis from '../../domain/wikis/pages.ts';
import { renderedPage } from '../../domain/wikis/render.ts';
import { group, project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent, type Reply, reply } from '../../http/reply.ts';
import { endpoint } from '../endpoint.ts';
import * as shapes from './shapes.ts';

const area = 'wikis';

/** Projects and groups have the same endpoints. */
const KINDS = {
  project: {
    base: '/projects/:id/wikis',
    readers: project('read_wiki', { anonymous: true }),
    writers: project('write_wiki'),
    removers: project('delete_wiki_page'),
  },
  group: {
    base: '/groups/:id/wikis',
    readers: group('read_wiki', { anonymous: true }),
    writers: group('write_wiki'),
    removers: group('delete_wiki_page'),
  },
} as const;

/** The project or group that the access rule of the endpoint loaded. */
const wikiOf = (found: { readonly project?: unknown; readonly group?: unknown }): WikiOf =>
  (found.project === undefined ? { group: found.group } : { project: found.project }) as WikiOf;

const absent = { status: 404, description: 'The wiki has no such page' };
const tooLarge = {
  status: 413,
  description:
    'The request is larger than 101 MiB, or, behind the gateway, about 4.5 MB: push the page by Git, in parts if need be (`git-remote-lemnos`)',
};
const raced = { status: 409, description: 'Someone else changed the page at the same time' };
const slug = () =>
  p.params({
    slug: p.string({ required: true, description: 'Slug of the page, URL-encoded: `directory%2Fpage`' }),
  });
const formatField = () => ({
  description: 'Format of the content: decides the extension of its file',
});
/** A page or a file of 100 MiB, and the form around it. More than that comes by Git alone, whatever the settings say. */
const bodyLimit = 101 * 1024 * 1024;

const named = ({ format, slug, title }: wikis.WikiPage) => ({ format, slug, title });
const presented = (page: wikis.PageWithContent) => ({
  ...named(page),
  content: page.content,
  encoding: 'UTF-8' as const,
});
/** The answer with a page, which is sent in pieces where its text comes so. */
function shown(page: wikis.PageWithText, status = 200): ReturnType<typeof presented> | Reply {
  const { text } = page;
  if (typeof text === 'string') return presented({ ...page, content: text });
  return reply({ status, body: inPieces(page, text), type: 'application/json' });
}
async function* inPieces(page: wikis.WikiPage, text: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const [before, after] = JSON.stringify(presented({ ...page, content: '' })).split('"content":""');
  yield Buffer.from(`${before}"content":"`);
  for await (const piece of text) yield Buffer.from(JSON.stringify(piece).slice(1, -1));
  yield Buffer.from(`"${after}`);
}

const of = (kind: keyof typeof KINDS) => {
  const { base, readers, writers, removers } = KINDS[kind];
  return [
    endpoint({
      method: 'GET',
      path: base,
      area,
      summary: `List the wiki pages of a ${kind}`,
      access: readers,
      query: () =>
        p.params({
          with_content: p.boolean({ default: false, description: 'Include the content of each page' }),
        }),
      returns: { body: shapes.pages },
      paginate: 'offset',
      errors: [{ status: 413, description: 'The content of these pages is too large for one answer' }],
      handle: async ({ query, page: { page, perPage }, ...found }, deps) => {
        const wiki = wikiOf(found);
        const { pages, complete } = await wikis.listPages(deps, wiki);
        const listed = pages.slice((page - 1) * perPage, page * perPage);
        const items = query.with_content
          ? (await wikis.withContent(deps, wiki, listed)).map(presented)
          : listed.map(named);
        const more = pages.length > page * perPage;
        return { items, total: complete ? pages.length : undefined, more };
      },
    }),
    endpoint({
      method: 'GET',
      path: `${base}/:slug`,
      area,
      summary: `Get a wiki page of a ${kind}`,
      access: readers,
      params: slug,
      query: () =>
        p.params({
          render_html: p.boolean({
            default: false,
            description:
              'Return the content as sanitized HTML. Markdown and AsciiDoc are rendered; RDoc and Org mode are shown as written',
          }),
          version: p.string({ description: 'SHA of a commit: the page as it was then' }),
        }),
      returns: { body: shapes.page },
      errors: [absent],
      handle: async ({ actor, params, query, request, ...found }, deps) => {
        const wiki = wikiOf(found);
        const page = await wikis.getPage(deps, wiki, params.slug, query.version);
        if (!query.render_html) return shown(page);
        const text = await renderedPage(deps, page, { actor, wiki, baseUrl: request.baseUrl });
        return shown({ ...page, text });
      },
    }),
    endpoint({
      method: 'POST',
      path: base,
      area,
      summary: `Create a wiki page in a ${kind}`,
      access: writers,
      bodyLimit,
      body: () =>
        p.params({
          title: p.string({
            required: true,
            description: 'Title of the page; with slashes, the last part is in directories of these names',
          }),
          content: p.string({ required: true, description: 'Content of the page' }),
          format: p.oneOf(WIKI_FORMATS, { default: 'markdown', ...formatField() }),
        }),
      returns: { status: 201, body: shapes.page },
      errors: [
        { status: 400, description: 'There is such a page, or the content is too long' },
        raced,
        tooLarge,
      ],
      handle: async ({ actor, body, ...found }, deps) => {
        if (body.title.trim() === '') throw p.parameterFailure(['title is empty']);
        return shown(await wikis.createPage(deps, actor, wikiOf(found), body), 201);
      },
    }),
    endpoint({
      method: 'PUT',
      path: `${base}/:slug`,
      area,
      summary: `Update a wiki page of a ${kind}`,
      description: 'A new title or format moves the file of the page.',
      access: writers,
      bodyLimit,
      params: slug,
      body: () =>
        p.params(
          {
            title: p.string({
              blank: false,
              description:
                'New title; one without slashes leaves the page in its directory, `/title` does not',
            }),
            content: p.string({ description: 'New content' }),
            format: p.oneOf(WIKI_FORMATS, formatField()),
          },
          [p.atLeastOneOf('content', 'title', 'format')],
        ),
      returns: { body: shapes.page },
      errors: [absent, raced, tooLarge],
      handle: async ({ actor, params, body, ...found }, deps) =>
        shown(await wikis.updatePage(deps, actor, wikiOf(found), params.slug, body)),
    }),
    endpoint({
      method: 'DELETE',
      path: `${base}/:slug`,
      area,
      summary: `Delete a wiki page of a ${kind}`,
      access: removers,
      params: slug,
      returns: { status: 204 },
      errors: [absent, raced],
      handle: async ({ actor, params, ...found }, deps) => {
        await wikis.deletePage(deps, actor, wikiOf(found), params.slug);
        return noContent();
      },
    }),
    endpoint({
      method: 'POST',
      path: `${base}/attachments`,
      area,
      summary: `Upload a file to the wiki repository of a ${kind}`,
      access: writers,
      bodyLimit,
      body: () =>
        p.params({
          file: p.file({ required: true, description: 'The file' }),
          branch: p.string({ description: 'Branch of the wiki repository. Default: its default branch' }),
        }),
      returns: { status: 201, body: shapes.attachment },
      errors: [
        { status: 400, description: 'There is no such branch' },
        { status: 413, description: 'The file is larger than `max_attachment_size`' },
      ],
      handle: async ({ actor, body: { file, branch }, ...found }, deps) => {
        const attached = await attachToWiki(deps, actor, wikiOf(found), file, branch || undefined);
        const { name, alt, embedded, path } = attached;
        return {
          file_name: name,
          file_path: path,
          branch: attached.branch,
          link: { url: path, markdown: `${embedded ? '!' : ''}[${alt}](${path})` },
        };
      },
    }),
  ];
};

export const wikiEndpoints = [...of('project'), ...of('group')];
