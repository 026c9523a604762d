import { getMergeRequest } from '../../domain/merge-requests/find.ts';
import {
  getVersion,
  isCut,
  listVersions,
  proposedCommits,
  proposedFiles,
} from '../../domain/merge-requests/proposed.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import type { DiffVersion, MergeRequestRecord } from '../../records/merge-requests.ts';
import { commitBasic, fileDiff } from '../commits/present.ts';
import * as commitShapes from '../commits/shapes.ts';
import { endpoint } from '../endpoint.ts';
import { projectUrl } from '../projects/present.ts';
import * as shapes from './change-shapes.ts';
import { mergeRequestFields, ofMergeRequest } from './params.ts';
import { countOfFiles } from './present.ts';
import { presentedMergeRequest } from './presented.ts';

const area = 'merge-request-changes';
const path = '/projects/:id/merge_requests/:merge_request_iid' as const;
const access = project('read_merge_requests');
const errors = [{ status: 404, description: 'Merge request not found' }];
const LIMITS =
  'The diff is limited by the settings `diff_max_files` (default 1,000), `diff_max_patch_bytes` for each file (200 KB) and ' +
  '`diff_max_lines` (50,000), and to 4 MB in total.';

const commits = endpoint({
  method: 'GET',
  path: `${path}/commits`,
  area,
  summary: 'List the commits of a merge request',
  description:
    'The newest first, at most 10,000: those that the target branch lacked when the last was pushed.',
  access,
  params: ofMergeRequest,
  returns: { body: commitShapes.commits },
  paginate: 'offset',
  errors,
  handle: async ({ actor, project, params, page, request }, deps) => {
    const { mergeRequest } = await getMergeRequest(deps, actor, project, params.merge_request_iid);
    const { items, total } = await proposedCommits(deps, project, mergeRequest.diff, page);
    const url = projectUrl(project.project, request.baseUrl);
    return { items: items.map((commit) => commitBasic(commit, url)), total };
  },
});

const changes = endpoint({
  method: 'GET',
  path: `${path}/changes`,
  area,
  summary: 'Get a merge request with its changes',
  description: `${LIMITS} \`overflow\` is true when a limit was reached.`,
  access,
  params: ofMergeRequest,
  query: () =>
    p.params({
      access_raw_diffs: p.boolean({
        default: false,
        description: 'Return up to 3,000 files and 4 MB in total, whatever the settings say',
      }),
    }),
  returns: { body: shapes.changedMergeRequest },
  errors,
  handle: async ({ actor, project, params, query, request }, deps) => {
    const found = await getMergeRequest(deps, actor, project, params.merge_request_iid);
    const [shown, diffs] = await Promise.all([
      presentedMergeRequest(deps, actor, found, request.baseUrl),
      proposedFiles(deps, project, found.mergeRequest.diff, { whole: query.access_raw_diffs }),
    ]);
    return { ...shown, changes: diffs.files.map(fileDiff), overflow: isCut(diffs) };
  },
});

const diffs = endpoint({
  method: 'GET',
  path: `${path}/diffs`,
  area,
  summary: 'List the changed files of a merge request',
  description: LIMITS,
  access,
  params: ofMergeRequest,
  returns: { body: shapes.listedDiffs },
  paginate: 'offset',
  errors,
  handle: async ({ actor, project, params, page }, deps) => {
    const { mergeRequest } = await getMergeRequest(deps, actor, project, params.merge_request_iid);
    const { files } = await proposedFiles(deps, project, mergeRequest.diff);
    const items = files
      .slice(page.offset, page.offset + page.perPage)
      .map((file) => ({ ...fileDiff(file), collapsed: file.collapsed, too_large: file.tooLarge }));
    return { items, total: files.length };
  },
});

const versions = endpoint({
  method: 'GET',
  path: `${path}/versions`,
  area,
  summary: 'List the versions of a merge request',
  description:
    'The newest first. Each push to the source branch makes one, and so does another target branch.',
  access,
  params: ofMergeRequest,
  returns: { body: shapes.versions },
  paginate: 'offset',
  errors,
  handle: async ({ actor, project, params, page }, deps) => {
    const { mergeRequest } = await getMergeRequest(deps, actor, project, params.merge_request_iid);
    const { items, total } = await listVersions(deps, mergeRequest, page);
    return { items: items.map((version) => presentVersion(mergeRequest, version)), total };
  },
});

/** Commits that one version shows. */
const SHOWN_COMMITS = 1_000;

const version = endpoint({
  method: 'GET',
  path: `${path}/versions/:version_id`,
  area,
  summary: 'Get a version of a merge request',
  description: `With its newest 1,000 commits. ${LIMITS}`,
  access,
  params: () =>
    p.params({
      ...mergeRequestFields(),
      version_id: p.integer({ required: true, description: 'ID of the version' }),
    }),
  returns: { body: shapes.versionWithDiffs },
  errors: [{ status: 404, description: 'Merge request or version not found' }],
  handle: async ({ actor, project, params, request }, deps) => {
    const { mergeRequest } = await getMergeRequest(deps, actor, project, params.merge_request_iid);
    const found = await getVersion(deps, mergeRequest, params.version_id);
    const [{ items }, { files }] = await Promise.all([
      proposedCommits(deps, project, found, { offset: 0, perPage: SHOWN_COMMITS }),
      proposedFiles(deps, project, found),
    ]);
    const url = projectUrl(project.project, request.baseUrl);
    return {
      ...presentVersion(mergeRequest, found),
      commits: items.map((commit) => commitBasic(commit, url)),
      diffs: files.map(fileDiff),
    };
  },
});

const presentVersion = ({ id }: MergeRequestRecord, version: DiffVersion) => ({
  id: version.id,
  head_commit_sha: version.headSha,
  base_commit_sha: version.baseSha,
  start_commit_sha: version.startSha,
  created_at: version.createdAt,
  merge_request_id: id,
  state: version.headSha === version.baseSha ? ('empty' as const) : ('collected' as const),
  real_size: countOfFiles(version),
});

export const mergeRequestChangeEndpoints = [commits, changes, diffs, versions, version];
