import { addAward, emojiOfNote } from '../../domain/award-emoji/awards.ts';
import { badRequest } from '../../domain/errors.ts';
import type { ContainerAccess } from '../../domain/labels/containers.ts';
import { acting, rewriting } from '../../domain/notes/acting.ts';
import * as notes from '../../domain/notes/notes.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { awardOf } from '../award-emoji/present.ts';
import { accessOf } from '../container-access.ts';
import { BY_ROWS, counted, endpoint } from '../endpoint.ts';
import { withParams } from '../with-params.ts';
import { answered, ONLY_ACTIONS } from './acted.ts';
import {
  absent,
  type ContainerRule,
  type NotedPath,
  newNoteText,
  noteId,
  noteText,
  noteTextOrNone,
  noteTime,
  WRITE_ERRORS,
} from './discussions.ts';
import { noteOf } from './present.ts';
import * as shapes from './shapes.ts';

/** The endpoints of notes below an object, without regard to the discussions that they are in. */
export function noteEndpoints<A extends ContainerAccess>({
  path,
  area,
  object,
  missing,
  access,
  open,
  updatesText,
  ...noted
}: NotedPath<A>) {
  const common = { area, access: access as ContainerRule } as const;
  const at = <T extends p.Shape>(rest: T) => withParams(noted.params(), rest);

  const list = endpoint({
    ...common,
    method: 'GET',
    path: `${path}/notes`,
    summary: `List the notes on ${object}`,
    params: () => at({}),
    query: () =>
      p.params({
        sort: p.oneOf(['asc', 'desc'], { default: 'desc', description: 'Sort direction' }),
        order_by: p.oneOf(['created_at', 'updated_at'], { default: 'created_at', description: 'Order' }),
        activity_filter: p.oneOf(['all_notes', 'only_comments', 'only_activity'], {
          default: 'all_notes',
          description: 'Return all notes, only those of people, or only those of the service about changes',
        }),
      }),
    returns: { body: shapes.notes },
    ...BY_ROWS,
    errors: [absent(missing)],
    handle: async ({ actor, params, query, page, request, ...found }, deps) => {
      const on = await open(deps, actor, accessOf<A>(found), params);
      const order = {
        by: query.order_by === 'created_at' ? 'createdAt' : 'updatedAt',
        direction: query.sort,
        filter: query.activity_filter,
      } as const;
      const { items, ...rest } = await notes.listNotes(deps, on, order, counted(page));
      return { ...rest, items: items.map((note) => noteOf(note, request.baseUrl)) };
    },
  });

  const get = endpoint({
    ...common,
    method: 'GET',
    path: `${path}/notes/:note_id`,
    summary: `Get a note on ${object}`,
    params: () => at(noteId()),
    returns: { body: shapes.note },
    errors: [absent(missing, 'note')],
    handle: async ({ actor, params, request, ...found }, deps) => {
      const on = await open(deps, actor, accessOf<A>(found), params);
      return noteOf(await notes.getNote(deps, on, params.note_id), request.baseUrl);
    },
  });

  const internal = () => ({
    confidential: p.boolean({
      description: 'Whether the note is only for those who may read confidential issues',
    }),
    internal: p.boolean({ description: 'Same as `confidential`' }),
  });

  const create = endpoint({
    ...common,
    method: 'POST',
    path: `${path}/notes`,
    summary: `Create a note on ${object}`,
    description:
      'A text that is one emoji, such as `:tada:`, is awarded instead, where emoji can be awarded.',
    params: () => at({}),
    body: () => p.params({ body: noteText(), ...internal(), created_at: noteTime() }),
    returns: { body: shapes.noteOrAward, or: ONLY_ACTIONS },
    errors: [...WRITE_ERRORS, absent(missing)],
    handle: async ({ actor, params, body, request, ...found }, deps) => {
      const on = await open(deps, actor, accessOf<A>(found), params);
      const isInternal = body.internal ?? body.confidential ?? false;
      on.requireComment(isInternal);
      notes.requireNoteText(body.body);
      await notes.requireNoteRate(deps, actor);
      const emoji = on.awards === undefined ? undefined : await emojiOfNote(body.body);
      if (emoji !== undefined)
        return awardOf(await addAward(deps, actor, on, undefined, emoji), request.baseUrl);
      const input = { internal: isInternal, createdAt: body.created_at?.toISOString() };
      const acted = await acting(on, body.body, (noted, text) =>
        notes.addNote(deps, actor, noted, { ...input, body: text }),
      );
      return answered(acted, (note, changes) => noteOf(note, request.baseUrl, changes));
    },
  });

  const update = endpoint({
    ...common,
    method: 'PUT',
    path: `${path}/notes/:note_id`,
    summary: `Update a note on ${object}`,
    description:
      'Whether a note is internal is decided when it is created. A text of quick actions only deletes the note.',
    params: () => at(noteId()),
    body: () =>
      p.params({
        body: updatesText === true ? newNoteText() : noteTextOrNone(),
        ...internal(),
      }),
    returns: { body: shapes.note, or: ONLY_ACTIONS },
    errors: [
      {
        status: 400,
        description: 'The text of the note is invalid, or it would become internal or no longer be',
      },
      { status: 403, description: 'The note is another user’s' },
      absent(missing, 'note'),
    ],
    handle: async ({ actor, params, body, request, ...found }, deps) => {
      const on = await open(deps, actor, accessOf<A>(found), params);
      on.requireComment(false);
      const before = await notes.getNote(deps, on, params.note_id);
      const isInternal = body.internal ?? body.confidential;
      if (isInternal !== undefined && isInternal !== (before.note.internal === true))
        throw badRequest('Note {:confidential=>["can not be changed for existing notes"]}');
      if (body.body !== undefined) notes.requireNoteText(body.body);
      const acted = await rewriting(deps, actor, on, before, body.body ?? before.body);
      return answered(acted, (note, changes) => noteOf(note, request.baseUrl, changes));
    },
  });

  const remove = endpoint({
    ...common,
    method: 'DELETE',
    path: `${path}/notes/:note_id`,
    summary: `Delete a note on ${object}`,
    params: () => at(noteId()),
    returns: { status: 204 },
    errors: [
      { status: 403, description: 'The note is another user’s' },
      absent(missing, 'note'),
      { status: 412, description: 'The note was changed after `If-Unmodified-Since`' },
    ],
    handle: async ({ actor, params, unmodifiedSince, ...found }, deps) => {
      const on = await open(deps, actor, accessOf<A>(found), params);
      on.requireComment(false);
      await notes.deleteNote(deps, actor, on, params.note_id, unmodifiedSince);
      return noContent();
    },
  });

  return [list, get, create, update, remove];
}
