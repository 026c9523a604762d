import { commentOnCommit, listCommitComments } from '../../domain/commits/comments.ts';
import type { LoadedNote } from '../../domain/notes/loaded.ts';
import { actingCommit } from '../../domain/quick-actions/commits.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { BY_ROWS, counted, endpoint } from '../endpoint.ts';
import { answered, ONLY_ACTIONS } from '../notes/acted.ts';
import { author } from '../users/present.ts';
import { commitSha } from './params.ts';
import * as shapes from './shapes.ts';

const area = 'commits';
const path = '/projects/:id/repository/commits/:sha/comments';

const list = endpoint({
  method: 'GET',
  path,
  area,
  summary: 'List the comments on a commit',
  access: project('read_history', { anonymous: true }),
  params: commitSha,
  returns: { body: shapes.commitComments },
  ...BY_ROWS,
  errors: [{ status: 404, description: 'Commit not found' }],
  prefetch: ({ params }) => ({ revisions: [params.sha] }),
  handle: async ({ actor, project, params, page, request }, deps) => {
    const { items, ...rest } = await listCommitComments(deps, actor, project, params.sha, counted(page));
    return { ...rest, items: items.map((comment) => present(comment, request.baseUrl)) };
  },
});

/** Whether the comment is on a line; a blank path counts as absent. */
const isOnLine = ({ path }: Readonly<Record<string, unknown>>) =>
  typeof path === 'string' && path.trim() !== '';

const create = endpoint({
  method: 'POST',
  path,
  area,
  summary: 'Comment on a commit',
  description:
    'Comments on a line of the diff if `path` and `line` are given. The position is dropped if the commit does not add or delete that line. A line `/tag <name> <message>` tags the commit.',
  access: project('read_history'),
  params: commitSha,
  body: () =>
    p.params(
      {
        note: p.string({ required: true, description: 'Text of the comment' }),
        path: p.string({ description: 'Path of a file that the commit changes' }),
        line: p.integer({ description: 'Line number; required with `path`' }),
        line_type: p.oneOf(['new', 'old'], {
          default: 'new',
          description: 'Whether `line` counts the lines of the new or of the old file',
        }),
      },
      [p.requiredWhen('line', isOnLine)],
    ),
  returns: { body: shapes.commitComment, or: ONLY_ACTIONS },
  errors: [
    { status: 400, description: 'The text of the comment is invalid' },
    { status: 404, description: 'Commit not found' },
    { status: 429, description: 'The rate limit for comments is exceeded' },
  ],
  prefetch: ({ params }) => ({ revisions: [params.sha] }),
  handle: async ({ actor, project, params, body, request }, deps) => {
    const { note, path, line, line_type } = body;
    const isLineComment = isOnLine(body) && path !== undefined && line !== undefined;
    const input = {
      body: note,
      line: isLineComment ? { path, line, type: line_type } : undefined,
    };
    const withActions = actingCommit(deps, actor, project);
    const acted = await commentOnCommit(deps, actor, project, params.sha, input, withActions);
    return answered(acted, (comment) => present(comment, request.baseUrl));
  },
});

export const commentEndpoints = [list, create];

function present({ note, body, author: account }: LoadedNote, baseUrl: string) {
  const { line } = note;
  return {
    note: body,
    path: line?.path ?? null,
    line: line === null ? null : line.type === 'new' ? line.newLine : line.oldLine,
    line_type: line?.type ?? null,
    author: author(account, note.author, baseUrl),
    created_at: note.createdAt,
  };
}
