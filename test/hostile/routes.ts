/** Every read of a repository's content. `:path` and `:sha` are the hostile repository's. */
export const READS: readonly string[] = [
  'commits',
  'commits?per_page=100&with_stats=true',
  'commits?per_page=100&trailers=true&all=true',
  'commits?path=:path',
  'commits?order=topo&per_page=100',
  'commits/:sha',
  'commits/:sha/diff',
  'commits/:sha/refs',
  'commits/:sha/signature',
  'tree?per_page=100',
  'tree?recursive=true&per_page=100',
  'tree?recursive=true&per_page=100&page=50',
  'tree?path=:path',
  'files/:path?ref=HEAD',
  'files/:path/raw?ref=HEAD',
  'files/:path/blame?ref=HEAD',
  'archive.zip',
  'archive.tar.gz',
  'archive.tar.bz2',
  'archive.tar?path=:path',
  'compare?from=HEAD~1&to=HEAD',
  'compare?from=other&to=HEAD',
  'merge_base?refs[]=HEAD&refs[]=other',
  'compare?from=HEAD~1&to=HEAD&straight=true',
  'merge_base?refs[]=HEAD&refs[]=HEAD~1',
  'contributors',
  'branches?per_page=100',
  'branches/main',
  'tags?per_page=100',
  'tags/t',
  'tags/t/signature',
  'changelog?version=1.0.0&trailer=Changelog',
];

/** The same of the file `:blob`, where `:path` is one. */
export const READS_OF_BLOB: readonly string[] = ['blobs/:blob', 'blobs/:blob/raw'];

interface Write {
  readonly method: string;
  readonly path: string;
  readonly json?: Readonly<Record<string, unknown>>;
}

/** What proposing, reviewing and merging the newest commit asks for, below `/projects/:id`. */
export const PROPOSAL: readonly Write[] = [
  { method: 'POST', path: 'repository/branches', json: { branch: 'base', ref: 'HEAD~1' } },
  {
    method: 'POST',
    path: 'protected_branches',
    json: { name: 'base', code_owner_approval_required: true },
  },
  {
    method: 'PUT',
    path: 'repository/files/new',
    json: { branch: 'base', content: 'x', commit_message: 'm' },
  },
  {
    method: 'POST',
    path: 'merge_requests',
    json: { source_branch: 'main', target_branch: 'base', title: 't' },
  },
  ...[
    ...['merge_requests/1', 'merge_requests/1/commits', 'merge_requests/1/changes', 'merge_requests/1/diffs'],
    ...['merge_requests/1/versions', 'merge_requests/1/versions/:version', 'merge_requests/1/merge_ref'],
    ...['repository/commits/:sha/merge_requests', 'merge_requests/1?include_diverged_commits_count=true'],
    ...['merge_requests/1/approvals', 'merge_requests/1/approval_state', 'merge_requests/1/approval_rules'],
  ].map((path) => ({ method: 'GET', path })),
  { method: 'POST', path: 'merge_requests/1/approve', json: {} },
  { method: 'POST', path: 'housekeeping', json: {} },
  { method: 'PUT', path: 'merge_requests/1/rebase', json: {} },
  { method: 'PUT', path: 'merge_requests/1/merge', json: { should_remove_source_branch: false } },
];

/** Every write that reads a repository's content, below `/projects/:id/repository`. They change what later ones read. */
export const WRITES: readonly Write[] = [
  { method: 'POST', path: 'branches', json: { branch: 'root', ref: 'HEAD~1' } },
  { method: 'POST', path: 'commits/:sha/cherry_pick', json: { branch: 'root' } },
  { method: 'POST', path: 'commits/:sha/revert', json: { branch: 'main' } },
  { method: 'POST', path: 'tags', json: { tag_name: 'new', ref: 'HEAD', message: 'm' } },
  { method: 'POST', path: 'files/new', json: { branch: 'main', content: 'x', commit_message: 'm' } },
  { method: 'PUT', path: 'files/:path', json: { branch: 'main', content: 'x', commit_message: 'm' } },
  {
    method: 'POST',
    path: 'commits',
    json: {
      branch: 'main',
      commit_message: 'm',
      actions: [{ action: 'move', previous_path: ':path', file_path: 'moved' }],
    },
  },
  { method: 'DELETE', path: 'files/:path', json: { branch: 'main', commit_message: 'm' } },
  {
    method: 'POST',
    path: 'commits/:sha/comments',
    json: { note: 'n', path: ':path', line: 1, line_type: 'new' },
  },
  { method: 'POST', path: 'changelog', json: { version: '2.0.0', branch: 'main' } },
  { method: 'DELETE', path: 'merged_branches', json: {} },
];
