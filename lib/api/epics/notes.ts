import type { GroupAccess } from '../../domain/access/types.ts';
import { getEpic, getEpicById } from '../../domain/epics/epics.ts';
import { epicWithNotes } from '../../domain/epics/noted.ts';
import { readableMentions } from '../../domain/issues/mentions.ts';
import { group } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { awardEndpoints } from '../award-emoji/endpoints.ts';
import { discussionEndpoints, type NotedPath } from '../notes/discussions.ts';
import { noteEndpoints } from '../notes/notes.ts';

/** @param by the path parameter that names the epic, and how it is found */
const noted = (
  by: 'epic_id' | 'epic_iid',
  description: string,
  find: typeof getEpic,
): NotedPath<GroupAccess> => ({
  path: `/groups/:id/epics/:${by}`,
  area: 'issues',
  object: 'an epic',
  missing: 'Epic',
  access: group('read_group'),
  params: () => ({ [by]: p.integer({ required: true, description }) }),
  open: async (deps, actor, access, params) => ({
    ...epicWithNotes(deps, actor, await find(deps, actor, access, Number(params[by]))),
    readable: (notes) => readableMentions(deps, actor, notes),
  }),
});
const byId = noted('epic_id', 'ID of the epic', getEpicById);
const byNumber = noted('epic_iid', 'Number of the epic in the group', getEpic);

export const epicNoteEndpoints = [
  ...noteEndpoints(byId),
  ...discussionEndpoints(byId),
  ...awardEndpoints(byNumber),
];
