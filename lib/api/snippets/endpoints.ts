/** Snippets of users, and the same operations on those of a project. */

import type { ProjectAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import { RAW_BLOBS, withinRate } from '../../domain/rate-limits/action-limits.ts';
import { cloneRoot } from '../../domain/repository/clone-url.ts';
import { findSnippet } from '../../domain/snippets/access.ts';
import * as snippets from '../../domain/snippets/snippets.ts';
import { anyone, project, signedIn } from '../../http/access.ts';
import { MAX_OFFSET } from '../../http/pagination.ts';
import * as p from '../../http/params.ts';
import { noContent, reply } from '../../http/reply.ts';
import { MAX_SNIPPET_DESCRIPTION } from '../../records/snippets.ts';
import { VISIBILITIES } from '../../records/visibility.ts';
import { type ApiDeps, countedOrAfter, endpoint } from '../endpoint.ts';
import { contentDisposition } from '../files/present.ts';
import { NOT_CACHED } from '../files/raw.ts';
import { shownUserAgent, userAgentDetail } from '../user-agent-detail.ts';
import { withParams } from '../with-params.ts';
import { snippetOf } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'snippets';
const bodyLimit = 100 * 1024 * 1024;

const ID = 'ID of the snippet';
const absent = { status: 404, description: 'Snippet not found' };
const invalid = { status: 400, description: 'A parameter is invalid, or the files cannot be' };
const busy = { status: 409, description: 'Others keep changing the snippet' };
const tooOld = { status: 412, description: 'The snippet was changed later than `If-Unmodified-Since`' };
const rate = { status: 429, description: 'The rate limit for this file is exceeded' };
const reference = { status: 404, description: 'Snippet, reference or file not found' };

const LISTED = {
  paginate: 'offset+keyset',
  keyset: { marker: 'cursor' },
  noun: 'Snippet',
  errors: [{ status: 405, description: `The offset exceeds ${MAX_OFFSET}` }],
} as const;

const presented = async (deps: ApiDeps, found: snippets.ShownSnippet, baseUrl: string) =>
  snippetOf(found, { baseUrl, cloneRoot: await cloneRoot(deps, baseUrl) });

async function presentedPage(deps: ApiDeps, page: snippets.SnippetPage, baseUrl: string) {
  const roots = { baseUrl, cloneRoot: await cloneRoot(deps, baseUrl) };
  return { ...page, items: page.items.map((each) => snippetOf(each, roots)) };
}

const listOwn = endpoint({
  method: 'GET',
  path: '/snippets',
  area,
  summary: 'List the personal snippets of the caller',
  description: 'The newest first.',
  access: signedIn(),
  returns: { body: shapes.snippets },
  ...LISTED,
  handle: async ({ actor, page, request }, deps) =>
    presentedPage(deps, await snippets.listOwnSnippets(deps, actor, countedOrAfter(page)), request.baseUrl),
});

const listPublic = endpoint({
  method: 'GET',
  path: '/snippets/public',
  area,
  summary: 'List all public personal snippets',
  description: 'The newest first.',
  access: signedIn(),
  returns: { body: shapes.snippets },
  ...LISTED,
  handle: async ({ page, request }, deps) =>
    presentedPage(deps, await snippets.listPublicSnippets(deps, countedOrAfter(page)), request.baseUrl),
});

const listOfProject = endpoint({
  method: 'GET',
  path: '/projects/:id/snippets',
  area,
  summary: 'List the snippets of a project',
  description: 'Those that the caller may see, the newest first.',
  access: project('read_snippets', { anonymous: true }),
  returns: { body: shapes.snippets },
  ...LISTED,
  handle: async ({ actor, project: access, page, request }, deps) =>
    presentedPage(
      deps,
      await snippets.listProjectSnippets(deps, actor, access, countedOrAfter(page)),
      request.baseUrl,
    ),
});

const newFields = () =>
  p.params(
    {
      title: p.string({ required: true, blank: false, description: 'Title, at most 255 characters' }),
      ...common(),
      files: p.array(
        p.object(
          {
            file_path: p.filePath({ required: true, blank: false, description: 'Path of the file' }),
            content: p.content({ required: true, blank: false, description: 'Content of the file' }),
          },
          { description: 'A file' },
        ),
        { description: 'Files of the snippet, 1 to 10' },
      ),
      ...single(),
    },
    [p.exactlyOneOf('files', 'content'), p.requiredWhen('file_name', ({ content }) => content !== undefined)],
  );

const changedFields = () =>
  p.params(
    {
      title: p.string({ blank: false, description: 'Title, at most 255 characters' }),
      ...common(),
      files: p.array(
        p.object(
          {
            action: p.oneOf(['create', 'update', 'delete', 'move'], {
              required: true,
              description: 'What to do with the file',
            }),
            file_path: p.filePath({ description: 'Path of the file' }),
            previous_path: p.filePath({ description: 'Path that the file had, of `move`' }),
            content: p.content({ description: 'Content of the file, of `create` and `update`' }),
          },
          { description: 'A change of a file' },
        ),
        { description: 'Changes of files; needed where the snippet has several' },
      ),
      ...single(),
    },
    [
      p.atLeastOneOf('title', 'description', 'files', 'content', 'file_name', 'visibility'),
      p.mutuallyExclusive('files', 'content'),
      p.mutuallyExclusive('files', 'file_name'),
    ],
  );

const common = () => ({
  description: p.string({
    nullable: true,
    description: `Description, at most ${MAX_SNIPPET_DESCRIPTION} characters`,
  }),
  visibility: p.oneOf(VISIBILITIES, {
    blank: false,
    description: 'Who may see it. Default: the setting of the instance',
  }),
});

const single = () => ({
  file_name: p.filePath({ description: 'Deprecated: use `files`. Path of the only file' }),
  content: p.content({ description: 'Deprecated: use `files`. Content of the only file' }),
});

interface NewFields {
  readonly files?: readonly { readonly file_path: string; readonly content: string }[];
  readonly file_name?: string;
  readonly content?: string;
}

const filesOf = ({ files, file_name: path = '', content = '' }: NewFields) =>
  files?.map((file) => ({ path: file.file_path, content: file.content })) ?? [{ path, content }];

/** The operations on one snippet, and its creation: personal ones, and those of a project. */
const PERSONAL = { path: '/snippets', name: 'id', object: 'a personal snippet' } as const;
const OF_PROJECT = {
  path: '/projects/:id/snippets',
  name: 'snippet_id',
  object: 'a snippet of a project',
} as const;

type Place = typeof PERSONAL | typeof OF_PROJECT;

/** What the access rule of an endpoint has loaded. */
interface Loaded {
  readonly actor: Actor;
  readonly project?: ProjectAccess | undefined;
}

function endpointsAt({ path, name, object }: Place) {
  const inProject = name === 'snippet_id';
  const reads = inProject ? project('read_snippets', { anonymous: true }) : anyone();
  const writes = inProject ? project('read_snippets') : signedIn();
  const at = <T extends p.Shape>(rest: T) =>
    withParams({ [name]: p.integer({ required: true, description: ID }) }, rest);
  const idOf = (params: object) => Number((params as Readonly<Record<string, unknown>>)[name]);
  const one = `${path}/:${name}` as const;

  const create = endpoint({
    method: 'POST',
    path,
    area,
    summary: `Create ${object}`,
    access: inProject ? project('create_snippet') : signedIn(),
    body: newFields,
    returns: { body: shapes.snippet },
    errors: [invalid, { status: 403, description: 'You may not create snippets' }],
    bodyLimit,
    handle: async ({ body, request, ...loaded }, deps) => {
      const { actor, project: access } = loaded as Loaded;
      const { title, description, visibility } = body;
      const input = { title, description, visibility, files: filesOf(body) };
      return presented(deps, await snippets.createSnippet(deps, actor, access, input), request.baseUrl);
    },
  });

  const get = endpoint({
    method: 'GET',
    path: one,
    area,
    summary: `Get ${object}`,
    access: reads,
    params: () => at({}),
    returns: { body: shapes.snippet },
    errors: [absent],
    handle: async ({ params, request, ...loaded }, deps) => {
      const { actor, project: access } = loaded as Loaded;
      return presented(deps, await snippets.getSnippet(deps, actor, access, idOf(params)), request.baseUrl);
    },
  });

  const update = endpoint({
    method: 'PUT',
    path: one,
    area,
    summary: `Update ${object}`,
    access: writes,
    params: () => at({}),
    body: changedFields,
    returns: { body: shapes.snippet },
    errors: [invalid, absent, busy],
    bodyLimit,
    handle: async ({ params, body, request, ...loaded }, deps) => {
      const { actor, project: access } = loaded as Loaded;
      const found = await snippets.updateSnippet(deps, actor, access, idOf(params), {
        title: body.title,
        description: body.description,
        visibility: body.visibility,
        fileName: body.file_name,
        content: body.content,
        files: body.files?.map(({ action, file_path, previous_path, content }) => ({
          action,
          path: file_path,
          previousPath: previous_path,
          content,
        })),
      });
      return presented(deps, found, request.baseUrl);
    },
  });

  const remove = endpoint({
    method: 'DELETE',
    path: one,
    area,
    summary: `Delete ${object}`,
    access: writes,
    params: () => at({}),
    returns: { status: 204 },
    errors: [absent, busy, tooOld],
    handle: async ({ params, unmodifiedSince, ...loaded }, deps) => {
      const { actor, project: access } = loaded as Loaded;
      await snippets.deleteSnippet(deps, actor, access, idOf(params), unmodifiedSince);
      return noContent();
    },
  });

  const raw = endpoint({
    method: 'GET',
    path: `${one}/raw`,
    area,
    summary: `Get the content of ${object}`,
    description: 'Of its first file.',
    access: reads,
    params: () => at({}),
    returns: { type: 'text/plain' },
    errors: [absent, rate],
    handle: async ({ params, ...loaded }, deps) => sent(deps, loaded as Loaded, idOf(params)),
  });

  const rawFile = endpoint({
    method: 'GET',
    path: `${one}/files/:ref/:file_path/raw`,
    area,
    summary: `Get a file of ${object}`,
    access: reads,
    params: () =>
      at({
        ref: p.string({ required: true, description: 'Branch, tag or commit' }),
        file_path: p.filePath({ required: true, description: 'Path of the file' }),
      }),
    returns: { type: 'text/plain' },
    errors: [reference, rate],
    handle: async ({ params, ...loaded }, deps) => {
      const { ref, file_path: file } = params as unknown as Readonly<Record<'ref' | 'file_path', string>>;
      return sent(deps, loaded as Loaded, idOf(params), { ref, path: file });
    },
  });

  const agent = endpoint({
    method: 'GET',
    path: `${one}/user_agent_detail`,
    area,
    summary: `Get the user agent that ${object} was created with`,
    description: 'For administrators. There is none where the program did not name itself.',
    access: writes,
    params: () => at({}),
    returns: { body: userAgentDetail },
    errors: [{ status: 404, description: 'Snippet not found, or nothing was recorded' }],
    handle: async ({ params, ...loaded }, deps) => {
      const { actor, project: access } = loaded as Loaded;
      return shownUserAgent(await snippets.snippetAgent(deps, actor, access, idOf(params)));
    },
  });

  return [create, get, update, remove, raw, rawFile, agent];
}

/** @throws 404, 429 */
async function sent(
  deps: ApiDeps,
  { actor, project: access }: Loaded,
  id: number,
  at?: { readonly ref: string; readonly path: string },
) {
  const found = await findSnippet(deps, actor, access, id);
  const subject = `snippet ${id} ${at?.path ?? ''}`;
  const file = await withinRate(deps, RAW_BLOBS, subject, () => snippets.openSnippetFile(deps, found, at));
  return reply({
    body: file.content,
    type: 'text/plain; charset=utf-8',
    headers: { ...NOT_CACHED, 'Content-Disposition': contentDisposition('inline', file.name) },
  });
}

export const snippetEndpoints = [
  listOwn,
  listPublic,
  listOfProject,
  ...endpointsAt(PERSONAL),
  ...endpointsAt(OF_PROJECT),
];
