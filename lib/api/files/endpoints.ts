import type { ProjectAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import { commitActions } from '../../domain/commits/actions.ts';
import { notFound, refused } from '../../domain/errors.ts';
import { blameFile } from '../../domain/files/blame.ts';
import { RAW_BLOBS, withinRate } from '../../domain/rate-limits/action-limits.ts';
import { codeOf, openFile, readFile, resolved } from '../../domain/repository/read.ts';
import type { EditAction } from '../../git/edit.ts';
import { project } from '../../http/access.ts';
import { brandHeaders } from '../../http/headers.ts';
import * as p from '../../http/params.ts';
import { json, noContent, reply } from '../../http/reply.ts';
import { type ApiDeps, endpoint } from '../endpoint.ts';
import { decodeContent, ENCODINGS } from './content.ts';
import { blamedCommit, contentDisposition, fileFacts, fileHeaders, fileRecord } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'files';
const access = project('read_code', { anonymous: true });
const scopes = ['read_repository'] as const;
const pathParameter = () =>
  p.params({
    file_path: p.filePath({ required: true, description: 'Full path of the file, percent-encoded' }),
  });
const ref = () => p.params({ ref: p.string({ required: true, description: 'Branch, tag or commit' }) });
const errors = [{ status: 404, description: 'No such commit or file' }];
const headers = [
  'Blob-Id',
  'Commit-Id',
  'Content-Sha256',
  'Encoding',
  'File-Name',
  'File-Path',
  'Last-Commit-Id',
  'Ref',
  'Size',
].map((name) => `X-Lemnos-${name}`);

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/files/:file_path',
  area,
  summary: 'Get a file with its content in Base64',
  access,
  scopes,
  params: pathParameter,
  query: ref,
  returns: { body: shapes.fileRecord, headers },
  errors,
  prefetch: ({ query }) => ({ revisions: [query.ref] }),
  handle: async ({ project, params, query, request }, deps) => {
    const git = codeOf(deps, project);
    const headersOf = (facts: ReturnType<typeof fileFacts>) =>
      brandHeaders(deps.environment.serviceName, fileHeaders(facts));
    if (request.method === 'HEAD') {
      const facts = fileFacts(await openFile(git, query.ref, params.file_path), query.ref);
      return reply({ headers: headersOf(facts), type: 'application/json' });
    }
    const { content, ...facts } = fileRecord(await readFile(git, query.ref, params.file_path), query.ref);
    return json({ ...facts, content }, { headers: headersOf(facts) });
  },
});

const getRaw = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/files/:file_path/raw',
  area,
  summary: 'Get the content of a file',
  access,
  scopes,
  params: pathParameter,
  query: () =>
    p.params({
      ref: p.string({ description: 'Branch, tag or commit; HEAD when absent' }),
      lfs: p.boolean({ default: false, description: 'Large file storage does not exist here' }),
    }),
  returns: { type: 'text/plain', headers },
  errors: [...errors, { status: 429, description: 'More of this file in a minute than the settings allow' }],
  prefetch: ({ query }) => ({ revisions: [query.ref ?? 'HEAD'] }),
  handle: async ({ project, params, query }, deps) => {
    const name = query.ref ?? 'HEAD';
    const file = await withinRate(deps, RAW_BLOBS, `${project.project.id} ${params.file_path}`, () =>
      openFile(codeOf(deps, project), name, params.file_path),
    );
    return reply({
      body: file.content,
      type: 'text/plain; charset=utf-8',
      headers: {
        ...NOT_CACHED,
        'Content-Disposition': contentDisposition('inline', file.entry.name),
        ...brandHeaders(deps.environment.serviceName, fileHeaders(fileFacts(file, name))),
      },
    });
  },
});

/** What every write says beside the file itself. */
const commitFields = () => ({
  branch: p.string({ required: true, blank: false, description: 'Branch to commit to' }),
  start_branch: p.string({ description: 'Branch to start a new branch from' }),
  commit_message: p.string({ required: true }),
  author_email: p.string(),
  author_name: p.string(),
});
const contentFields = () => ({
  content: p.content({ required: true }),
  encoding: p.oneOf(ENCODINGS, { default: 'text' }),
});
const lastCommit = () => ({
  last_commit_id: p.string({ description: 'Refuse when the file changed since' }),
});
const writeErrors = [
  { status: 400, description: 'The change cannot be made; nothing was' },
  { status: 403, description: 'No right to push to the branch' },
];
const bodyLimit = 100 * 1024 * 1024;

