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
import { endpoint } from '../endpoint.ts';
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
          'Of groups you own: people who are members of it or of groups inside; absent for very many',
        ),
    })
    .meta({ id: 'Namespace' }),
);

const list = endpoint({
  method: 'GET',
  path: '/namespaces',
  area,
  summary: 'List your own namespace and the groups you are a member of; all of them to administrators',
  access: signedIn(),
  query: () =>
    p.params({
      search: p.string({ description: 'Part of a name or path' }),
      owned_only: p.boolean({ default: false, description: 'Only those you own' }),
      top_level_only: p.boolean({ default: false, description: 'No groups in groups' }),
    }),
  returns: { body: shape(() => z.array(namespace())) },
  paginate: 'offset',
  noun: 'Namespace',
  handle: async ({ actor, query, page, request }, deps) => {
    const found = await listNamespaces(deps, actor, {
      page: page.page,
      perPage: page.perPage,
      ownedOnly: query.owned_only,
      topLevelOnly: query.top_level_only,
      ...(query.search === undefined ? {} : { search: query.search }),
    });
    const counts = await membersWithDescendants(deps, actor, found.items);
    return { ...found, items: found.items.map((each, i) => present(each, counts[i], request.baseUrl)) };
  },
});

const get = endpoint({
  method: 'GET',
  path: '/namespaces/:id',
  area,
  summary: 'Get a namespace by id or path',
  access: signedIn(),
  returns: { body: namespace },
  errors: [{ status: 404, description: 'Absent, or not yours to see' }],
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
  summary: 'Whether a path is taken',
  access: signedIn(),
  query: () =>
    p.params({ parent_id: p.integer({ description: 'The group to look in; at the top when absent' }) }),
  returns: {
    body: shape(() =>
      z.object({ exists: z.boolean(), suggests: z.array(z.string()) }).meta({ id: 'NamespaceExists' }),
    ),
  },
  handle: ({ actor, params, query }, deps) => namespaceExists(deps, actor, params.id, query.parent_id),
});

export const namespaceEndpoints = [list, get, exists];

function present(which: Namespace, members: number | undefined, baseUrl: string) {
  if (which.kind === 'group')
    return {
      ...groupNamespace(which.group, baseUrl),
      ...(members === undefined ? {} : { members_count_with_descendants: members }),
    };
  const { user } = which;
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
