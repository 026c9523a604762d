/** Visibility, projects and groups, repositories and their branches. */
import { isOidLike, newBranchRef } from '../../../git/refname.ts';
import {
  bool,
  described,
  hostname,
  int,
  isHttpUrl,
  line,
  list,
  obeyed,
  text,
  url,
  weights,
  word,
} from '../kinds.ts';

const VISIBILITIES = ['private', 'internal', 'public'] as const;
const visibility = () => word(VISIBILITIES);
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
  newBranchRef(name) === undefined || isOidLike(name) ? 'is not a valid branch name' : undefined;

const ciPathProblem = (path: string) =>
  /\.\.|^\//.test(path) ? 'cannot include leading slash or directory traversal.' : undefined;

/** A URL that a path can be appended to. */
const isBaseUrl = (text: string) => isHttpUrl(text) && !/[?#\s]/.test(text);

export const accessAttributes = {
  default_project_visibility: described('Visibility of new projects when none is given', visibility()),
  default_group_visibility: described('Visibility of new groups when none is given', visibility()),
  default_snippet_visibility: described('Visibility of new snippets when none is given', visibility()),
  restricted_visibility_levels: described(
    'Visibilities that only administrators can use for groups, projects and snippets',
    list({
      check: (level) =>
        (VISIBILITIES as readonly string[]).includes(level)
          ? undefined
          : `'${level}' is not a valid visibility level`,
    }),
  ),
  default_projects_limit: described('Number of projects that a new user can own', int()),
  default_project_creation: described(
    'Who can create projects in a group by default; 0: no one, 1: Maintainers, 2: Developers and Maintainers',
    int({ values: [0, 1, 2] }),
  ),
  default_branch_name: described(
    'Name of the default branch of new repositories',
    obeyed(line({ check: branchNameProblem })),
  ),
  default_branch_protection: described(
    'Protection of the default branch of new projects; 0: none, 1: Developers can push, but not force push, 2: only Maintainers can push and merge, 3: only Maintainers can push, Developers can merge',
    int({ values: [0, 1, 2, 3] }),
  ),
  delayed_project_deletion: described('Delay the deletion of projects in groups', bool()),
  deletion_adjourned_period: described(
    'Days between the request and the deletion of a project or group, at most 90',
    int({ max: 90 }),
  ),
  default_project_deletion_protection: described('Allow only administrators to delete projects', bool()),
  delayed_group_deletion: described('Delay the deletion of groups', bool()),
  project_export_enabled: described('Enable project exports', bool(true)),
  import_sources: described(
    'Sources that projects can be imported from',
    list({
      check: (source) =>
        (IMPORT_SOURCES as readonly string[]).includes(source)
          ? undefined
          : `'${source}' is not a import source`,
    }),
  ),
  enabled_git_access_protocol: described(
    'Protocol allowed for Git access: `ssh` or `http`; empty: both',
    word(['ssh', 'http', 'nil', ''], { nullable: true }),
  ),
  custom_http_clone_url_root: described(
    'Base URL of HTTP clone URLs; empty: the address of the instance',
    obeyed(line({ check: (root) => (isBaseUrl(root) ? undefined : 'must be a valid URL') })),
  ),
  commit_email_hostname: described('Hostname of private commit email addresses', hostname()),
  repository_checks_enabled: described('Check repositories for integrity periodically', bool(true)),
  repository_storages: described(
    'Deprecated: names of the storages for new repositories; `repository_storages_weighted` decides',
    list({ default: [STORAGE] }),
  ),
  repository_storages_weighted: described(
    'Weights of the storages for new repositories, 0 to 100; where all are 0 they go to `default`',
    obeyed(weights({ [STORAGE]: 100 })),
  ),
  repository_size_limit: described('Maximum size of a repository in MB; 0: unlimited', int()),
  file_template_project_id: described(
    'Id of the project that contains file templates',
    int({ default: null, nullable: true }),
  ),
  custom_project_templates_group_id: described(
    'Id of the group that contains custom project templates',
    int({ default: null, nullable: true }),
  ),
  check_namespace_plan: described('Make paid features depend on the plan of the namespace', bool(false)),
  automatic_purchased_storage_allocation: described(
    'Allocate purchased storage in a namespace automatically',
    bool(false),
  ),
  enforce_namespace_storage_limit: described('Enforce storage limits of namespaces', bool(false)),
  mirror_available: described('Allow project owners to configure repository mirroring', bool(true)),
  mirror_capacity_threshold: described(
    'Free capacity that must be available before more mirrors are scheduled',
    int({ default: 50, min: 1 }),
  ),
  mirror_max_capacity: described(
    'Number of mirrors that can be updated concurrently',
    int({ default: 100, min: 1 }),
  ),
  mirror_max_delay: described(
    'Maximum time between two updates of a mirror, in minutes',
    int({ default: 300, min: 1 }),
  ),
  housekeeping_enabled: described('Run housekeeping automatically', bool(true)),
  housekeeping_bitmaps_enabled: described('Create bitmaps for packs', bool(true)),
  housekeeping_incremental_repack_period: described(
    'Number of pushes between incremental repacks',
    int({ default: 10, above: 0 }),
  ),
  housekeeping_full_repack_period: described(
    'Number of pushes between full repacks',
    int({ default: 50, above: 0 }),
  ),
  housekeeping_gc_period: described(
    'Number of pushes between garbage collections',
    int({ default: 200, above: 0 }),
  ),
  gitaly_timeout_default: described(
    'Default timeout of Git operations, in seconds; 0: none',
    int({ default: 55, max: 57 }),
  ),
  gitaly_timeout_fast: described('Timeout of fast Git operations, in seconds; 0: none', int({ default: 10 })),
  gitaly_timeout_medium: described(
    'Timeout of medium Git operations, in seconds; 0: none',
    int({ default: 30 }),
  ),
  diff_max_patch_bytes: described(
    'Maximum size of the diff of one file in bytes, 204,800 to 512,000',
    int({ min: 204_800, max: 512_000 }),
  ),
  diff_max_files: described(
    'Maximum number of files in a diff, 1,000 to 3,000',
    int({ min: 1000, max: 3000 }),
  ),
  diff_max_lines: described(
    'Maximum number of lines in a diff, 50,000 to 100,000',
    int({ min: 50_000, max: 100_000 }),
  ),
  default_ci_config_path: described(
    'Default path of the CI configuration file of new projects',
    obeyed(line({ check: ciPathProblem })),
  ),
  external_authorization_service_enabled: described(
    'Use an external authorization service for access to projects',
    bool(false),
  ),
  external_authorization_service_default_label: described(
    'Classification label of projects that have none',
    line(),
  ),
  external_authorization_service_url: described('URL of the external authorization service', url()),
  maintenance_mode: described('Enable maintenance mode, in which all writes are refused', bool()),
  maintenance_mode_message: described(
    'Message shown in maintenance mode, at most 255 characters',
    obeyed(text({ max: 255 })),
  ),
  geo_node_allowed_ips: described(
    'IP addresses and CIDR ranges of allowed secondary nodes, comma-separated',
    line({ default: '0.0.0.0/0, ::/0', nullable: false }),
  ),
  geo_status_timeout: described(
    'Timeout of status requests of secondary nodes, in seconds',
    int({ default: 10 }),
  ),
} as const;
