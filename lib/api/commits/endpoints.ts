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
import { projectUrl } from '../projects/present.ts';
import { commentEndpoints } from './comments.ts';
import { commitDiff } from './diff.ts';
import { commitDiscussionEndpoints } from './discussions.ts';
import { commitSha } from './params.ts';
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
      ref_name: p.string({
        description: 'Branch, tag or revision range `a..b`. Default: the default branch',
      }),
      since: p.datetime({ description: 'Date from which to return commits, inclusive (ISO 8601)' }),
      until: p.datetime({ description: 'Date up to which to return commits, inclusive (ISO 8601)' }),
      path: p.string({ description: 'Return only commits that change this file or directory' }),
      all: p.boolean({ default: false, description: 'Return the commits of all branches and tags' }),
      with_stats: p.boolean({
        default: false,
        description: 'Include the number of added and deleted lines of each commit',
      }),
      first_parent: p.boolean({
        default: false,
        description: 'Follow only the first parent of merge commits',
      }),
      order: p.oneOf(['default', 'topo'], {
        default: 'default',
        description: '`default`: reverse chronological order; `topo`: no parent before all its children',
      }),
      trailers: p.boolean({
        default: false,
        description: 'Parse the Git trailers of each commit message and include them',
      }),
    }),
  returns: { body: shapes.commits },
  paginate: 'offset',
  anyOffset: true,
  prefetch: ({ query }) =>
    query.all
      ? { under: ['refs/heads/', 'refs/tags/'], packs: false }
      : { revisions: rangeEnds(query.ref_name || undefined) },
  handle: async ({ project, query, page, request }, deps) => {
    const git = codeOf(deps, project);
    const commits = await listCommits(git, {
      refName: query.ref_name || undefined,
      all: query.all,
      path: query.path || undefined,
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
    // A total would cost a walk over the whole history: none is returned, and a full page is assumed to have a next one.
    return { items };
  },
});

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha',
  area,
  summary: 'Get a commit',
  access: readable,
  params: commitSha,
  query: () =>
    p.params({
      stats: p.boolean({ default: true, description: 'Include the number of added and deleted lines' }),
    }),
  returns: { body: shapes.commitDetail },
  errors: [{ status: 404, description: 'Commit not found' }],
  prefetch: ({ params }) => ({ revisions: [params.sha] }),
  handle: async ({ actor, project, params, query, request }, deps) => {
    const git = codeOf(deps, project);
    // A full SHA is most likely the commit's own: its pipeline is read in parallel with the commit.
    const probableOid = parseOid(params.sha.toLowerCase());
    const pipelineOfOid = probableOid && started(lastPipeline(deps, actor, project, probableOid));
    const { commit } = await resolved(git, params.sha);
    const [record, counted, pipeline] = await Promise.all([
      git.commit(commit),
      query.stats ? git.stats(commit) : undefined,
      commit === probableOid ? pipelineOfOid : lastPipeline(deps, actor, project, commit),
    ]);
    const url = projectUrl(project.project, request.baseUrl);
    return commitDetail(record, url, project.project.id, counted, pipeline);
  },
});

const ACTIONS = ['create', 'delete', 'move', 'update', 'chmod'] as const;

const action = () =>
  p.object({
    action: p.oneOf(ACTIONS, { required: true, description: 'Action to perform on the file' }),
    file_path: p.string({ required: true, description: 'Full path of the file' }),
    previous_path: p.string({ description: 'Current full path of the file to move; `move` only' }),
    content: p.content({
      description:
        'Content of the file; required for `create` and `update`. `move` keeps the content when absent',
    }),
    encoding: p.oneOf(ENCODINGS, { default: 'text', description: 'Encoding of `content`' }),
    last_commit_id: p.string({
      description:
        'Last known commit ID of the file; the request is rejected if the file has changed since. `update`, `move` and `delete` only',
    }),
    execute_filemode: p.boolean({ description: 'Make the file executable, or not; `chmod` only' }),
  });

const create = endpoint({
  method: 'POST',
  path: '/projects/:id/repository/commits',
  area,
  summary: 'Create a commit with multiple files and actions',
  access: project('read_history'),
  body: () =>
    p.params(
      {
        branch: p.string({ required: true, blank: false, description: 'Branch to commit to' }),
        commit_message: p.string({ required: true, description: 'Commit message' }),
        actions: p.array(action(), {
          required: true,
          maxItems: 10_000,
          description: 'Actions to commit together, at most 10,000',
        }),
        start_branch: p.string({ description: 'Branch to create `branch` from' }),
        start_sha: p.string({ description: 'Full SHA of the commit to create `branch` from' }),
        start_project: p.string({
          description: 'ID or full path of the project to create `branch` from. Default: this project',
        }),
        author_email: p.string({
          description: 'Email address of the commit author. Default: that of the caller',
        }),
        author_name: p.string({ description: 'Name of the commit author. Default: that of the caller' }),
        stats: p.boolean({ default: true, description: 'Include the number of added and deleted lines' }),
        force: p.boolean({
          default: false,
          description: 'Overwrite `branch` with a new commit based on `start_branch` or `start_sha`',
        }),
      },
      [p.mutuallyExclusive('start_branch', 'start_sha')],
    ),
  returns: { body: shapes.commitDetail },
  errors: [
    { status: 400, description: 'An action was rejected; nothing was committed' },
    { status: 403, description: 'Not allowed to push to the branch' },
  ],
  bodyLimit: 100 * 1024 * 1024,
  prefetch: ({ body }) => ({ branches: [body.branch, body.start_branch], rules: 'branch' }),
  handle: async ({ actor, project, body, request }, deps) => {
    requireActionFields(body.actions);
    if (body.actions.length === 0) throw badRequest('actions is empty');
    const { git, commit } = await commitActions(
      deps,
      actor,
      project,
      {
        branch: body.branch,
        message: body.commit_message,
        actions: await guardedActionsOf(body.actions),
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

const listRefs = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/refs',
  area,
  summary: 'List the branches and tags that contain a commit',
  access: readable,
  params: commitSha,
  query: () =>
    p.params({
      type: p.oneOf(['branch', 'tag', 'all'], {
        default: 'all',
        description: 'Return only branches, only tags, or both',
      }),
    }),
  paginate: 'offset',
  anyOffset: true,
  errors: [{ status: 404, description: 'Commit not found' }],
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
  listRefs,
  commitDiff,
  ...pickEndpoints,
  ...commentEndpoints,
  ...commitDiscussionEndpoints,
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

/** Checks the fields that an action requires in addition to its path. @throws 400 naming each missing field, as a parameter schema would */
function requireActionFields(actions: readonly ActionBody[]): void {
  const requiredField = {
    create: 'content',
    update: 'content',
    move: 'previous_path',
    chmod: 'execute_filemode',
  } as const;
  const missing = actions.flatMap((action, index) => {
    const name = action.action === 'delete' ? undefined : requiredField[action.action];
    return name !== undefined && action[name] === undefined ? [`actions[${index}][${name}] is missing`] : [];
  });
  if (missing.length > 0) throw badParameters(missing);
}

async function guardedActionsOf(actions: readonly ActionBody[]): Promise<GuardedAction[]> {
  const guarded: GuardedAction[] = [];
  for (const [index, body] of actions.entries()) {
    const content =
      body.content === undefined
        ? undefined
        : await decodeContent(body.content, body.encoding, `actions[${index}][content]`);
    guarded.push({ edit: editOf(body, content), lastCommitId: body.last_commit_id });
  }
  return guarded;
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
