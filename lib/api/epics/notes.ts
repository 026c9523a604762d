import type { GroupAccess } from '../../domain/access/types.ts';
import { epicWithNotes } from '../../domain/epics/noted.ts';
import { readableMentions } from '../../domain/issues/mentions.ts';
import { group } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { discussionEndpoints, type NotedPath } from '../notes/discussions.ts';
import { noteEndpoints } from '../notes/notes.ts';

const onEpic: NotedPath<GroupAccess> = {
  path: '/groups/:id/epics/:epic_id',
  area: 'issues',
  object: 'an epic',
  missing: 'Epic',
  access: group('read_group'),
  params: () => ({ epic_id: p.integer({ required: true, description: 'ID of the epic' }) }),
  open: async (deps, actor, access, { epic_id }) => ({
    ...(await epicWithNotes(deps, actor, access, Number(epic_id))),
    readable: (notes) => readableMentions(deps, actor, notes),
  }),
};

export const epicNoteEndpoints = [...noteEndpoints(onEpic), ...discussionEndpoints(onEpic)];