const create = endpoint({
  method: 'POST',
  path: '/projects/:id/repository/files/:file_path',
  area,
  summary: 'Create a file in a commit of its own',
  access: project('read_code'),
  params: pathParameter,
  body: () =>
    p.params({
      ...commitFields(),
      ...contentFields(),
      execute_filemode: p.boolean({ default: false, description: 'Make the file executable' }),
    }),
  returns: { body: shapes.fileWritten },
  errors: writeErrors,
  bodyLimit,
  prefetch: ({ body }) => ({ branches: [body.branch, body.start_branch], rules: 'branch' }),
  handle: async ({ actor, project, params, body }, deps) => {
    const content = decodeContent(body.content, body.encoding);
    const edit = {
      action: 'create',
      path: params.file_path,
      content,
      executable: body.execute_filemode,
    } as const;
    await write(deps, actor, project, body, edit);
    return { file_path: params.file_path, branch: body.branch };
  },
});

const update = endpoint({
  method: 'PUT',
  path: '/projects/:id/repository/files/:file_path',
  area,
  summary: 'Change a file in a commit of its own',
  access: project('read_code'),
  params: pathParameter,
  body: () => p.params({ ...commitFields(), ...contentFields(), ...lastCommit() }),
  returns: { body: shapes.fileWritten },
  errors: writeErrors,
  bodyLimit,
  prefetch: ({ body }) => ({ branches: [body.branch, body.start_branch], rules: 'branch' }),
  handle: async ({ actor, project, params, body }, deps) => {
    const content = decodeContent(body.content, body.encoding);
    await write(deps, actor, project, body, { action: 'update', path: params.file_path, content });
    return { file_path: params.file_path, branch: body.branch };
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/projects/:id/repository/files/:file_path',
  area,
  summary: 'Delete a file in a commit of its own',
  access: project('read_code'),
  params: pathParameter,
  body: () => p.params({ ...commitFields(), ...lastCommit() }),
  returns: { status: 204 },
  errors: writeErrors,
  prefetch: ({ body }) => ({ branches: [body.branch, body.start_branch], rules: 'branch' }),
  handle: async ({ actor, project, params, body, request, unmodifiedSince }, deps) => {
    if (request.headers.has('if-unmodified-since')) {
      // Whoever opens the repository first has what was prefetched: without the header, that is the commit.
      const git = codeOf(deps, project);
      const { commit } = await resolved(git, body.branch);
      const last = await git.lastCommitForPath(commit, params.file_path);
      if (last === undefined) throw notFound('File');
      unmodifiedSince(new Date((await git.commit(last)).committer.seconds * 1000));
    }
    await write(deps, actor, project, body, { action: 'delete', path: params.file_path });
    return noContent();
  },
});

const getBlame = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/files/:file_path/blame',
  area,
  summary: 'Tell which commit each line of a file came from',
  access,
  scopes,
  params: pathParameter,
  query: () =>
    p.params({
      ref: p.string({ required: true, description: 'Branch, tag or commit' }),
      range: p.object(
        {
          start: p.integer({ required: true, min: 1, description: 'First line, from 1' }),
          end: p.integer({ required: true, min: 1, description: 'Last line' }),
        },
        { description: 'Only these lines' },
      ),
    }),
  returns: { headers },
  errors: [
    { status: 400, description: 'Too much to compare, or a range that ends before it begins' },
    ...errors,
  ],
  prefetch: ({ query }) => ({ revisions: [query.ref] }),
  handle: async ({ project, params, query, request }, deps) => {
    const { range, ref } = query;
    if (range && range.start > range.end)
      throw refused('range[start] must be less than or equal to range[end]');
    const git = codeOf(deps, project);
    const file = await readFile(git, ref, params.file_path);
    const { content: _, ...told } = fileRecord(file, ref);
    const facts = brandHeaders(deps.environment.serviceName, fileHeaders(told));
    if (request.method === 'HEAD') return reply({ headers: facts, type: 'application/json' });
    const ranges = await blameFile(git, file, range);
    return json(
      ranges.map(({ commit, lines }) => ({ commit: blamedCommit(commit), lines })),
      { headers: facts },
    );
  },
});

export const fileEndpoints = [get, getRaw, create, update, remove, getBlame];

export const NOT_CACHED = {
  'Cache-Control': 'max-age=0, private, must-revalidate, no-store, no-cache',
} as const;

interface WriteBody {
  readonly branch: string;
  readonly start_branch?: string;
  readonly commit_message: string;
  readonly author_email?: string;
  readonly author_name?: string;
  readonly last_commit_id?: string;
}

async function write(deps: ApiDeps, actor: Actor, project: ProjectAccess, body: WriteBody, edit: EditAction) {
  await commitActions(
    deps,
    actor,
    project,
    {
      branch: body.branch,
      message: body.commit_message,
      startBranch: body.start_branch || undefined,
      authorName: body.author_name,
      authorEmail: body.author_email,
      actions: [{ edit, lastCommitId: body.last_commit_id }],
    },
    {
      stale: () =>
        edit.action === 'delete'
          ? 'You are attempting to delete a file that has been previously updated.'
          : 'You are attempting to update a file that has changed since you started editing it.',
    },
  );
}
