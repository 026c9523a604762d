export interface GitPath {
  /** `namespace/project`, decoded, without `.git`. */
  readonly fullPath: string;
  /** What follows the repository: `info/refs`, `git-upload-pack`, ... */
  readonly rest: string;
  readonly purpose: 'read' | 'write';
}

const SERVICE =
  /^\/(.+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack|HEAD|objects\/.+|lemnos\/uploads(?:\/[0-9A-Za-z]{1,40}(?:\/(?:parts|finish))?)?)$/;

/** What a push begins with: git keeps to the address that answers it. */
export const beginsPush = ({ rest, purpose }: GitPath): boolean =>
  rest === 'info/refs' && purpose === 'write';

/** What is asked for, without the names in it. */
export const routeOf = ({ rest }: GitPath): string =>
  `/:repository/${rest.replace(/^objects\/.*/, 'objects').replace(/^(lemnos\/uploads\/)[^/]+/, '$1:id')}`;

/** Where pushes go that do not fit a request. */
export const UPLOADS = 'lemnos/uploads';

/**
 * A repository's URL path (`/<full path>[.git]/info/refs`, ...), still percent-encoded; undefined when it is none.
 * Each segment is decoded once; a slash that hides in one names no repository.
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
