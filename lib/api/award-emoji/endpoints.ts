import * as awards from '../../domain/award-emoji/awards.ts';
import type { ContainerAccess } from '../../domain/labels/containers.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { accessOf } from '../container-access.ts';
import { BY_ROWS, counted, endpoint } from '../endpoint.ts';
import type { ContainerRule, NotedPath } from '../notes/discussions.ts';
import { withParams } from '../with-params.ts';
import { awardOf } from './present.ts';
import * as shapes from './shapes.ts';

/** The endpoints of awards on an object, and on the notes on it. */
export const awardEndpoints = <A extends ContainerAccess>(noted: NotedPath<A>) => [
  ...endpointsOf(noted, { path: noted.path, object: noted.object, params: {}, missing: [noted.missing] }),
  ...endpointsOf(noted, {
    path: `${noted.path}/notes/:note_id`,
    object: `a note on ${noted.object}`,
    params: { note_id: p.integer({ required: true, description: 'ID of the note' }) },
    missing: [noted.missing, 'note'],
  }),
];

/** What is awarded: the object itself, or a note on it. */
interface Awarded {
  readonly path: `/${'projects' | 'groups'}/:id/${string}`;
  readonly object: string;
  readonly params: p.Shape;
  /** Names for what may be absent. */
  readonly missing: readonly string[];
}

function endpointsOf<A extends ContainerAccess>(
  { area, access, open, ...noted }: NotedPath<A>,
  { path, object, params, missing }: Awarded,
) {
  const common = { area, access: access as ContainerRule } as const;
  const at = <T extends p.Shape>(rest: T) => withParams({ ...noted.params(), ...params }, rest);
  const awardId = () => ({ award_id: p.integer({ required: true, description: 'ID of the award' }) });
  const absent = (...names: string[]) => ({
    status: 404,
    description: `${[...missing, ...names].join(', or ')} not found`,
  });
  const noteIdOf = ({ note_id: id }: Readonly<Record<string, string | number>>) =>
    id === undefined ? undefined : Number(id);

  const list = endpoint({
    ...common,
    method: 'GET',
    path: `${path}/award_emoji`,
    summary: `List the award emoji of ${object}`,
    params: () => at({}),
    returns: { body: shapes.awards },
    ...BY_ROWS,
    errors: [absent()],
    handle: async ({ actor, params, page, request, ...found }, deps) => {
      const on = await open(deps, actor, accessOf<A>(found), params);
      const { items, ...rest } = await awards.listAwards(deps, on, noteIdOf(params), counted(page));
      return { ...rest, items: items.map((each) => awardOf(each, request.baseUrl)) };
    },
  });

  const get = endpoint({
    ...common,
    method: 'GET',
    path: `${path}/award_emoji/:award_id`,
    summary: `Get an award emoji of ${object}`,
    params: () => at(awardId()),
    returns: { body: shapes.award },
    errors: [absent('award')],
    handle: async ({ actor, params, request, ...found }, deps) => {
      const on = await open(deps, actor, accessOf<A>(found), params);
      return awardOf(await awards.getAward(deps, on, noteIdOf(params), params.award_id), request.baseUrl);
    },
  });

  const create = endpoint({
    ...common,
    method: 'POST',
    path: `${path}/award_emoji`,
    summary: `Add an emoji to ${object}`,
    params: () => at({}),
    body: () =>
      p.params({ name: p.string({ required: true, description: 'Name of the emoji, without colons' }) }),
    returns: { body: shapes.award },
    errors: [
      {
        status: 404,
        description: `${missing.join(', or ')} not found; you may not comment here; there is no such emoji, or you have awarded it`,
      },
    ],
    handle: async ({ actor, params, body, request, ...found }, deps) => {
      const on = await open(deps, actor, accessOf<A>(found), params);
      return awardOf(await awards.addAward(deps, actor, on, noteIdOf(params), body.name), request.baseUrl);
    },
  });

  const remove = endpoint({
    ...common,
    method: 'DELETE',
    path: `${path}/award_emoji/:award_id`,
    summary: `Remove an emoji from ${object}`,
    description: 'One’s own; administrators those of everybody.',
    params: () => at(awardId()),
    returns: { status: 204 },
    errors: [
      { status: 401, description: 'The award is another user’s' },
      { status: 403, description: 'You may not comment here' },
      absent('award'),
      { status: 412, description: 'The award was changed after `If-Unmodified-Since`' },
    ],
    handle: async ({ actor, params, unmodifiedSince, ...found }, deps) => {
      const on = await open(deps, actor, accessOf<A>(found), params);
      await awards.removeAward(deps, actor, on, noteIdOf(params), params.award_id, unmodifiedSince);
      return noContent();
    },
  });

  return [list, get, create, remove];
}
