/** What a request below `<repository>.git/info/lfs` is for. */
export type LfsRoute =
  | { readonly kind: 'batch' | 'verify' | 'locks' | 'verify-locks' | 'former' }
  | { readonly kind: 'unlock'; readonly id: string };

export interface LfsPath {
  /** The full path of the project, still percent-encoded. */
  readonly project: string;
  readonly route: LfsRoute;
}

const LFS = /^\/(.+?)\.git\/info\/lfs\/(objects|objects\/[^/]+|locks|locks\/[^/]+|locks\/[^/]+\/unlock)$/;

/** Parses the paths of Git LFS, percent-encoded. Returns undefined for any other path. */
export function parseLfsPath(pathname: string): LfsPath | undefined {
  const [, project, rest] = LFS.exec(pathname) ?? [];
  if (project === undefined) return undefined;
  const route = routeOf(rest!);
  return route && { project, route };
}

function routeOf(rest: string): LfsRoute | undefined {
  const [collection, id = '', action] = rest.split('/');
  if (collection === 'objects') return { kind: id === 'batch' || id === 'verify' ? id : 'former' };
  if (id === '') return { kind: 'locks' };
  if (action === 'unlock') return { kind: 'unlock', id };
  return id === 'verify' ? { kind: 'verify-locks' } : undefined;
}

/** Whether the URL and the method alone tell that the request is one of a caller who may push. */
export const asksToPush = ({ route }: LfsPath, method: string): boolean =>
  route.kind === 'verify' ||
  route.kind === 'unlock' ||
  route.kind === 'verify-locks' ||
  (route.kind === 'locks' && method === 'POST');
