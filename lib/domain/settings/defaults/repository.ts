/** Settings of repositories. A name or its comment gives the unit. */
export const repository = {
  /** MB; null: `MAX_PUSH_BYTES` */
  receive_max_input_size: null as number | null,
  /** MB; 0: unlimited */
  repository_size_limit: 0,
  enabled_git_access_protocol: null as 'ssh' | 'http' | null,
  /** Replaces the base URL of the instance in HTTP clone URLs */
  custom_http_clone_url_root: null as string | null,
  /** Limits of diffs: bytes of one file; files and lines in total */
  diff_max_patch_bytes: 204_800,
  diff_max_files: 1000,
  diff_max_lines: 50_000,
  /** Of the storages for new repositories */
  repository_storages_weighted: { default: 100 } as Readonly<Record<string, number>>,
};
