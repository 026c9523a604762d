import type { ProjectAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import { commitActions } from '../../domain/commits/actions.ts';
import { notFound, refused } from '../../domain/errors.ts';
import { blameFile } from '../../domain/files/blame.ts';
import { codeOf, digestFile, readFile, resolved } from '../../domain/repository/read.ts';
import type { EditAction } from '../../git/edit.ts';
import { project } from '../../http/access.ts';
import { brandHeaders } from '../../http/headers.ts';
import * as p from '../../http/params.ts';
import { json, noContent, reply } from '../../http/reply.ts';
import { type ApiDeps, endpoint } from '../endpoint.ts';
import { decodeContent, ENCODINGS } from './content.ts';
import { jsonWithContent, sha256Of } from './content-json.ts';
import { LARGE_DOWNLOAD } from './download.ts';
import { blamedCommit, fileFacts, fileHeaders } from './present.ts';
import { rawFile } from './raw.ts';
import * as shapes from './shapes.ts';

const area = 'files';
const access = project('read_code', { anonymous: true });
const scopes = ['read_repository'] as const;
const filePath = () =>
  p.params({
    file_path: p.filePath({ required: true, description: 'Full path of the file, URL-encoded' }),
  });
const refParameter = () =>
  p.params({ ref: p.string({ required: true, description: 'Name of the branch or tag, or commit SHA' }) });
const errors = [{ status: 404, description: 'Commit or file not found' }];
const HEADER_NAMES = [
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
  summary: 'Get a file with its content, Base64-encoded',
  access,
  scopes,
  params: filePath,
  query: refParameter,
  returns: { body: shapes.fileRecord, headers: HEADER_NAMES },
  errors,
  prefetch: ({ query }) => ({ revisions: [query.ref] }),
  handle: async ({ project, params, query, request }, deps) => {
    const git = codeOf(deps, project);
    const headersOf = (facts: ReturnType<typeof fileFacts>) =>
      brandHeaders(deps.environment.serviceName, fileHeaders(facts));
    if (request.method === 'HEAD') {
      const facts = fileFacts(await digestFile(git, query.ref, params.file_path), query.ref);
      return reply({ headers: headersOf(facts), type: 'application/json' });
    }
    const file = await readFile(git, query.ref, params.file_path);
    const facts = fileFacts({ ...file, sha256: await sha256Of(file.data) }, query.ref);
    return jsonWithContent(facts, file.data, headersOf(facts));
  },
});

const getRaw = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/files/:file_path/raw',
  area,
  summary: 'Get the raw content of a file',
  access,
  scopes,
  params: filePath,
  query: () =>
    p.params({
      ref: p.string({
        description: 'Name of the branch or tag, or commit SHA. Default: `HEAD` of the repository',
      }),
      lfs: p.boolean({
        default: false,
        description: 'Whether the content is returned that a pointer of Git LFS stands for',
      }),
    }),
  returns: { type: 'text/plain', headers: HEADER_NAMES, redirect: LARGE_DOWNLOAD },
  errors: [...errors, { status: 429, description: 'The rate limit for this file is exceeded' }],
  prefetch: ({ query }) => ({ revisions: [query.ref ?? 'HEAD'] }),
  handle: ({ project, params, query, request }, deps) =>
    rawFile(deps, project, { ref: query.ref ?? 'HEAD', path: params.file_path, lfs: query.lfs }, request),
});

/** The parameters of the commit that every write creates. */
const commitFields = () => ({
  branch: p.string({ required: true, blank: false, description: 'Branch to commit to' }),
  start_branch: p.string({ description: 'Branch to create `branch` from, if it does not exist' }),
  commit_message: p.string({ required: true, description: 'Commit message' }),
  author_email: p.string({ description: 'Email address of the commit author. Default: that of the caller' }),
  author_name: p.string({ description: 'Name of the commit author. Default: that of the caller' }),
});
const contentFields = () => ({
  content: p.content({ required: true, description: 'Content of the file' }),
  encoding: p.oneOf(ENCODINGS, { default: 'text', description: 'Encoding of `content`' }),
});
const lastCommit = () => ({
  last_commit_id: p.string({
    description: 'Last known commit ID of the file; the request is rejected if the file has changed since',
  }),
});
const writeErrors = [
  { status: 400, description: 'The change was rejected; nothing was committed' },
  { status: 403, description: 'Not allowed to push to the branch' },
];
const bodyLimit = 100 * 1024 * 1024;

const create = endpoint({
  method: 'POST',
  path: '/projects/:id/repository/files/:file_path',
  area,
  summary: 'Create a file',
  description: 'Creates a commit with this change only.',
  access: project('read_code'),
  params: filePath,
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
    const content = await decodeContent(body.content, body.encoding);
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
  summary: 'Update a file',
  description: 'Creates a commit with this change only.',
  access: project('read_code'),
  params: filePath,
  body: () => p.params({ ...commitFields(), ...contentFields(), ...lastCommit() }),
  returns: { body: shapes.fileWritten },
  errors: writeErrors,
  bodyLimit,
  prefetch: ({ body }) => ({ branches: [body.branch, body.start_branch], rules: 'branch' }),
  handle: async ({ actor, project, params, body }, deps) => {
    const content = await decodeContent(body.content, body.encoding);
    await write(deps, actor, project, body, { action: 'update', path: params.file_path, content });
    return { file_path: params.file_path, branch: body.branch };
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/projects/:id/repository/files/:file_path',
  area,
  summary: 'Delete a file',
  description: 'Creates a commit with this change only.',
  access: project('read_code'),
  params: filePath,
  body: () => p.params({ ...commitFields(), ...lastCommit() }),
  returns: { status: 204 },
  errors: writeErrors,
  prefetch: ({ body }) => ({ branches: [body.branch, body.start_branch], rules: 'branch' }),
  handle: async ({ actor, project, params, body, request, unmodifiedSince }, deps) => {
    if (request.headers.has('if-unmodified-since')) {
      // The first to open the repository takes what was prefetched: without the header, that is the commit.
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
  summary: 'Get the blame of a file',
  description: 'Returns consecutive lines together with the commit that last changed them.',
  access,
  scopes,
  params: filePath,
  query: () =>
    p.params({
      ref: p.string({ required: true, description: 'Name of the branch or tag, or commit SHA' }),
      range: p.object(
        {
          start: p.integer({ required: true, min: 1, description: 'First line to return, starting at 1' }),
          end: p.integer({ required: true, min: 1, description: 'Last line to return, inclusive' }),
        },
        { description: 'Range of lines to return. Default: all lines' },
      ),
    }),
  returns: { headers: HEADER_NAMES },
  errors: [
    { status: 400, description: 'The history is too large to compute the blame, or the range is invalid' },
    ...errors,
  ],
  prefetch: ({ query }) => ({ revisions: [query.ref] }),
  handle: async ({ project, params, query, request }, deps) => {
    const { range, ref } = query;
    if (range && range.start > range.end)
      throw refused('range[start] must be less than or equal to range[end]');
    const git = codeOf(deps, project);
    const file = await readFile(git, ref, params.file_path);
    const facts = fileFacts({ ...file, sha256: await sha256Of(file.data) }, ref);
    const headers = brandHeaders(deps.environment.serviceName, fileHeaders(facts));
    if (request.method === 'HEAD') return reply({ headers, type: 'application/json' });
    const ranges = await blameFile(git, file, range);
    return json(
      ranges.map(({ commit, lines }) => ({ commit: blamedCommit(commit), lines })),
      { headers },
    );
  },
});

export const fileEndpoints = [get, getRaw, create, update, remove, getBlame];

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
