import { commitActions, type GuardedAction } from '../../domain/commits/actions.ts';
import { refsContaining } from '../../domain/commits/refs.ts';
import { badRequest } from '../../domain/errors.ts';
import { lastPipeline } from '../../domain/pipelines/status.ts';
import { codeOf, listCommits, rangeEnds, resolved } from '../../domain/repository/read.ts';
import { started } from '../../domain/started.ts';
import type { EditAction } from '../../git/edit.ts';
import { parseOid } from '../../git/oid.ts';
import { project } from '../../http/access.ts';
import { badParameters } from '../../http/errors.ts';
import * as p from '../../http/params.ts';
import { endpoint } from '../endpoint.ts';
import { decodeContent, ENCODINGS } from '../files/content.ts';
import { statusEndpoints } from '../pipelines/commit-statuses.ts';
import { projectUrl } from '../projects/present.ts';
import { commentEndpoints } from './comments.ts';
import { commitDiff } from './diff.ts';
import { pickEndpoints } from './pick.ts';
import { commitBasic, commitDetail, stats } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'commits';
const readable = project('read_history', { anonymous: true });

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits',
  area,
  summary: 'List the commits of a repository',
  access: readable,
  query: () =>
    p.params({
      ref_name: p.string({ description: 'Branch, tag or range `a..b`; the default branch when absent' }),
      since: p.datetime({ description: 'Not before' }),
      until: p.datetime({ description: 'Not after' }),
      path: p.string({ description: 'Only commits that change this path' }),
      all: p.boolean({ default: false, description: 'From every branch and tag' }),
      with_stats: p.boolean({ default: false, description: 'Count the lines of each commit' }),
      first_parent: p.boolean({ default: false, description: 'Follow only the first parent of merges' }),
      order: p.oneOf(['default', 'topo'], { default: 'default' }),
      trailers: p.boolean({ default: false, description: 'Parse the trailers of the messages' }),
    }),
  returns: { body: shapes.commits },
  paginate: 'offset',
  prefetch: ({ query }) =>
    query.all
      ? { under: ['refs/heads/', 'refs/tags/'], packs: false }
      : { revisions: rangeEnds(query.ref_name) },
  handle: async ({ project, query, page, request }, deps) => {
    const git = codeOf(deps, project);
    const commits = await listCommits(git, {
      refName: query.ref_name,
      all: query.all,
      path: query.path,
      since: query.since,
      until: query.until,
      firstParent: query.first_parent,
      topological: query.order === 'topo',
      skip: page.offset,
      limit: page.perPage,
    });
    const url = projectUrl(project.project, request.baseUrl);
    const items = [];
    for (const commit of commits) {
      const counted = query.with_stats ? { stats: stats(await git.stats(commit.oid)) } : {};
      items.push({ ...commitBasic(commit, url, { trailers: query.trailers }), ...counted });
    }
    // Counting a history costs a walk over all of it: no total is told, and a full page is taken to have a next.
    return { items };
  },
});

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha',
  area,
  summary: 'Get a commit by id, branch or tag',
  access: readable,
  query: () => p.params({ stats: p.boolean({ default: true, description: 'Count the lines' }) }),
  returns: { body: shapes.commitDetail },
  errors: [{ status: 404, description: 'No such commit' }],
  prefetch: ({ params }) => ({ revisions: [params.sha] }),
  handle: async ({ actor, project, params, query, request }, deps) => {
    const git = codeOf(deps, project);
    // A full id most likely is the commit's own: what is said about it is read beside it.
    const likely = parseOid(params.sha.toLowerCase());
    const reading = likely && started(lastPipeline(deps, actor, project, likely));
    const { commit } = await resolved(git, params.sha);
    const [record, counted, pipeline] = await Promise.all([
      git.commit(commit),
      query.stats ? git.stats(commit) : undefined,
      commit === likely ? reading : lastPipeline(deps, actor, project, commit),
    ]);
    const url = projectUrl(project.project, request.baseUrl);
    return commitDetail(record, url, project.project.id, counted, pipeline);
  },
});

const ACTIONS = ['create', 'delete', 'move', 'update', 'chmod'] as const;

const action = () =>
  p.object({
    action: p.oneOf(ACTIONS, { required: true }),
    file_path: p.string({ required: true, description: 'Full path of the file' }),
    previous_path: p.string({ description: 'Where the file is now; for `move`' }),
    content: p.content({ description: 'For `create` and `update`; `move` keeps what there is without it' }),
    encoding: p.oneOf(ENCODINGS, { default: 'text' }),
    last_commit_id: p.string({
      description: 'Refuse when the file changed since; for `update`, `move`, `delete`',
    }),
    execute_filemode: p.boolean({ description: 'For `chmod`' }),
  });

