/** Settings of imports. A name or its comment gives the unit. */
export const imports = {
  import_sources: [
    'github',
    'bitbucket',
    'bitbucket_server',
    'gitlab',
    'fogbugz',
    'git',
    'gitlab_project',
    'gitea',
    'manifest',
    'phabricator',
  ] as readonly string[],
  allow_local_requests_from_web_hooks_and_services: false,
  outbound_local_requests_whitelist: [] as readonly string[],
};
