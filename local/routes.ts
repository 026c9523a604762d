import type { ApiArea, Area } from '../functions/areas.ts';

export interface Route {
  readonly area: ApiArea;
  /** The gateway resource that matched, `/api/v4/projects/{id}`. */
  readonly resource: string;
  readonly pathParameters: Readonly<Record<string, string>>;
}

interface Resource {
  readonly area: ApiArea;
  readonly resource: string;
  readonly segments: readonly string[];
}

/**
 * Selects the resource for a path as API Gateway does: segment by segment, a literal before a named segment before
 * `{proxy+}`, which matches one or more segments. The path stays encoded.
 */
export function gatewayRoutes(areas: readonly Area[]): (path: string) => Route | undefined {
  const resources: Resource[] = areas
    .filter((area): area is ApiArea => area.kind === 'api')
    .flatMap((area) =>
      area.resources.map((resource) => ({ area, resource, segments: resource.split('/').slice(1) })),
    );
  return (path) => {
    const segments = path === '/' ? [''] : path.replace(/^\//, '').replace(/\/$/, '').split('/');
    return match(resources, segments);
  };
}

const rank = (segment: string) => (segment === '{proxy+}' ? 2 : segment.startsWith('{') ? 1 : 0);

function match(resources: readonly Resource[], path: readonly string[]): Route | undefined {
  const candidates = resources.flatMap((resource) => {
    const pathParameters: Record<string, string> = {};
    for (const [index, segment] of resource.segments.entries()) {
      const actual = path[index];
      if (actual === undefined) return [];
      if (segment === '{proxy+}') {
        pathParameters['proxy'] = path.slice(index).join('/');
        return pathParameters['proxy'] === '' ? [] : [{ ...resource, pathParameters }];
      }
      if (segment.startsWith('{')) pathParameters[segment.slice(1, -1)] = actual;
      else if (segment !== actual) return [];
    }
    return resource.segments.length === path.length ? [{ ...resource, pathParameters }] : [];
  });
  candidates.sort((a, b) => {
    for (let i = 0; i < Math.max(a.segments.length, b.segments.length); i++) {
      const difference = rank(a.segments[i] ?? '{proxy+}') - rank(b.segments[i] ?? '{proxy+}');
      if (difference !== 0) return difference;
    }
    return 0;
  });
  const best = candidates[0];
  return best && { area: best.area, resource: best.resource, pathParameters: best.pathParameters };
}
