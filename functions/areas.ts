/**
 * The area manifest: which function serves which paths, with its resources and rights. The deployed gateway, the IAM
 * grants, the bundles, the local host and the OpenAPI document are all generated from this list.
 */

/** Rights of a function to the table, the buckets and the queues. IAM grants are generated from them alone. */
export interface Rights {
  readonly table?: 'read' | 'write';
  /** Whether a read-only function may count requests: it may write rate-limit rows, and nothing else. */
  readonly counts?: true;
  readonly objects?: 'read' | 'write';
  /** Queues it may send to. */
  readonly sends?: readonly QueueName[];
  /** Whether it may ask how many messages wait in each queue, and how many are dead letters. */
  readonly countsMessages?: true;
  /** Whether it may send mail. */
  readonly mail?: true;
  /** The master keys: `use` reads them, and creates the first one; `change` replaces them. */
  readonly masterKey?: 'use' | 'change';
}

export type QueueName = 'maintenance' | 'forks' | 'ingest' | 'outbound' | 'mail';

interface Common {
  readonly name: string;
  /** The module under `functions/` that exports `handler`. */
  readonly entry: string;
  readonly memory: number;
  /** Seconds. */
  readonly timeout: number;
  /** Ephemeral storage in MB, if Lambda's default of 512 is not enough. */
  readonly scratch?: number;
  readonly rights: Rights;
}

/** Serves HTTP behind the gateway. */
export interface ApiArea extends Common {
  readonly kind: 'api';
  /**
   * Gateway resources, each served for every method: `/a/b` is itself only, `/a/b/{proxy+}` everything below it.
   * A named segment such as `{id}` matches one segment. A resource has one variable child at most, `{proxy+}` included:
   * `cdk/gateway-tree.ts`.
   */
  readonly resources: readonly string[];
  /** `git`: the catch-all at the root, whose 401 responses come from the authorizer. */
  readonly authorizer?: 'git';
}

/** Processes one queue. */
export interface WorkerArea extends Common {
  readonly kind: 'worker';
  readonly queue: QueueName;
  readonly batchSize: number;
}

/** Runs on an EventBridge schedule: `rate(1 minute)` or `cron(...)`. */
interface ScheduledArea extends Common {
  readonly kind: 'scheduled';
  readonly schedule: string;
  /** How often Lambda repeats a run that failed, after a minute and then after two (0 to 2). */
  readonly retries: number;
}

/** The gateway's REQUEST authorizer for Git. */
interface AuthorizerArea extends Common {
  readonly kind: 'authorizer';
}

/** Invoked manually by an operator with the AWS permission to do so. */
interface CommandArea extends Common {
  readonly kind: 'command';
}

export type Area = ApiArea | WorkerArea | ScheduledArea | AuthorizerArea | CommandArea;

const api = (
  name: string,
  resources: readonly string[],
  rights: Rights,
  options: { memory?: number; timeout?: number; authorizer?: 'git' } = {},
): ApiArea => ({
  kind: 'api',
  name,
  entry: `${name}.ts`,
  resources,
  rights,
  memory: options.memory ?? 512,
  timeout: options.timeout ?? 29,
  ...(options.authorizer === undefined ? {} : { authorizer: options.authorizer }),
});

const reads: Rights = { table: 'read', counts: true };
const writes: Rights = { table: 'write', sends: ['maintenance'] };
const writesObjects: Rights = { table: 'write', objects: 'write', sends: ['maintenance'] };
/** MB with which a function has a whole processor: more would not make its one thread faster, and cost more while it waits. */
const PROCESSOR = 1769;
/** What works on repositories: a processor, and room for parts of packs. */
const repository = { memory: PROCESSOR, timeout: 900 };
/** A collection and everything below it. */
const collection = (path: string) => [path, `${path}/{proxy+}`];
/** Like `collection`, if other areas serve some paths below `{id}`. */
const entities = (path: string) => [path, `${path}/{id}`, `${path}/{id}/{proxy+}`];
const inProject = (name: string) => collection(`/api/v4/projects/{id}/${name}`);
/** A resource without subpaths. */
const oneInProject = (name: string) => `/api/v4/projects/{id}/${name}`;
const inRepository = (...names: string[]) =>
  names.flatMap((name) => collection(`/api/v4/projects/{id}/repository/${name}`));
const oneInRepository = (name: string) => `/api/v4/projects/{id}/repository/${name}`;

