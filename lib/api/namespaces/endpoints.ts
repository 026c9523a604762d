/** What paths begin with: the caller's own name, and groups. */
import * as z from 'zod';
import {
  getNamespace,
  listNamespaces,
  membersWithDescendants,
  type Namespace,
  namespaceExists,
} from '../../domain/namespaces/list.ts';
import { signedIn } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { shape } from '../../http/shape.ts';
import { avatarUrl } from '../avatars/avatar-url.ts';
import { BY_ROWS, counted, endpoint } from '../endpoint.ts';
import { groupNamespace } from '../groups/present.ts';
import { namespace as basic } from '../projects/shapes.ts';

const area = 'groups';

const namespace = shape(() =>
  basic()
    .extend({
      members_count_with_descendants: z
        .int()
        .optional()
        .describe(
          'Number of members of the group and its descendants; only for groups the caller owns, absent if there are too many',
        ),
    })
    .meta({ id: 'Namespace' }),
);

const list = endpoint({
  method: 'GET',
  path: '/namespaces',
  area,
  summary: 'List namespaces',
  description:
    'Returns the personal namespace of the caller and the groups the caller is a member of; for administrators, all namespaces.',
  access: signedIn(),
  query: () =>
    p.params({
      search: p.string({ description: 'Return only namespaces whose name or path contains this text' }),
      owned_only: p.boolean({ default: false, description: 'Return only namespaces owned by the caller' }),
      top_level_only: p.boolean({ default: false, description: 'Return only top-level namespaces' }),
    }),
  returns: { body: shape(() => z.array(namespace())) },
  ...BY_ROWS,
  noun: 'Namespace',
  handle: async ({ actor, query, page, request }, deps) => {
    const found = await listNamespaces(deps, actor, {
      ...counted(page),
      ownedOnly: query.owned_only,
      topLevelOnly: query.top_level_only,
      ...(query.search === undefined ? {} : { search: query.search }),
    });
    const counts = await membersWithDescendants(deps, actor, found.items);
    return { ...found, items: found.items.map((item, i) => present(item, counts[i], request.baseUrl)) };
  },
});

const get = endpoint({
  method: 'GET',
  path: '/namespaces/:id',
  area,
  summary: 'Get a namespace',
  access: signedIn(),
  params: () =>
    p.params({
      id: p.string({ required: true, description: 'ID or URL-encoded full path of the namespace' }),
    }),
  returns: { body: namespace },
  errors: [{ status: 404, description: 'Namespace not found' }],
  handle: async ({ actor, params, request }, deps) => {
    const found = await getNamespace(deps, actor, params.id);
    const [count] = await membersWithDescendants(deps, actor, [found]);
    return present(found, count, request.baseUrl);
  },
});

const exists = endpoint({
  method: 'GET',
  path: '/namespaces/:id/exists',
  area,
  summary: 'Check whether a namespace path is taken',
  description: 'Also suggests a path that is available.',
  access: signedIn(),
  params: () => p.params({ id: p.string({ required: true, description: 'Path to check' }) }),
  query: () =>
    p.params({
      parent_id: p.integer({ description: 'ID of the parent group to check in. Default: the top level' }),
    }),
  returns: {
    body: shape(() =>
      z.object({ exists: z.boolean(), suggests: z.array(z.string()) }).meta({ id: 'NamespaceExists' }),
    ),
  },
  handle: ({ actor, params, query }, deps) => namespaceExists(deps, actor, params.id, query.parent_id),
});

export const namespaceEndpoints = [list, get, exists];

function present(record: Namespace, members: number | undefined, baseUrl: string) {
  if (record.kind === 'group')
    return {
      ...groupNamespace(record.group, baseUrl),
      ...(members === undefined ? {} : { members_count_with_descendants: members }),
    };
  const { user } = record;
  return {
    id: user.namespaceId,
    name: user.name,
    path: user.username,
    kind: 'user' as const,
    full_path: user.username,
    parent_id: null,
    avatar_url: avatarUrl('user', user, baseUrl),
    web_url: `${baseUrl}/${user.username}`,
  };
}
