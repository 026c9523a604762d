/** Visibility, projects and groups, repositories and their branches. */
import { branchRef } from '../../../git/refname.ts';
import { bool, hostname, int, isHttpUrl, line, list, obeyed, text, url, weights, word } from '../kinds.ts';

const VISIBILITIES = ['private', 'internal', 'public'] as const;
const visibility = () => word(VISIBILITIES);
/** The only place repositories are kept in. */
const STORAGE = 'default';

const IMPORT_SOURCES = [
  'github',
  'bitbucket',
  'bitbucket_server',
  'gitlab',
  'google_code',
  'fogbugz',
  'git',
  'gitlab_project',
  'gitea',
  'manifest',
  'phabricator',
] as const;

const branchNameProblem = (name: string) =>
  branchRef(name) === undefined ? 'is not a valid branch name' : undefined;

const noDirectoryAbove = (path: string) =>
  /\.\.|^\//.test(path) ? 'cannot include leading slash or directory traversal.' : undefined;

/** Something a path can follow. */
const isRoot = (text: string) => isHttpUrl(text) && !/[?#\s]/.test(text);

export const accessAttributes = {
  default_project_visibility: visibility(),
  default_group_visibility: visibility(),
  default_snippet_visibility: word(VISIBILITIES, { default: 'private' }),
  restricted_visibility_levels: list({
    check: (level) =>
      (VISIBILITIES as readonly string[]).includes(level)
        ? undefined
        : `'${level}' is not a valid visibility level`,
  }),
  default_projects_limit: int(),
  default_project_creation: int({ values: [0, 1, 2] }),
  default_branch_name: obeyed(line({ check: branchNameProblem })),
  default_branch_protection: int({ values: [0, 1, 2, 3] }),
  delayed_project_deletion: bool(),
  deletion_adjourned_period: int({ max: 90 }),
  default_project_deletion_protection: bool(),
  delayed_group_deletion: bool(),
  project_export_enabled: bool(true),
  import_sources: list({
    check: (source) =>
      (IMPORT_SOURCES as readonly string[]).includes(source)
        ? undefined
        : `'${source}' is not a import source`,
  }),
  enabled_git_access_protocol: word(['ssh', 'http', 'nil', ''], { nullable: true }),
  custom_http_clone_url_root: obeyed(
    line({ check: (root) => (isRoot(root) ? undefined : 'must be a valid URL') }),
  ),
  commit_email_hostname: hostname(),
  repository_checks_enabled: bool(true),
  repository_storages: list({
    default: [STORAGE],
    check: (name) => (name === STORAGE ? undefined : `can't include: ${name}`),
  }),
  repository_storages_weighted: weights({ [STORAGE]: 100 }),
  repository_size_limit: int(),
  file_template_project_id: int({ default: null, nullable: true }),
  custom_project_templates_group_id: int({ default: null, nullable: true }),
  check_namespace_plan: bool(false),
  automatic_purchased_storage_allocation: bool(false),
  enforce_namespace_storage_limit: bool(false),
  mirror_available: bool(true),
  mirror_capacity_threshold: int({ default: 50, min: 1 }),
  mirror_max_capacity: int({ default: 100, min: 1 }),
  mirror_max_delay: int({ default: 300, min: 1 }),
  housekeeping_enabled: bool(true),
  housekeeping_bitmaps_enabled: bool(true),
  housekeeping_incremental_repack_period: int({ default: 10, above: 0 }),
  housekeeping_full_repack_period: int({ default: 50, above: 0 }),
  housekeeping_gc_period: int({ default: 200, above: 0 }),
  gitaly_timeout_default: int({ default: 55, max: 57 }),
  gitaly_timeout_fast: int({ default: 10 }),
  gitaly_timeout_medium: int({ default: 30 }),
  diff_max_patch_bytes: int({ min: 204_800, max: 512_000 }),
  diff_max_files: int({ min: 1000, max: 3000 }),
  diff_max_lines: int({ min: 50_000, max: 100_000 }),
  default_ci_config_path: obeyed(line({ check: noDirectoryAbove })),
  external_authorization_service_enabled: bool(false),
  external_authorization_service_default_label: line(),
  external_authorization_service_url: url(),
  maintenance_mode: bool(),
  maintenance_mode_message: obeyed(text({ max: 255 })),
  geo_node_allowed_ips: line({ default: '0.0.0.0/0, ::/0', nullable: false }),
  geo_status_timeout: int({ default: 10 }),
} as const;
