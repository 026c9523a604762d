/** Resources that a REST API may have, `/` included (API Gateway developer guide, "Quotas for REST APIs"). */
export const RESOURCE_QUOTA = 300;

/** Paths that API Gateway answers itself (the same page: "can't be used as resource paths"). */
const RESERVED = ['/ping', '/sping'];

/**
 * The resources that API Gateway makes for these paths: one for each segment of each path, and the root.
 * @throws RangeError for paths of which API Gateway would refuse the deployment
 */
export function gatewayTree(paths: readonly string[]): ReadonlySet<string> {
  const childrenOf = new Map<string, Set<string>>([['/', new Set()]]);
  for (const path of paths) {
    let parent = '/';
    for (const part of path.split('/').filter((segment) => segment !== '')) {
      requireValid(part, path);
      if (parent.endsWith('+}')) throw new RangeError(`${path}: nothing may follow ${parent}`);
      childrenOf.get(parent)!.add(part);
      parent = `${parent === '/' ? '' : parent}/${part}`;
      if (!childrenOf.has(parent)) childrenOf.set(parent, new Set());
    }
    if (RESERVED.includes(path)) throw new RangeError(`${path} is API Gateway's own`);
  }
  for (const [parent, children] of childrenOf) {
    // CreateResource and imports of documents refuse a second one: "A sibling ({sha}) of this resource already has a
    // variable path part -- only one is allowed". A greedy one counts.
    const variables = [...children].filter((part) => part.startsWith('{'));
    if (variables.length > 1)
      throw new RangeError(`${parent} has more than one variable child: ${variables.join(', ')}`);
  }
  const twice = paths.filter((path, index) => paths.indexOf(path) !== index);
  if (twice.length > 0) throw new RangeError(`more than one area serves ${twice.join(', ')}`);
  if (childrenOf.size > RESOURCE_QUOTA)
    throw new RangeError(`${childrenOf.size} resources: a REST API may have ${RESOURCE_QUOTA}`);
  return new Set(childrenOf.keys());
}

/** CreateResource: "path part only allows a-zA-Z0-9._-:", or a variable in braces, of which `+` makes a greedy one. */
function requireValid(part: string, path: string): void {
  if (!/^([a-zA-Z0-9._:-]+|\{[a-zA-Z0-9._:-]+\+?\})$/.test(part))
    throw new RangeError(`${path}: ${part} is no path part`);
}
