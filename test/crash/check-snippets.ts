import { repositoryIdOf } from '../../lib/records/repository-owner.ts';
import { ownerOfSnippet, type SnippetRecord } from '../../lib/records/snippets.ts';
import { projectKey } from '../../lib/store/row-keys/projects.ts';
import { headKey } from '../../lib/store/row-keys/repository.ts';
import {
  SNIPPET_LIST,
  snippetKey,
  snippetListKey,
  snippetTotalKey,
} from '../../lib/store/row-keys/snippets.ts';
import { userKey } from '../../lib/store/row-keys/users.ts';
import { indexOf } from '../../lib/store/snippets/snippets.ts';
import { livingOf } from './records.ts';
import { keyText, type Row, rowCheck } from './rows.ts';

const kinds = ['snippet', 'snippet-agent', 'snippet-of-owner', 'snippet-total'] as const;

/**
 * Each snippet has an owner, an author and a repository, is in the list of its visibility, and in the indexes that its
 * record says. The total of a project is the sum of what its snippets say.
 */
export const snippets = rowCheck(kinds, function* (rows) {
  const records = rows.of('SNIPPET#').filter(({ sk }) => sk === 'SNIPPET') as unknown as readonly (Row &
    SnippetRecord)[];
  const listed = new Set<string>();
  for (const record of records) {
    const { id, kind } = { id: record.id, kind: ownerOfSnippet(record).kind };
    const owner = kind === 'project' ? projectKey(record.projectId!) : userKey(record.author.id);
    if (rows.get(headKey(repositoryIdOf({ kind: 'snippet', id }))) === undefined)
      yield `snippet ${id} has no repository`;
    if (rows.get(owner) === undefined) yield `snippet ${id} is of a ${kind} that does not exist`;
    if (rows.get(snippetListKey(record)) === undefined)
      yield `snippet ${id} is not in the list of its ${kind}`;
    listed.add(keyText(snippetListKey(record)));
    const { list, byId, ...expected } = { list: undefined, byId: undefined, ...indexOf(record) };
    for (const [name, value] of Object.entries({ ...expected, list, byId }))
      if ((record as unknown as Row)[name] !== value) yield `snippet ${id} has another ${name}`;
  }
  for (const row of rows.of('SNIPPETS#'))
    if (row.sk.startsWith(SNIPPET_LIST) && !listed.has(keyText(row)))
      yield `${keyText(row)} is of no snippet`;
  for (const { pk, sk } of rows.of('SNIPPET#'))
    if (sk === 'AGENT' && rows.get({ pk, sk: snippetKey(0).sk }) === undefined)
      yield `${pk} has an agent and no record`;
  // Of a deleted project the snippets go one by one, and then the total.
  const byProject = Map.groupBy(records, ({ projectId }) => projectId);
  for (const { id } of livingOf(rows)) {
    const bytes = (byProject.get(id) ?? []).reduce((sum, { repositorySize = 0 }) => sum + repositorySize, 0);
    const counted = rows.get(snippetTotalKey(id))?.['bytes'] ?? 0;
    if (counted !== bytes) yield `project ${id} counts ${counted} bytes of snippets and has ${bytes}`;
  }
});
