import { type CommitComment, commentOnCommit, listCommitComments } from '../../domain/commits/comments.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { counted, endpoint } from '../endpoint.ts';
import { author } from '../users/present.ts';
import * as shapes from './shapes.ts';

const area = 'commits';
const path = '/projects/:id/repository/commits/:sha/comments';

const list = endpoint({
  method: 'GET',
  path,
  area,
  summary: 'List the comments on a commit',
  access: project('read_history', { anonymous: true }),
  returns: { body: shapes.commitComments },
  paginate: 'offset',
  errors: [{ status: 404, description: 'No such commit' }],
  prefetch: ({ params }) => ({ revisions: [params.sha] }),
  handle: async ({ project, params, page, request }, deps) => {
    const { items, ...rest } = await listCommitComments(deps, project, params.sha, counted(page));
    return { ...rest, items: items.map((comment) => present(comment, request.baseUrl)) };
  },
});

/** A blank path is none. */
const onLine = ({ path }: Readonly<Record<string, unknown>>) =>
  typeof path === 'string' && path.trim() !== '';

const create = endpoint({
  method: 'POST',
  path,
  area,
  summary: 'Comment on a commit, or on a line of it',
  description: 'A line that the diff of the commit does not add or delete is left out of the comment.',
  access: project('read_history'),
  body: () =>
    p.params(
      {
        note: p.string({ required: true, description: 'Text' }),
        path: p.string({ description: 'Path of a file that the commit changed' }),
        line: p.integer({ description: 'Number of the line; needed with `path`' }),
        line_type: p.oneOf(['new', 'old'], {
          default: 'new',
          description: 'A line that was added, or deleted',
        }),
      },
      [p.requiredWhen('line', onLine)],
    ),
  returns: { body: shapes.commitComment },
  errors: [
    { status: 400, description: 'The text cannot be kept' },
    { status: 404, description: 'No such commit' },
    { status: 429, description: 'More comments in a minute than the settings allow' },
  ],
  prefetch: ({ params }) => ({ revisions: [params.sha] }),
  handle: async ({ actor, project, params, body, request }, deps) => {
    const { note, path, line, line_type } = body;
    const place = onLine(body) && path !== undefined && line !== undefined;
    const made = await commentOnCommit(deps, actor, project, params.sha, {
      body: note,
      line: place ? { path, line, type: line_type } : undefined,
    });
    return present(made, request.baseUrl);
  },
});

export const commentEndpoints = [list, create];

function present({ note, author: account }: CommitComment, baseUrl: string) {
  const { line } = note;
  return {
    note: note.body,
    path: line?.path ?? null,
    line: line === null ? null : line.type === 'new' ? line.newLine : line.oldLine,
    line_type: line?.type ?? null,
    author: author(account, note.author, baseUrl),
    created_at: note.createdAt,
  };
}
