import * as z from 'zod/mini';
import type { SearchKind } from '../../records/search.ts';
import { INDEX_JOB } from '../../store/search/search.ts';
import type { Deps } from '../deps.ts';
import { defineJob } from '../job.ts';
import { idField } from '../job-fields.ts';

export const jobs = [
  defineJob({
    name: INDEX_JOB,
    body: () => z.object({ kind: z.enum(['project', 'user', 'group', 'snippet']), id: idField() }),
    run: (deps, { kind, id }) => deps.store.search.index(kind, id, () => searchable(deps, kind, id)),
  }),
];

/** @returns the texts in which a search may find a part; undefined when the subject does not exist (any more) */
async function searchable({ store }: Deps, kind: SearchKind, id: number): Promise<string[] | undefined> {
  if (kind === 'user') {
    const user = await store.users.get(id);
    return user && [user.name, user.username];
  }
  if (kind === 'snippet') {
    const snippet = await store.snippets.get(id);
    return snippet && [snippet.title];
  }
  const named = await (kind === 'project' ? store.projects.get(id) : store.groups.get(id));
  return named && [named.name, named.path];
}
