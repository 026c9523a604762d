/** The resources of a group, behind its path. */
const OF_GROUP =
  /^(\/api\/scim\/v2\/groups)\/+([^/]+(?:\/+[^/]+)*?)\/+(Users|Groups|ServiceProviderConfig|Schemas|ResourceTypes|\.search)(\/.*)?$/;

/**
 * Paths of groups and ids may hold slashes that clients do not encode: each is one segment of the path that is served.
 * The group ends at the first word that names a resource.
 */
export function scimAlias(path: string): string | undefined {
  const [, root, group, resource, rest = ''] = OF_GROUP.exec(path) ?? [];
  if (root === undefined || group === undefined) return undefined;
  const id = trimmed(rest);
  return [root, segment(group), resource, ...(id === '' ? [] : [segment(id)])].join('/');
}

/** Without slashes at its ends. No pattern: one that looks for the last run tries at each slash before it. */
function trimmed(path: string): string {
  let [from, to] = [0, path.length];
  while (path[from] === '/') from++;
  while (to > from && path[to - 1] === '/') to--;
  return path.slice(from, to);
}

const segment = (path: string): string => path.replaceAll('/', '%2F');
