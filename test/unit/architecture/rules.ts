import type { Import } from './imports.ts';

/** What a layer may import besides itself and packages. `types`: type imports only. */
interface Allowed {
  readonly values: readonly string[];
  readonly types: readonly string[];
}

export const LAYERS: Readonly<Record<string, Allowed>> = {
  // What the platform lacks for bytes.
  'lib/bytes': { values: [], types: [] },
  'lib/git': { values: ['lib/bytes'], types: [] },
  // Log lines, metrics and the id of the request that led to the work under way.
  'lib/telemetry': { values: [], types: [] },
  // Encryption and decryption.
  'lib/sealing': { values: [], types: [] },
  // The only access to the engine of users' regular expressions.
  'lib/regexp': { values: [], types: [] },
  // Threads for work on users' texts that cannot be divided.
  'lib/threads': { values: [], types: [] },
  // Lengths of time in words.
  'lib/durations': { values: [], types: [] },
  // The language of pipelines' configuration.
  'lib/ci': { values: ['lib/durations', 'lib/regexp', 'lib/threads', 'lib/git/work.ts'], types: [] },
  // What the store keeps, as every layer sees it: plain data and its constants.
  'lib/records': { values: [], types: [] },
  'lib/store': {
    values: ['lib/bytes', 'lib/records', 'lib/git', 'lib/sealing', 'lib/telemetry'],
    types: ['lib/domain'],
  },
  // It connects to servers that users name, so it has no access to our data.
  'lib/outbound': { values: ['lib/bytes', 'lib/git', 'lib/sealing'], types: [] },
  // Formats of keys and signatures, and the cryptography under them.
  'lib/signatures': { values: ['lib/bytes'], types: [] },
  'lib/domain': {
    values: [
      'lib/bytes',
      'lib/records',
      'lib/store',
      'lib/git',
      'lib/ci',
      'lib/durations',
      'lib/outbound',
      'lib/regexp',
      'lib/signatures',
      'lib/telemetry',
      'lib/threads',
    ],
    types: [],
  },
  // Bodies are read in turns, as the engine works.
  'lib/http': {
    values: ['lib/records', 'lib/domain', 'lib/telemetry', 'lib/git/work.ts'],
    types: ['lib/store'],
  },
  // Endpoints call the domain; of the store they see records and types.
  'lib/api': {
    values: ['lib/bytes', 'lib/http', 'lib/domain', 'lib/git', 'lib/ci', 'lib/records', 'lib/telemetry'],
    types: ['lib/store'],
  },
  functions: {
    values: [
      'lib/api',
      'lib/http',
      'lib/domain',
      'lib/store',
      'lib/records',
      'lib/git',
      'lib/outbound',
      'lib/telemetry',
    ],
    types: [],
  },
  // Bundles carry the OpenAPI document and its viewer.
  cdk: {
    values: [
      'functions/areas.ts',
      'lib/store/table/schema.ts',
      'lib/store/row-keys/rate-limits.ts',
      'lib/store/blobs/storages.ts',
      'lib/store/environment.ts',
      'lib/store/malloc.ts',
      'lib/outbound/allow-list.ts',
      'lib/api/all.ts',
      'lib/api/meta/viewer/pack.ts',
    ],
    types: [],
  },
  local: {
    values: [
      // By its name, never by a path.
      '@lemnos/embedded-aws',
      'functions',
      'lib/bytes',
      'lib/store',
      'lib/records',
      'lib/domain',
      'lib/outbound/allow-list.ts',
      'lib/http',
      'lib/git',
      'lib/telemetry',
    ],
    types: [],
  },
  // The workspace package @lemnos/embedded-aws: it imports nothing of Lemnos.
  'local/aws': { values: [], types: [] },
};

/**
 * The subjects of a layer, lowest first: a subject may import values of itself, of those before it, and of the files
 * that lie in the layer's own folder. Types may be imported from any subject, as long as no circle of files comes of it.
 */
