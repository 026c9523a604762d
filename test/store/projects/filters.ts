/** Lists of a store, filtered by visibility as the domain filters them. */

import { visibleGroups, visibleProjects } from '../../../lib/domain/access/visibility-filter.ts';
import type { Actor } from '../../../lib/domain/actor.ts';
import type { Deps } from '../../../lib/domain/deps.ts';
import type { GroupQuery } from '../../../lib/store/groups/list.ts';
import type { ProjectQuery, Viewer } from '../../../lib/store/projects/query.ts';
import type { Store } from '../../../lib/store/store.ts';
import { newUser } from '../table/store-fixture.ts';

/** An actor with the same rights as the viewer. */
function actorOf(viewer: Viewer): Actor {
  if (viewer.kind === 'anonymous') return { kind: 'anonymous' };
  const admin = viewer.kind === 'admin';
  const external = viewer.kind === 'user' && !viewer.internal;
  const user = { ...newUser('viewer', { admin, external }), id: viewer.id };
  return { kind: 'user', user, scopes: new Set(['api']) } as unknown as Actor;
}

const depsOf = (store: Store) => ({ store, now: () => new Date() }) as unknown as Deps;

export const listProjects = (store: Store, query: Omit<ProjectQuery, 'filter'>) =>
  store.projects.list({ ...query, filter: visibleProjects(depsOf(store), actorOf(query.viewer)) });

export const listGroups = (store: Store, query: Omit<GroupQuery, 'filter'>) =>
  store.groupList.page({ ...query, filter: visibleGroups(depsOf(store), actorOf(query.viewer)) });
