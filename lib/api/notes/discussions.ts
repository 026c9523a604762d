import type { Prefetch } from '../../domain/access/prefetch.ts';
import type { ProjectAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import type { ContainerAccess } from '../../domain/labels/containers.ts';
import { acting, rewriting } from '../../domain/notes/acting.ts';
import type { NotedObject } from '../../domain/notes/noteable.ts';
import * as notes from '../../domain/notes/notes.ts';
import { resolveDiscussion } from '../../domain/notes/resolve.ts';
import type { GroupRule, ProjectRule } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { accessOf } from '../container-access.ts';
import { type ApiDeps, BY_ROWS, counted, endpoint } from '../endpoint.ts';
import { withParams } from '../with-params.ts';
import { answered, ONLY_ACTIONS } from './acted.ts';
import type { DiffPositions } from './position.ts';
import { discussionOf, noteOf } from './present.ts';
import * as shapes from './shapes.ts';

/** Where notes of a kind of object are served, which is in projects or in groups. */
export interface NotedPath<A extends ContainerAccess> {
  /** Of the object, below which its notes are: `/projects/:id/issues/:iid`. */
  readonly path: `/${A extends ProjectAccess ? 'projects' : 'groups'}/:id/${string}`;
  readonly area: string;
  /** The object in summaries: `an issue`. */
  readonly object: string;
  /** The name of the object in `404 <name> Not Found`. */
  readonly missing: string;
  readonly access: A extends ProjectAccess ? ProjectRule<false> : GroupRule<false>;
  /** Of what has a diff: discussions can be about places in it, and be resolved. */
  readonly inDiff?: DiffPositions;
  /** Whether a note on it cannot be updated without its text. */
  readonly updatesText?: true;
  /** The path parameter that names the object. */
  readonly params: () => Readonly<Record<string, p.Field<string | number>>>;
  readonly prefetch?: (params: Readonly<Record<string, string | number>>) => Prefetch;
  /** Finds the object. @throws 404 where it is absent, or hidden from the actor */
  open(
    deps: ApiDeps,
    actor: Actor,
    access: A,
    params: Readonly<Record<string, string | number>>,
  ): Promise<NotedObject>;
}

/** The rule of {@link NotedPath.access}, whichever it is. */
export type ContainerRule = ProjectRule<false> | GroupRule<false>;

const TEXT = 'Text of the note, at most 1,000,000 characters';
export const noteText = () => p.string({ required: true, description: TEXT });
export const noteTextOrNone = () => p.string({ blank: false, description: TEXT });
/** Of a note that has one already. */
export const newNoteText = () =>
  p.string({
    required: true,
    description: TEXT,
    check: (text) => (text.trim() === '' ? 'is empty' : undefined),
  });
export const noteTime = () =>
  p.datetime({ description: 'Time of creation, for administrators and owners; ignored for others' });

const discussionId = () => ({
  discussion_id: p.string({ required: true, description: 'ID of the discussion' }),
});
export const noteId = () => ({ note_id: p.integer({ required: true, description: 'ID of the note' }) });
export const absent = (...names: string[]) => ({
  status: 404,
  description: `${names.join(', or ')} not found`,
});
export const WRITE_ERRORS = [
  { status: 400, description: 'The text of the note is invalid' },
  { status: 403, description: 'You may not comment here' },
  { status: 429, description: 'The rate limit for notes is exceeded' },
];

const positionField = (inDiff: DiffPositions | undefined): ReturnType<DiffPositions['field']> =>
  inDiff === undefined ? ({} as ReturnType<DiffPositions['field']>) : inDiff.field();

/** The endpoints of discussions below an object. */
export function discussionEndpoints<A extends ContainerAccess>({
  path,
  area,
  object,
  missing,
  access,
  prefetch,
  open,
  inDiff,
  ...noted
}: NotedPath<A>) {
  const at = <T extends p.Shape>(rest: T) => withParams(noted.params(), rest);
  const reads =
    prefetch === undefined ? {} : { prefetch: ({ params }: { params: object }) => prefetch(params as never) };
  const common = { area, access: access as ContainerRule, ...reads } as const;

  const list = endpoint({
    ...common,
    method: 'GET',
    path: `${path}/discussions`,
    summary: `List the discussions of ${object}`,
    params: () => at({}),
    returns: { body: shapes.discussions },
    ...BY_ROWS,
    errors: [absent(missing)],
    handle: async ({ actor, params, page, request, ...found }, deps) => {
      const on = await open(deps, actor, accessOf<A>(found), params);
      const { items, ...rest } = await notes.listDiscussions(deps, on, counted(page));
      return { ...rest, items: items.map((each) => discussionOf(each, request.baseUrl)) };
    },
  });

  const get = endpoint({
    ...common,
    method: 'GET',
    path: `${path}/discussions/:discussion_id`,
    summary: `Get a discussion of ${object}`,
    description: 'An answer has room for 3,000 notes; `more_notes_after` tells where to go on.',
    params: () => at(discussionId()),
    query: () =>
      p.params({ id_after: p.integer({ description: 'Return only notes with an ID greater than this' }) }),
    returns: { body: shapes.discussion },
    errors: [absent(missing, 'discussion')],
    handle: async ({ actor, params, query, request, ...found }, deps) => {
      const on = await open(deps, actor, accessOf<A>(found), params);
      const { discussion_id } = params;
      return discussionOf(
        await notes.getDiscussion(deps, on, discussion_id, query.id_after),
        request.baseUrl,
      );
    },
  });

  const create = endpoint({
    ...common,
    method: 'POST',
    path: `${path}/discussions`,
    summary: `Start a discussion of ${object}`,
    params: () => at({}),
    body: () => p.params({ body: noteText(), created_at: noteTime(), ...positionField(inDiff) }),
    returns: { body: shapes.discussion, or: ONLY_ACTIONS },
    errors: [...WRITE_ERRORS, absent(missing)],
    handle: async ({ actor, params, body, request, ...found }, deps) => {
      const on = await open(deps, actor, accessOf<A>(found), params);
      on.requireComment(false);
      notes.requireNoteText(body.body);
      await notes.requireNoteRate(deps, actor);
      const input = {
        createdAt: body.created_at?.toISOString(),
        discussed: true,
        position: await inDiff?.find(on, body),
      };
      const acted = await acting(on, body.body, (noted, text) =>
        notes.startDiscussion(deps, actor, noted, { ...input, body: text }),
      );
      return answered(acted, (discussion, changes) => discussionOf(discussion, request.baseUrl, changes));
    },
  });

  const reply = endpoint({
    ...common,
    method: 'POST',
    path: `${path}/discussions/:discussion_id/notes`,
    summary: `Add a note to a discussion of ${object}`,
    params: () => at(discussionId()),
    body: () => p.params({ body: noteText(), created_at: noteTime() }),
    returns: { body: shapes.note, or: ONLY_ACTIONS },
    errors: [...WRITE_ERRORS, absent(missing, 'discussion')],
    handle: async ({ actor, params, body, request, ...found }, deps) => {
      const on = await open(deps, actor, accessOf<A>(found), params);
      on.requireComment(false);
      notes.requireNoteText(body.body);
      await notes.requireNoteRate(deps, actor);
      const input = { createdAt: body.created_at?.toISOString() };
      const acted = await acting(on, body.body, (noted, text) =>
        notes.reply(deps, actor, noted, params.discussion_id, { ...input, body: text }),
      );
      return answered(acted, (note, changes) => noteOf(note, request.baseUrl, changes));
    },
  });

  const getNote = endpoint({
    ...common,
    method: 'GET',
    path: `${path}/discussions/:discussion_id/notes/:note_id`,
    summary: `Get a note in a discussion of ${object}`,
    params: () => at({ ...discussionId(), ...noteId() }),
    returns: { body: shapes.note },
    errors: [absent(missing, 'discussion', 'note')],
    handle: async ({ actor, params, request, ...found }, deps) => {
      const on = await open(deps, actor, accessOf<A>(found), params);
      await notes.requireInDiscussion(deps, on, params.discussion_id, params.note_id);
      return noteOf(await notes.getNote(deps, on, params.note_id), request.baseUrl);
    },
  });

  const change = endpoint({
    ...common,
    method: 'PUT',
    path: `${path}/discussions/:discussion_id/notes/:note_id`,
    summary: `Update a note in a discussion of ${object}`,
    params: () => at({ ...discussionId(), ...noteId() }),
    body: () =>
      p.params(
        {
          body: noteTextOrNone(),
          resolved: p.boolean({
            description:
              'Whether the discussion is resolved, with all notes in it; refused where it cannot be',
          }),
        },
        [p.exactlyOneOf('body', 'resolved')],
      ),
    returns: { body: shapes.note, or: ONLY_ACTIONS },
    errors: [
      { status: 400, description: 'The text of the note is invalid, or the note is not resolvable' },
      { status: 403, description: 'The note is another user’s' },
      absent(missing, 'discussion', 'note'),
    ],
    handle: async ({ actor, params, body, request, ...found }, deps) => {
      const on = await open(deps, actor, accessOf<A>(found), params);
      on.requireComment(false);
      await notes.requireInDiscussion(deps, on, params.discussion_id, params.note_id);
      if (body.body === undefined) {
        await resolveDiscussion(deps, actor, on, params.discussion_id, body.resolved === true);
        return noteOf(await notes.getNote(deps, on, params.note_id), request.baseUrl);
      }
      notes.requireNoteText(body.body);
      const before = await notes.getNote(deps, on, params.note_id);
      const acted = await rewriting(deps, actor, on, before, body.body);
      return answered(acted, (note, changes) => noteOf(note, request.baseUrl, changes));
    },
  });

  const remove = endpoint({
    ...common,
    method: 'DELETE',
    path: `${path}/discussions/:discussion_id/notes/:note_id`,
    summary: `Delete a note in a discussion of ${object}`,
    params: () => at({ ...discussionId(), ...noteId() }),
    returns: { status: 204 },
    errors: [
      { status: 403, description: 'The note is another user’s' },
      absent(missing, 'discussion', 'note'),
      { status: 412, description: 'The note was changed after `If-Unmodified-Since`' },
    ],
    handle: async ({ actor, params, unmodifiedSince, ...found }, deps) => {
      const on = await open(deps, actor, accessOf<A>(found), params);
      on.requireComment(false);
      await notes.requireInDiscussion(deps, on, params.discussion_id, params.note_id);
      await notes.deleteNote(deps, actor, on, params.note_id, unmodifiedSince);
      return noContent();
    },
  });

  const resolve = endpoint({
    ...common,
    method: 'PUT',
    path: `${path}/discussions/:discussion_id`,
    summary: `Set whether a discussion of ${object} is resolved`,
    params: () => at(discussionId()),
    body: () =>
      p.params({
        resolved: p.boolean({
          required: true,
          description: 'Whether all notes of the discussion are resolved',
        }),
      }),
    returns: { body: shapes.discussion },
    errors: [
      { status: 400, description: 'The discussion cannot be resolved' },
      { status: 403, description: 'You may not resolve it' },
      absent(missing, 'discussion'),
    ],
    handle: async ({ actor, params, body, request, ...found }, deps) => {
      const on = await open(deps, actor, accessOf<A>(found), params);
      const { discussion_id } = params;
      return discussionOf(
        await resolveDiscussion(deps, actor, on, discussion_id, body.resolved),
        request.baseUrl,
      );
    },
  });

  const all = [list, get, create, reply, getNote, change, remove];
  return inDiff === undefined ? all : [...all, resolve];
}
