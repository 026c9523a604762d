/** Splits a path into the SCIM root, the path of the group, the resource type and the rest. */
const OF_GROUP =
  /^(\/api\/scim\/v2\/groups)\/+([^/]+(?:\/+[^/]+)*?)\/+(Users|Groups|ServiceProviderConfig|Schemas|ResourceTypes|\.search)(\/.*)?$/;

/**
 * Rewrites a path in which the group's path or the id has unencoded slashes to the path of the endpoint, where each is one
 * segment. The group's path ends at the first segment that names a resource type.
 */
export function scimAlias(path: string): string | undefined {
  const [, root, group, resource, rest = ''] = OF_GROUP.exec(path) ?? [];
  if (root === undefined || group === undefined) return undefined;
  const id = trimmed(rest);
  return [root, segment(group), resource, ...(id === '' ? [] : [segment(id)])].join('/');
}

/** Strips leading and trailing slashes. A regular expression for the trailing ones would take quadratic time. */
function trimmed(path: string): string {
  let [from, to] = [0, path.length];
  while (path[from] === '/') from++;
  while (to > from && path[to - 1] === '/') to--;
  return path.slice(from, to);
}

const segment = (path: string): string => path.replaceAll('/', '%2F');
