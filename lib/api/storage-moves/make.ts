/** The operations of moves between storages, the same for projects, groups and snippets. Administrators only. */
import type * as z from 'zod';
import { notFound } from '../../domain/errors.ts';
import { getMove, listMoves } from '../../domain/storage-moves/list.ts';
import { scheduleMove, scheduleMoves } from '../../domain/storage-moves/schedule.ts';
import { storedSubject } from '../../domain/storage-moves/subjects.ts';
import { administrator, type SignedInActor } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { accepted } from '../../http/reply.ts';
import type { MovedKind, StorageMoveRecord, StoredSubject } from '../../records/storage-moves.ts';
import { type ApiDeps, BY_ROWS, counted, endpoint } from '../endpoint.ts';
import { accepted as acceptedShape } from '../meta/shapes.ts';

/** What of the operations is different by kind. */
export interface MovesOf<R> {
  readonly kind: MovedKind;
  /** Path parameter that names one, and its description. */
  readonly param: 'id' | 'snippet_id';
  readonly named: string;
  /** Areas of the operations about all, and of those about one. */
  readonly areas: { readonly all: string; readonly one: string };
  readonly find: (deps: ApiDeps, name: string) => Promise<R | undefined>;
  /** Presents what is moved, by ids. */
  readonly present: (
    deps: ApiDeps,
    actor: SignedInActor,
    ids: readonly number[],
    baseUrl: string,
  ) => Promise<readonly (object | undefined)[]>;
  readonly shapes: { readonly one: () => z.ZodType; readonly list: () => z.ZodType };
}

export function moveEndpoints<R extends Parameters<typeof storedSubject>[1]>(of: MovesOf<R>) {
  const { kind, param, shapes } = of;
  const noun = `${kind[0]!.toUpperCase()}${kind.slice(1)}`;
  const all = `/${kind}_repository_storage_moves`;
  const one = `/${kind}s/:${param}/repository_storage_moves`;
  const access = administrator();
  const absent = { status: 404, description: `The ${kind} or the move does not exist` };
  const idField = () => ({
    repository_storage_id: p.integer({ required: true, description: 'ID of the move' }),
  });
  const subjectField = () => ({ [param]: p.string({ required: true, description: of.named }) });
  const idIn = (params: object) =>
    (params as { readonly repository_storage_id: number }).repository_storage_id;

  const subjectOf = async (deps: ApiDeps, params: object): Promise<StoredSubject> => {
    const record = await of.find(deps, (params as Readonly<Record<string, string>>)[param]!);
    if (record === undefined) throw notFound(noun);
    return storedSubject(kind, record);
  };
  const presented = async (
    deps: ApiDeps,
    actor: SignedInActor,
    moves: readonly StorageMoveRecord[],
    baseUrl: string,
  ) => {
    const ids = [...new Set(moves.map(({ subjectId }) => subjectId))];
    const subjects = ids.length === 0 ? [] : await of.present(deps, actor, ids, baseUrl);
    const shown = new Map(ids.map((id, index) => [id, subjects[index] ?? null]));
    return moves.map((move) => ({
      id: move.id,
      created_at: move.createdAt,
      state: move.state,
      source_storage_name: move.source,
      destination_storage_name: move.destination,
      error_message: move.error ?? null,
      [kind]: shown.get(move.subjectId) ?? null,
    }));
  };

  const ofAll = [
    endpoint({
      method: 'GET',
      path: all,
      area: of.areas.all,
      summary: `List all moves of ${kind}s between repository storages`,
      description: 'The newest first.',
      access,
      returns: { body: shapes.list },
      ...BY_ROWS,
      handle: async ({ actor, page, request }, deps) => {
        const found = await listMoves(deps, kind, undefined, counted(page));
        return { ...found, items: await presented(deps, actor, found.items, request.baseUrl) };
      },
    }),
    endpoint({
      method: 'GET',
      path: `${all}/:repository_storage_id`,
      area: of.areas.all,
      summary: `Get a move of a ${kind} between repository storages`,
      access,
      params: () => p.params(idField()),
      returns: { body: shapes.one },
      errors: [absent],
      handle: async ({ actor, params, request }, deps) => {
        const move = await getMove(deps, kind, undefined, idIn(params));
        return (await presented(deps, actor, [move], request.baseUrl))[0];
      },
    }),
    endpoint({
      method: 'POST',
      path: all,
      area: of.areas.all,
      summary: `Move all ${kind}s of a repository storage`,
      description:
        'The moves are scheduled in the background. What is being moved already is left as it is: the request may be repeated.',
      access,
      body: () =>
        p.params({
          source_storage_name: p.string({ required: true, description: 'Storage that they are in' }),
          destination_storage_name: p.string({
            description: 'Storage to move them to; default: for each, by the weights of the settings',
          }),
        }),
      returns: { status: 202, body: acceptedShape },
      errors: [{ status: 400, description: 'There is no such storage' }],
      handle: async ({ body }, deps) => {
        const { source_storage_name: source, destination_storage_name: destination } = body;
        const wrong = Object.entries({ source_storage_name: source, destination_storage_name: destination })
          .filter(([, name]) => name !== undefined && !Object.hasOwn(deps.environment.storages, name))
          .map(([field]) => `${field} does not have a valid value`);
        if (wrong.length > 0) throw p.parameterFailure(wrong);
        await scheduleMoves(deps, { kind, source, ...(destination === undefined ? {} : { destination }) });
        return accepted();
      },
    }),
  ];
  const ofOne = [
    endpoint({
      method: 'GET',
      path: one,
      area: of.areas.one,
      summary: `List the moves of a ${kind} between repository storages`,
      description: 'The newest first.',
      access,
      params: () => p.params(subjectField()),
      returns: { body: shapes.list },
      ...BY_ROWS,
      errors: [absent],
      handle: async ({ actor, params, page, request }, deps) => {
        const found = await listMoves(deps, kind, await subjectOf(deps, params), counted(page));
        return { ...found, items: await presented(deps, actor, found.items, request.baseUrl) };
      },
    }),
    endpoint({
      method: 'GET',
      path: `${one}/:repository_storage_id`,
      area: of.areas.one,
      summary: `Get one of the moves of a ${kind}`,
      access,
      params: () => p.params({ ...subjectField(), ...idField() }),
      returns: { body: shapes.one },
      errors: [absent],
      handle: async ({ actor, params, request }, deps) => {
        const move = await getMove(deps, kind, await subjectOf(deps, params), idIn(params));
        return (await presented(deps, actor, [move], request.baseUrl))[0];
      },
    }),
    endpoint({
      method: 'POST',
      path: one,
      area: of.areas.one,
      summary: `Move a ${kind} to another repository storage`,
      description: 'It is read and written as before while it is moved.',
      access,
      params: () => p.params(subjectField()),
      body: () =>
        p.params({
          destination_storage_name: p.string({
            description: 'Storage to move it to; default: another one, by the weights of the settings',
          }),
        }),
      returns: { body: shapes.one },
      errors: [
        { status: 400, description: 'There is no such storage, it is there already, or it is being moved' },
        absent,
      ],
      handle: async ({ actor, params, body, request }, deps) => {
        const subject = await subjectOf(deps, params);
        const move = await scheduleMove(deps, subject, body.destination_storage_name);
        return (await presented(deps, actor, [move], request.baseUrl))[0];
      },
    }),
  ];
  return { ofAll, ofOne };
}
