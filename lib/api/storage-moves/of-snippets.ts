import { projectAccesses } from '../../domain/access/project-accesses.ts';
import { cloneRoot } from '../../domain/repository/clone-url.ts';
import { snippetOf } from '../snippets/present.ts';
import { moveEndpoints } from './make.ts';
import * as shapes from './shapes.ts';

const { ofAll, ofOne } = moveEndpoints({
  kind: 'snippet',
  param: 'snippet_id',
  named: 'ID of the snippet',
  areas: { all: 'snippets', one: 'snippets' },
  find: async ({ store }, name) => (/^\d{1,12}$/.test(name) ? store.snippets.get(Number(name)) : undefined),
  present: async (deps, actor, ids, baseUrl) => {
    const found = await deps.store.snippets.getMany(ids);
    const projectIds = [...new Set(found.flatMap((snippet) => snippet?.projectId ?? []))];
    const authorIds = [...new Set(found.flatMap((snippet) => snippet?.author.id ?? []))];
    const [accesses, authors, root] = await Promise.all([
      projectIds.length === 0 ? [] : projectAccesses(deps, actor, projectIds),
      authorIds.length === 0 ? [] : deps.store.users.getMany(authorIds),
      cloneRoot(deps, baseUrl),
    ]);
    return found.map((snippet) => {
      if (snippet === undefined) return undefined;
      const access = accesses[projectIds.indexOf(snippet.projectId ?? 0)];
      const author = authors[authorIds.indexOf(snippet.author.id)];
      return snippetOf({ snippet, author, ...(access && { access }) }, { baseUrl, cloneRoot: root });
    });
  },
  shapes: { one: shapes.snippetMove, list: shapes.snippetMoves },
});

export const snippetMoveEndpoints = [...ofAll, ...ofOne];
