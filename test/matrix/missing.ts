import type { Endpoint } from '../../lib/http/endpoint.ts';
import type { Line } from './rows.ts';

/** The subjects that an endpoint's rows must have a line for. */
export function linesWanted(
  endpoint: Pick<Endpoint<never>, 'access' | 'method' | 'path'>,
): Line['subject'][] {
  const { kind } = endpoint.access;
  if (kind !== 'project' && kind !== 'group') return ['-'];
  const read = endpoint.method === 'GET' || endpoint.method === 'HEAD';
  return [
    'public',
    'internal',
    'private',
    ...(kind === 'project' && !read ? (['archived'] as const) : []),
    ...(endpoint.path.includes('/repository/') && !/protect$/.test(endpoint.path)
      ? (['off', 'members'] as const)
      : []),
  ];
}