export const SUBJECTS: Readonly<Record<string, readonly string[]>> = {
  'lib/store': [
    ...[
      'row-keys',
      'table',
      'outbox',
      'maintenance',
      'blobs',
      'repository',
      'wikis',
      'forks',
      'placement',
      'members',
    ],
    ...['tokens', 'notifications', 'audit-events', 'access-requests', 'avatars', 'billable-members'],
    ...[
      'custom-attributes',
      'approvals',
      'events',
      'git',
      'invitations',
      'keys',
      'emails',
      'mail',
      'search',
      'labels',
      'milestones',
      'iterations',
      'uploads',
      'lfs',
      'notes',
      'award-emoji',
      'epics',
      'storage-moves',
      'pipelines',
      'jobs',
    ],
    ...['tracked', 'issues', 'merge-requests', 'todos'],
    ...[
      'project-relations',
      'rate-limits',
      'refs',
      'releases',
      'environments',
      'job-traces',
      'artifacts',
      'runners',
      'topics',
      'projects',
      'groups',
      'secrets',
      'ci-variables',
      'hooks',
      'integrations',
      'pipeline-schedules',
      'triggers',
      'error-tracking',
      'alerts',
    ],
    ...[
      'texts',
      'settings',
      'stars',
      'statistics',
      'snippets',
      'packages',
      'users',
      'scim',
      'namespaces',
      'deletion',
    ],
  ],
  'lib/domain': [
    ...[
      'markdown',
      'texts',
      'rate-limits',
      'access',
      'accounts',
      'hook-events',
      'events',
      'avatars',
      'topics',
      'audit-events',
      'keys',
      'maintenance',
      'refs',
    ],
    ...[
      'repository',
      'code-owners',
      'lfs',
      'files',
      'mail',
      'notifications',
      'members',
      'deletion',
      'billable-members',
      'statistics',
    ],
    ...[
      'access-requests',
      'git',
      'invitations',
      'emails',
      'tokens',
      'runners',
      'branches',
      'tags',
      'imports',
    ],
    ...[
      'custom-attributes',
      'secrets',
      'ci-variables',
      'signatures',
      'stars',
      'groups',
      'approvals',
      'namespaces',
      'labels',
      'milestones',
      'iterations',
      'notes',
      'award-emoji',
      'epics',
      'feeds',
      'tracked',
      'issues',
      'todos',
      'forks',
      'storage-moves',
      'commits',
      'snippets',
    ],
    ...[
      'releases',
      'packages',
      'changelog',
      'settings',
      'project-relations',
      'projects',
      'users',
      'environments',
      'merge-requests',
      'search',
      'scim',
    ],
    ...[
      'integrations',
      'uploads',
      'references',
      'issue-moves',
      'quick-actions',
      'templates',
      'ci-config',
      'jobs',
      'artifacts',
      'pipelines',
      'pipeline-schedules',
      'triggers',
      'error-tracking',
      'alerts',
      'group-sso',
      'wikis',
      'hooks',
    ],
    ...['job-requests'],
    ...['worker'],
  ],
  'lib/api': [
    ...[
      'avatars',
      'topics',
      'pages',
      'custom-attributes',
      'users',
      'members',
      'access-requests',
      'audit-events',
    ],
    ...[
      'billable-members',
      'markdown',
      'meta',
      'statistics',
      'projects',
      'groups',
      'labels',
      'milestones',
      'iterations',
      'files',
      'award-emoji',
      'notes',
      'commits',
      'branches',
      'changelog',
      'ci-config',
      'ci-variables',
      'pipeline-schedules',
      'error-tracking',
      'alerts',
    ],
    ...['keys', 'emails', 'events', 'forks', 'group-sso', 'invitations', 'namespaces'],
    ...[
      'notifications',
      'packages',
      'runners',
      'pipelines',
      'triggers',
      'jobs',
      'repository',
      'uploads',
      'lfs',
      'git',
      'scim',
      'settings',
      'signatures',
      'snippets',
      'storage-moves',
      'stars',
      'job-requests',
      'artifacts',
    ],
    ...[
      'project-relations',
      'releases',
      'tags',
      'templates',
      'tokens',
      'epics',
      'tracked',
      'issues',
      'merge-requests',
      'suggestions',
      'todos',
      'environments',
      'approvals',
      'search',
      'wikis',
      'hooks',
      'integrations',
    ],
  ],
};

/** The innermost layer that a file is in. */
const layerOf = (file: string): string | undefined =>
  Object.keys(LAYERS)
    .filter((layer) => file.startsWith(`${layer}/`))
    .sort((a, b) => b.length - a.length)[0];

