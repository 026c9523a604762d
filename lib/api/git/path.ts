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
  if (match === null) return undefined;
  const segments = match[1]!.split('/').map(decoded);
  if (
    segments.length < 2 ||
    segments.some((segment) => segment === undefined || segment === '' || segment.includes('/'))
  ) {
    return undefined;
  }
  const rest = match[2]!;
  const service = rest === 'info/refs' ? query.get('service') : rest;
  const writes = service === 'git-receive-pack' || rest.startsWith(UPLOADS);
  return { fullPath: segments.join('/'), rest, purpose: writes ? 'write' : 'read' };
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
