export interface GitPath {
  /** `namespace/project`, decoded, without `.git`. */
  readonly fullPath: string;
  /** The path below the repository: `info/refs`, `git-upload-pack`, ... */
  readonly rest: string;
  readonly purpose: 'read' | 'write';
}

const SERVICE =
  /^\/(.+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack|HEAD|objects\/.+|lemnos\/uploads(?:\/[0-9A-Za-z]{1,40}(?:\/(?:parts|finish))?)?)$/;

/** Whether this is the first request of a fetch. Git sends the following ones to the URL that answers it. */
export const beginsFetch = ({ rest, purpose }: GitPath): boolean =>
  rest === 'info/refs' && purpose === 'read';

/** Whether this is the first request of a push. Git sends the following ones to the URL that answers it. */
export const beginsPush = ({ rest, purpose }: GitPath): boolean =>
  rest === 'info/refs' && purpose === 'write';

/** The route without names and ids, for logs and metrics. */
export const routeOf = ({ rest }: GitPath): string =>
  `/:repository/${rest.replace(/^objects\/.*/, 'objects').replace(/^(lemnos\/uploads\/)[^/]+/, '$1:id')}`;

/** Path of the API for pushes that are too large for one request. */
export const UPLOADS = 'lemnos/uploads';

/**
 * Parses the URL path of a repository (`/<full path>[.git]/info/refs`, ...), still percent-encoded. Each segment is
 * decoded once; an encoded slash within a segment is invalid. Returns undefined for any other path.
 */
export function parseGitPath(pathname: string, query: URLSearchParams): GitPath | undefined {
  const match = SERVICE.exec(pathname);
  const segments = match && decodedSegments(match[1]!);
  if (!segments) return undefined;
  const rest = match[2]!;
  const service = rest === 'info/refs' ? query.get('service') : rest;
  const writes = service === 'git-receive-pack' || rest.startsWith(UPLOADS);
  return { fullPath: segments.join('/'), rest, purpose: writes ? 'write' : 'read' };
}

/** A download that web pages link to. */
export interface WebPath {
  readonly fullPath: string;
  readonly web: 'archive' | 'raw';
  /** What follows, decoded: `<ref>/<path>`. */
  readonly rest: string;
}

/** Parses `/<full path>/-/archive/...` and `/<full path>/-/raw/...`. */
export function parseWebPath(pathname: string): WebPath | undefined {
  const match = /^\/(.+?)\/-\/(archive|raw)\/(.+)$/.exec(pathname);
  const segments = match && decodedSegments(match[1]!);
  const rest = match && decoded(match[3]!);
  if (!segments || !rest) return undefined;
  return { fullPath: segments.join('/'), web: match[2] as WebPath['web'], rest };
}

/** The segments of a project's path, at least two; undefined if they cannot be. */
export function decodedSegments(path: string): readonly string[] | undefined {
  const segments = path.split('/').map(decoded);
  const valid = (segment: string | undefined) =>
    segment !== undefined && segment !== '' && !segment.includes('/');
  return segments.length >= 2 && segments.every(valid) ? (segments as string[]) : undefined;
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