const shown = ({ from, to }: Import): string => `${from} → ${to}`;

/** Imports that no layer allows. */
export function againstLayers(imports: readonly Import[]): string[] {
  const wrong = imports.filter(({ from, to, typeOnly }) => {
    const layer = layerOf(from);
    if (layer === undefined || layerOf(to) === layer) return false;
    const { values, types } = LAYERS[layer]!;
    return ![...values, ...(typeOnly ? types : [])].some(
      (target) => to === target || to.startsWith(`${target}/`),
    );
  });
  return wrong.map(shown);
}

/** Imports of values from a subject that comes later, and files of subjects that have no place in the order. */
export function againstSubjects(imports: readonly Import[]): string[] {
  return Object.entries(SUBJECTS).flatMap(([layer, order]) => {
    const subjectOf = (file: string) => file.slice(layer.length + 1).match(/^([^/]+)\//)?.[1];
    const inside = imports.filter(({ from }) => from.startsWith(`${layer}/`));
    const unknown = new Set(inside.map(({ from }) => subjectOf(from)));
    const wrong = inside.filter(({ from, to, typeOnly }) => {
      const [importer, imported] = [subjectOf(from), subjectOf(to)];
      if (typeOnly || !to.startsWith(`${layer}/`) || importer === undefined || imported === undefined)
        return false;
      return order.includes(importer) && order.indexOf(importer) < order.indexOf(imported);
    });
    return [
      ...[...unknown].flatMap((subject) =>
        subject === undefined || order.includes(subject) ? [] : [`${layer}/${subject} has no place`],
      ),
      ...wrong.map(shown),
    ];
  });
}

/** Files that import each other in a circle, type imports included. */
export function circles(imports: readonly Import[]): string[] {
  const edges = Map.groupBy(imports, ({ from }) => from);
  const state = new Map<string, 'open' | 'done'>();
  const found: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (state.get(file) === 'done') return;
    if (state.get(file) === 'open') {
      found.push([...path.slice(path.indexOf(file)), file].join(' → '));
      return;
    }
    state.set(file, 'open');
    for (const { to } of edges.get(file) ?? []) visit(to, [...path, file]);
    state.set(file, 'done');
  };
  for (const file of edges.keys()) visit(file, []);
  return found;
}

/** Imports of an AWS SDK outside the store, the embedded services and the deployment. */
export const sdkImports = (imports: readonly Import[]): string[] =>
  imports
    .filter(
      ({ from, to }) =>
        to.startsWith('@aws-sdk/') && !['lib/store', 'local', 'cdk'].includes(layerOf(from) ?? ''),
    )
    .map(shown);

/** The packages that files import or require, sorted. */
export const packagesOf = (texts: readonly string[]): string[] => {
  const IMPORT = /(?:from |import |import\(|require\()'((?:@[^'/]+\/)?[^'@./:][^'/:]*)(?:\/[^']*)?'/g;
  const names = texts.flatMap((text) => [...text.matchAll(IMPORT)].map((match) => match[1]!));
  return [...new Set(names)].sort();
};

/** Files that read the whole table. */
export const scanning = (texts: ReadonlyMap<string, string>): string[] =>
  [...texts].filter(([, text]) => /ScanCommand|\.scan\(/.test(text)).map(([file]) => file);

/** Files outside `lib/store/row-keys` that put a key of the table together: `pk` or `sk` beside a text of their own. */
export const buildingKeys = (texts: ReadonlyMap<string, string>): string[] =>
  [...texts]
    .filter(([file]) => !file.startsWith('lib/store/row-keys/'))
    .filter(([, text]) => /\b[ps]k: *['"`][A-Z]/.test(text))
    .map(([file]) => file);

/** Classes of errors that do not say their own names: bundles shorten them to a letter, and so do the logs. */
export const namelessErrors = (texts: ReadonlyMap<string, string>): string[] =>
  [...texts].flatMap(([file, text]) =>
    [...text.matchAll(/class (\w+) extends \w*Error\b/g)]
      .filter(([, name]) => !new RegExp(`\\bname(: string)? = '${name}'`).test(text))
      .map(([, name]) => `${file}: ${name}`),
  );