export const areas: readonly Area[] = [
  api('meta', ['/', '/api/docs', '/api/docs/{proxy+}', '/git-remote-lemnos', '/api/v4', '/api/v4/{proxy+}'], {
    ...reads,
    // Texts in Markdown name commits.
    objects: 'read',
    countsMessages: true,
  }),
  api(
    'users',
    [
      ...collection('/api/v4/user'),
      ...entities('/api/v4/users'),
      '/api/v4/user_counts',
      ...['/users/password', '/users/password/edit'],
    ],
    { ...writes, sends: ['maintenance', 'mail'] },
  ),
  api(
    'tokens',
    [
      ...collection('/api/v4/personal_access_tokens'),
      ...collection('/api/v4/users/{id}/personal_access_tokens'),
      ...collection('/api/v4/users/{id}/impersonation_tokens'),
      ...collection('/api/v4/deploy_tokens'),
      ...['access_tokens', 'deploy_tokens'].flatMap((name) => [
        ...inProject(name),
        ...collection(`/api/v4/groups/{id}/${name}`),
      ]),
    ],
    writes,
  ),
  api('projects', entities('/api/v4/projects'), {
    ...writesObjects,
    sends: ['maintenance', 'forks', 'ingest'],
  }),
  api(
    'groups',
    [...entities('/api/v4/groups'), ...collection('/api/v4/namespaces')],
    // Lists projects of groups, but never reads their repositories.
    writes,
  ),
  api(
    'project-relations',
    [
      ...['star', 'unstar', 'starrers', 'languages', 'users', 'groups', 'storage'].map(oneInProject),
      ...inProject('share'),
      ...collection('/api/v4/topics'),
      ...['users', 'groups', 'projects'].flatMap((kind) =>
        collection(`/api/v4/${kind}/{id}/custom_attributes`),
      ),
    ],
    writes,
  ),
  api(
    'issues',
    [
      ...[
        '/api/v4/projects/{id}/issues',
        '/api/v4/groups/{id}/issues',
        '/api/v4/groups/{id}/epics',
        '/api/v4/issues',
      ].flatMap(collection),
      ...['/api/v4/projects/{id}', '/api/v4/groups/{id}', '/api/v4'].map(
        (path) => `${path}/issues_statistics`,
      ),
    ],
    writesObjects,
  ),
  api(
    'snippets',
    [
      '/api/v4/snippets',
      '/api/v4/projects/{id}/snippets',
      '/api/v4/snippet_repository_storage_moves',
    ].flatMap(collection),
    writesObjects,
    {
      memory: 1024,
    },
  ),
  api(
    'todos',
    [
      ...collection('/api/v4/todos'),
      '/api/v4/notification_settings',
      '/api/v4/groups/{id}/notification_settings',
      oneInProject('notification_settings'),
      '/users/unsubscribe',
    ],
    // Long descriptions of what they are about are in the bucket.
    { ...writes, objects: 'read' },
  ),
  api(
    'merge-requests',
    [
      ...['', '/{iid}', '/{iid}/{proxy+}'].map((rest) => `/api/v4/projects/{id}/merge_requests${rest}`),
      '/api/v4/groups/{id}/merge_requests',
      '/api/v4/merge_requests',
    ],
    writesObjects,
    repository,
  ),
  api(
    'merge-request-changes',
    [
      ...['commits', 'changes', 'diffs', 'versions', 'versions/{proxy+}', 'participants', 'reviewers'],
      ...['subscribe', 'unsubscribe', 'closes_issues'],
    ].map((name) => `/api/v4/projects/{id}/merge_requests/{iid}/${name}`),
    { ...writes, objects: 'read' },
    repository,
  ),
  api(
    'merge-request-merging',
    ['merge', 'cancel_merge_when_pipeline_succeeds', 'rebase', 'merge_ref', 'context_commits'].map(
      (name) => `/api/v4/projects/{id}/merge_requests/{iid}/${name}`,
    ),
    writesObjects,
    repository,
  ),
  api(
    'merge-request-notes',
    [
      ...['notes', 'discussions', 'award_emoji'].flatMap(collection),
      ...['label', 'state', 'milestone'].flatMap((kind) => collection(`resource_${kind}_events`)),
    ].map((path) => `/api/v4/projects/{id}/merge_requests/{iid}/${path}`),
    writesObjects,
    repository,
  ),
  api('suggestions', ['/api/v4/suggestions/{proxy+}'], writesObjects, repository),
  api(
    'approvals',
    [
      ...inProject('approval_rules'),
      ...['approvals', 'merge_request_approval_setting'].map(oneInProject),
      '/api/v4/groups/{id}/merge_request_approval_setting',
      ...[
        ...['approvals', 'approve', 'unapprove', 'reset_approvals', 'approval_state', 'approval_rules'],
        'approval_rules/{proxy+}',
      ].map((name) => `/api/v4/projects/{id}/merge_requests/{iid}/${name}`),
    ],
    // The authors of commits are read from the repository.
    writesObjects,
    repository,
  ),
  api(
    'settings',
    [
      '/api/v4/application/settings',
      ...['project', 'group'].flatMap((kind) => collection(`/api/v4/${kind}_repository_storage_moves`)),
    ],
    {
      ...writes,
      masterKey: 'use',
    },
  ),
  api(
    'events',
    [
      ...['/api/v4/events', '/api/v4/users/{id}/events', oneInProject('events')],
      ...collection('/api/v4/audit_events'),
      ...inProject('audit_events'),
      ...collection('/api/v4/groups/{id}/audit_events'),
    ],
    // Long texts of comments lie in the bucket.
    { ...reads, objects: 'read' },
  ),
  api('scim', ['/api/scim/{proxy+}'], { ...writes, sends: ['maintenance', 'mail'] }),
  api('search', [...collection('/api/v4/search'), '/api/v4/groups/{id}/search', oneInProject('search')], {
    ...reads,
    objects: 'read',
  }),
  api(
    'uploads',
    [
      '/uploads/{proxy+}',
      '/api/v4/avatar',
      ...['users', 'groups', 'projects'].map((kind) => `/api/v4/${kind}/{id}/avatar`),
    ],
    reads,
  ),
  api(
    'keys',
    [
      ...collection('/api/v4/keys'),
      ...['keys', 'gpg_keys', 'emails'].flatMap((name) => [
        ...collection(`/api/v4/user/${name}`),
        ...collection(`/api/v4/users/{id}/${name}`),
      ]),
      '/users/confirmation',
    ],
    { ...writes, sends: ['maintenance', 'mail'] },
  ),
  api(
    'members',
    [
      ...['members', 'invitations', 'access_requests', 'import_project_members'].flatMap(inProject),
      ...['invitations', 'access_requests', 'billable_members'].flatMap((name) =>
        collection(`/api/v4/groups/{id}/${name}`),
      ),
      '/users/invitation',
      // Members who come from an identity provider.
      ...collection('/api/v4/groups/{id}/saml'),
      '/api/v4/groups/{id}/scim/{proxy+}',
      '/api/v4/groups/{id}/scim_token',
    ],
    { ...writes, sends: ['maintenance', 'mail'] },
  ),
  api(
    'labels',
    [
      ...['projects', 'groups'].flatMap((kind) => [
        ...collection(`/api/v4/${kind}/{id}/labels`),
        ...collection(`/api/v4/${kind}/{id}/milestones`),
      ]),
      oneInProject('iterations'),
      ...collection('/api/v4/groups/{id}/iterations'),
    ],
    // Long descriptions of the issues of a milestone are in the bucket.
    { ...writes, objects: 'read' },
  ),
  api(
    'wikis',
    [...inProject('wikis'), ...collection('/api/v4/groups/{id}/wikis')],
    writesObjects,
    repository,
  ),
  api('files', inRepository('files'), writesObjects, repository),
  api('commits', [...inRepository('commits'), ...inProject('statuses')], writesObjects, repository),
  api(
    'repository',
    ['/api/v4/projects/{id}/repository/{proxy+}', '/api/v4/projects/{id}/snapshot'],
    writesObjects,
    repository,
  ),
  api(
    'ci-config',
    [...collection('/api/v4/ci'), ...inProject('ci')],
    { ...reads, objects: 'read' },
    repository,
  ),
  // What pipelines are given, and what starts them.
  api(
    'ci-settings',
    [
      ...[
        ...inProject('variables'),
        ...collection('/api/v4/groups/{id}/variables'),
        '/api/v4/admin/{proxy+}',
      ],
      ...[...inProject('pipeline_schedules'), ...inProject('triggers')],
      ...['trigger', 'ref'].map((name) => `/api/v4/projects/{id}/${name}/{proxy+}`),
    ],
    { ...writesObjects, masterKey: 'use' },
    repository,
  ),
  api('changelog', [oneInRepository('changelog')], writesObjects, repository),
  api(
    'branches',
    [...inRepository('branches'), oneInRepository('merged_branches'), ...inProject('protected_branches')],
    writesObjects,
    repository,
  ),
  api(
    'environments',
    [...inProject('environments'), ...inProject('deployments'), ...inProject('protected_environments')],
    writesObjects,
    repository,
  ),
  api(
    'pipelines',
    [
      ...inProject('pipelines'),
      oneInProject('pipeline'),
      '/api/v4/projects/{id}/merge_requests/{iid}/pipelines',
    ],
    { ...writesObjects, masterKey: 'use' },
    repository,
  ),
  api('jobs', ['/api/v4/job', ...inProject('jobs')], writesObjects, repository),
  api('releases', [...inProject('releases'), ...inProject('packages')], writesObjects, repository),
  api(
    'runners',
    [
      ...[...collection('/api/v4/runners'), ...inProject('runners')],
      ...collection('/api/v4/groups/{id}/runners'),
      // What runners ask and report.
      ...['/api/v4/jobs/request', '/api/v4/jobs/{id}', '/api/v4/jobs/{id}/{proxy+}'],
    ],
    { ...writesObjects, masterKey: 'use' },
    repository,
  ),
  api(
    'hooks',
    [
      ...['hooks', 'integrations'].flatMap((name) => collection(`/api/v4/${name}`)),
      ...['hooks', 'integrations', 'services'].flatMap(inProject),
      ...['hooks', 'integrations'].flatMap((name) => collection(`/api/v4/groups/{id}/${name}`)),
    ],
    { ...writes, masterKey: 'use' },
  ),
  // Errors of the projects' programs, and alerts about them.
  api(
    'monitoring',
    [
      ...['error_tracking', 'alerts', 'alert_integrations'].flatMap(inProject),
      '/api/v4/error_tracking/{proxy+}',
    ],
    // Long payloads of alerts are in the bucket.
    writesObjects,
  ),
  api('tags', [...inRepository('tags'), ...inProject('protected_tags')], writesObjects, repository),
  api(
    'git',
    ['/{proxy+}'],
    { ...writesObjects, sends: ['maintenance', 'ingest'] },
    { ...repository, authorizer: 'git' },
  ),
  {
    kind: 'authorizer',
    name: 'git-authorizer',
    entry: 'git-authorizer.ts',
    memory: 512,
    timeout: 10,
    rights: reads,
  },
  {
    kind: 'worker',
    name: 'maintenance',
    entry: 'maintenance.ts',
    queue: 'maintenance',
    batchSize: 10,
    memory: PROCESSOR,
    timeout: 900,
    // It makes pipelines and calls hooks, whose variables and tokens are sealed.
    rights: { ...writesObjects, sends: ['maintenance', 'mail', 'outbound'], masterKey: 'use' },
  },
  {
    kind: 'worker',
    name: 'ingest',
    entry: 'ingest.ts',
    queue: 'ingest',
    batchSize: 1,
    memory: 3008,
    timeout: 900,
    // A completed pack of 2 GiB, and the deltas that do not fit in memory.
    scratch: 6144,
    rights: { ...writesObjects, sends: ['maintenance', 'outbound'] },
  },
  {
    kind: 'worker',
    name: 'outbound',
    entry: 'outbound.ts',
    queue: 'outbound',
    batchSize: 1,
    memory: 1024,
    timeout: 900,
    // A pack of 2 GiB in transit.
    scratch: 3072,
    // It talks to foreign servers: if compromised, it could only report imports and calls of hooks.
    rights: { sends: ['ingest', 'maintenance'] },
  },
  {
    kind: 'worker',
    name: 'forks',
    entry: 'forks.ts',
    queue: 'forks',
    batchSize: 1,
    memory: 1024,
    timeout: 300,
    // Shares the source's packs; reads no objects.
    rights: { table: 'write', sends: ['maintenance'] },
  },
  {
    kind: 'worker',
    name: 'mail',
    entry: 'mail.ts',
    queue: 'mail',
    batchSize: 10,
    memory: 256,
    timeout: 480,
    // Checks that the recipient may still read the content, and marks sent mails; the texts are in the messages.
    rights: { table: 'write', mail: true },
  },
  {
    kind: 'scheduled',
    name: 'outbox-sweep',
    entry: 'outbox-sweep.ts',
    schedule: 'rate(1 minute)',
    // The next run catches up.
    retries: 0,
    memory: 256,
    timeout: 60,
    rights: { ...writes, sends: ['maintenance', 'forks', 'ingest', 'outbound', 'mail'] },
  },
  {
    kind: 'scheduled',
    name: 'daily',
    entry: 'daily.ts',
    schedule: 'cron(0 12 * * ? *)',
    retries: 2,
    memory: 256,
    timeout: 60,
    rights: writes,
  },
  {
    kind: 'command',
    name: 'first-administrator',
    entry: 'first-administrator.ts',
    memory: 256,
    timeout: 30,
    rights: writes,
  },
  {
    kind: 'command',
    name: 'master-key',
    entry: 'master-key.ts',
    memory: 256,
    timeout: 600,
    rights: { table: 'write', masterKey: 'change' },
  },
];

/** Whether a function works on repositories: it has more memory than others. */
export const usesRepositories = ({ memory }: Area): boolean => memory >= PROCESSOR;

/** Returns the areas of one kind. */
export function areasOf<K extends Area['kind']>(kind: K): readonly Extract<Area, { kind: K }>[] {
  return areas.filter((area): area is Extract<Area, { kind: K }> => area.kind === kind);
}
