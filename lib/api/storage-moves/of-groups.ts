import { moveEndpoints } from './make.ts';
import * as shapes from './shapes.ts';

/** The repositories of a group are those of its wiki. */
const { ofAll, ofOne } = moveEndpoints({
  kind: 'group',
  param: 'id',
  named: 'ID or URL-encoded full path of the group',
  areas: { all: 'settings', one: 'groups' },
  find: ({ store }, name) =>
    /^\d{1,12}$/.test(name) ? store.groups.get(Number(name)) : store.groups.byPath(name),
  present: async ({ store }, _actor, ids, baseUrl) =>
    (await store.groups.getMany(ids)).map(
      (group) => group && { id: group.id, web_url: `${baseUrl}/groups/${group.fullPath}`, name: group.name },
    ),
  shapes: { one: shapes.groupMove, list: shapes.groupMoves },
});

export const allGroupMoveEndpoints = ofAll;
export const groupMoveEndpoints = ofOne;