const create = endpoint({
  method: 'POST',
  path: '/projects/:id/repository/commits',
  area,
  summary: 'Create a commit of many changes',
  access: project('read_history'),
  body: () =>
    p.params(
      {
        branch: p.string({ required: true, blank: false, description: 'Branch to commit to' }),
        commit_message: p.string({ required: true }),
        actions: p.array(action(), { required: true, maxItems: 10_000 }),
        start_branch: p.string({ description: 'Branch to start a new branch from' }),
        start_sha: p.string({ description: 'Commit to start a new branch from: a full id' }),
        start_project: p.string({ description: 'Project to start from; this one when absent' }),
        author_email: p.string(),
        author_name: p.string(),
        stats: p.boolean({ default: true, description: 'Count the lines' }),
        force: p.boolean({ default: false, description: 'Replace what the branch points to' }),
      },
      [p.mutuallyExclusive('start_branch', 'start_sha')],
    ),
  returns: { body: shapes.commitDetail },
  errors: [
    { status: 400, description: 'A change cannot be made; nothing was' },
    { status: 403, description: 'No right to push to the branch' },
  ],
  bodyLimit: 100 * 1024 * 1024,
  prefetch: ({ body }) => ({ branches: [body.branch, body.start_branch], rules: 'branch' }),
  handle: async ({ actor, project, body, request }, deps) => {
    requireFields(body.actions);
    if (body.actions.length === 0) throw badRequest('actions is empty');
    const { git, commit } = await commitActions(
      deps,
      actor,
      project,
      {
        branch: body.branch,
        message: body.commit_message,
        actions: body.actions.map(guarded),
        startBranch: body.start_branch || undefined,
        startSha: body.start_sha || undefined,
        startProject: body.start_project || undefined,
        authorName: body.author_name,
        authorEmail: body.author_email,
        force: body.force,
      },
      {
        push: 'You are not allowed to push into this branch',
        stale: (path) => `The file has changed since you started editing it: ${path}`,
      },
    );
    const counted = body.stats ? await git.stats(commit.oid) : undefined;
    return commitDetail(commit, projectUrl(project.project, request.baseUrl), project.project.id, counted);
  },
});

const refs = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/refs',
  area,
  summary: 'List the branches and tags that contain a commit',
  access: readable,
  query: () =>
    p.params({
      type: p.oneOf(['branch', 'tag', 'all'], { default: 'all', description: 'Only branches, or only tags' }),
    }),
  paginate: 'offset',
  errors: [{ status: 404, description: 'No such commit' }],
  prefetch: ({ params, query }) => ({
    revisions: [params.sha],
    under:
      query.type === 'all'
        ? ['refs/heads/', 'refs/tags/']
        : [`refs/${query.type === 'tag' ? 'tags' : 'heads'}/`],
  }),
  handle: async ({ project, params, query, page }, deps) => {
    const found = await refsContaining(codeOf(deps, project), params.sha, query.type);
    return { items: found.slice(page.offset, page.offset + page.perPage), total: found.length };
  },
});

export const commitEndpoints = [
  list,
  get,
  create,
  refs,
  commitDiff,
  ...pickEndpoints,
  ...commentEndpoints,
  ...statusEndpoints,
];

interface ActionBody {
  readonly action: (typeof ACTIONS)[number];
  readonly file_path: string;
  readonly previous_path?: string;
  readonly content?: string;
  readonly encoding: (typeof ENCODINGS)[number];
  readonly last_commit_id?: string;
  readonly execute_filemode?: boolean;
}

/** What an action needs beside its path. @throws 400 naming each that is missing, as a parameter schema would */
function requireFields(actions: readonly ActionBody[]): void {
  const needed = {
    create: 'content',
    update: 'content',
    move: 'previous_path',
    chmod: 'execute_filemode',
  } as const;
  const missing = actions.flatMap((action, index) => {
    const field = action.action === 'delete' ? undefined : needed[action.action];
    return field !== undefined && action[field] === undefined
      ? [`actions[${index}][${field}] is missing`]
      : [];
  });
  if (missing.length > 0) throw badParameters(missing);
}

function guarded(body: ActionBody, index: number): GuardedAction {
  const content =
    body.content === undefined
      ? undefined
      : decodeContent(body.content, body.encoding, `actions[${index}][content]`);
  return { edit: editOf(body, content), lastCommitId: body.last_commit_id };
}

function editOf(body: ActionBody, content: Uint8Array | undefined): EditAction {
  const path = body.file_path;
  switch (body.action) {
    case 'create':
    case 'update':
      return { action: body.action, path, content: content ?? new Uint8Array() };
    case 'delete':
      return { action: 'delete', path };
    case 'move':
      return {
        action: 'move',
        path,
        from: body.previous_path!,
        ...(content === undefined ? {} : { content }),
      };
    case 'chmod':
      return { action: 'chmod', path, executable: body.execute_filemode === true };
  }
}
