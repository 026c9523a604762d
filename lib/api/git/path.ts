export interface GitPath {
  /** What the repository belongs to. */
  readonly of: GitPathOf;
  /** Of the project, or of the wiki's project or group, decoded: `namespace/project`. Empty for a personal snippet. */
  readonly fullPath: string;
  /** The path below the repository: `info/refs`, `git-upload-pack`, ... */
  readonly rest: string;
  readonly purpose: 'read' | 'write';
}

export type GitPathOf =
  | { readonly kind: 'code' | 'wiki' }
  | { readonly kind: 'snippet'; readonly id: number };

const SERVICE =
  /^\/(.+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack|HEAD|objects\/.+|lemnos\/uploads(?:\/[0-9A-Za-z]{1,40}(?:\/(?:parts|finish))?)?)$/;

/** Whether this is the first request of a fetch. Git sends the following ones to the URL that answers it. */
export const beginsFetch = ({ rest, purpose }: GitPath): boolean =>
  rest === 'info/refs' && purpose === 'read';

/** Whether this is the first request of a push. Git sends the following ones to the URL that answers it. */
export const beginsPush = ({ rest, purpose }: GitPath): boolean =>
  rest === 'info/refs' && purpose === 'write';

/** The route without names and ids, for logs and metrics. */
export const routeOf = ({ of, rest }: GitPath): string =>
  `/:${of.kind === 'code' ? 'repository' : of.kind}/${rest.replace(/^objects\/.*/, 'objects').replace(/^(lemnos\/uploads\/)[^/]+/, '$1:id')}`;

/** Path of the API for pushes that are too large for one request. */
export const UPLOADS = 'lemnos/uploads';

/**
 * Parses the URL path of a repository (`/<full path>[.git]/info/refs`, ...), still percent-encoded. Each segment is
 * decoded once; an encoded slash within a segment is invalid. Returns undefined for any other path.
 */
export function parseGitPath(pathname: string, query: URLSearchParams): GitPath | undefined {
  const match = SERVICE.exec(pathname);
  const named = match && nameOf(match[1]!);
  if (!match || !named) return undefined;
  const rest = match[2]!;
  const service = rest === 'info/refs' ? query.get('service') : rest;
  const writes = service === 'git-receive-pack' || rest.startsWith(UPLOADS);
  return { ...named, rest, purpose: writes ? 'write' : 'read' };
}

const WIKI = '.wiki';

/**
 * `<project>`, `<project or group>.wiki`, `snippets/<id>`, `<project>/snippets/<id>` or `<project>/-/snippets/<id>`. No
 * project or group has a path that would be another one's.
 */
function nameOf(path: string): Pick<GitPath, 'of' | 'fullPath'> | undefined {
  const snippet = /^(?:(.+?)\/(?:-\/)?)?snippets\/([1-9]\d{0,15})$/.exec(path);
  if (snippet !== null) {
    const project = snippet[1] === undefined ? [] : decodedSegments(snippet[1]);
    return project && { of: { kind: 'snippet', id: Number(snippet[2]) }, fullPath: project.join('/') };
  }
  const wiki = path.endsWith(WIKI);
  const segments = decodedSegments(wiki ? path.slice(0, -WIKI.length) : path, wiki ? 1 : 2);
  return segments && { of: { kind: wiki ? 'wiki' : 'code' }, fullPath: segments.join('/') };
}

/** A download that web pages link to. */
export interface WebPath {
  readonly fullPath: string;
  readonly web: 'archive' | 'raw' | 'releases';
  /** What follows, decoded: `<ref>/<path>`; of releases `<tag>/downloads/<path>` or `<tag>/evidences/<id>.json`. */
  readonly rest: string;
}

/** Parses `/<full path>/-/archive/...`, and the same with `raw` and `releases`. */
export function parseWebPath(pathname: string): WebPath | undefined {
  const match = /^\/(.+?)\/-\/(archive|raw|releases)\/(.+)$/.exec(pathname);
  const segments = match && decodedSegments(match[1]!);
  const rest = match && decoded(match[3]!);
  if (!segments || !rest) return undefined;
  return { fullPath: segments.join('/'), web: match[2] as WebPath['web'], rest };
}

/** Where monitoring tools send alerts to. */
export interface AlertPath {
  readonly fullPath: string;
  /** Undefined: the key says which integration it is. */
  readonly endpoint: string | undefined;
}

const ALERT =
  /^\/(.+?)(?:\/-)?\/(?:(?:prometheus\/)?alerts\/notify(?:\.json)?|alerts\/notify\/[^/]+\/([0-9a-f]{16})(?:\.json)?)$/;

/** Parses `/<full path>/alerts/notify.json`, `.../alerts/notify/<name>/<endpoint>.json`, `.../prometheus/alerts/notify.json`. */
export function parseAlertPath(pathname: string): AlertPath | undefined {
  const match = ALERT.exec(pathname);
  const segments = match && decodedSegments(match[1]!);
  return segments ? { fullPath: segments.join('/'), endpoint: match[2] } : undefined;
}

/** The segments of a path, at least `least`: a project's has two; undefined if they cannot be. */
export function decodedSegments(path: string, least = 2): readonly string[] | undefined {
  const segments = path.split('/').map(decoded);
  const valid = (segment: string | undefined) =>
    segment !== undefined && segment !== '' && !segment.includes('/');
  return segments.length >= least && segments.every(valid) ? (segments as string[]) : undefined;
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
