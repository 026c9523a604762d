import { projectIdentity } from '../projects/identity.ts';
import { moveEndpoints } from './make.ts';
import * as shapes from './shapes.ts';

const { ofAll, ofOne } = moveEndpoints({
  kind: 'project',
  param: 'id',
  named: 'ID or URL-encoded full path of the project',
  areas: { all: 'settings', one: 'projects' },
  find: ({ store }, name) =>
    /^\d{1,12}$/.test(name) ? store.projects.get(Number(name)) : store.projects.byPath(name),
  present: async ({ store }, _actor, ids) =>
    (await store.projects.getMany(ids)).map((project) => project && projectIdentity(project)),
  shapes: { one: shapes.projectMove, list: shapes.projectMoves },
});

export const allProjectMoveEndpoints = ofAll;
export const projectMoveEndpoints = ofOne;
