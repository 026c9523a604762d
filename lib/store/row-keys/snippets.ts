import { ownerOfSnippet, type SnippetOwner, type SnippetRecord } from '../../records/snippets.ts';
import type { Visibility } from '../../records/visibility.ts';
import { type Key, MAX_ID, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';

/** A snippet by its id: its paths name nothing else of it. */
export const snippetKey = (id: number): Key => ({ pk: `SNIPPET#${padded(id)}`, sk: 'SNIPPET' });

/** With what program and from where it was created. */
export const snippetAgentKey = (id: number): Key => ({ pk: `SNIPPET#${padded(id)}`, sk: 'AGENT' });

/** The personal snippets of a user, or those of a project. */
export const snippetsPartition = ({ kind, id }: SnippetOwner): string =>
  `SNIPPETS#${kind === 'user' ? 'USER' : 'PROJECT'}#${padded(id)}`;

/** What keys in its lists begin with. */
export const SNIPPET_LIST = 'LIST#';

export const snippetListPrefix = (visibility: Visibility): string => `${SNIPPET_LIST}${visibility}#`;

/** The list of a visibility, the newest first. */
export const snippetListKey = (snippet: SnippetRecord): Key => ({
  pk: snippetsPartition(ownerOfSnippet(snippet)),
  sk: `${snippetListPrefix(snippet.visibility)}${padded(MAX_ID - snippet.id)}`,
});

/** The bytes of the snippets of a project, the sum of what their records say. */
export const snippetTotalKey = (projectId: number): Key => ({
  pk: snippetsPartition({ kind: 'project', id: projectId }),
  sk: 'TOTAL',
});

/** Class of `list`: the personal snippets that everybody sees. */
export const PUBLIC_SNIPPETS = 'SNIPPETS#public';

const of = ['project', 'user'] as const;

export const rowKinds = [
  { name: 'snippet', partitions: ['SNIPPET#'], keys: { snippetKey }, of },
  { name: 'snippet-agent', partitions: ['SNIPPET#'], keys: { snippetAgentKey }, of },
  { name: 'snippet-of-owner', partitions: ['SNIPPETS#'], keys: { snippetListKey }, of },
  { name: 'snippet-total', partitions: ['SNIPPETS#'], keys: { snippetTotalKey }, of: ['project'] },
] as const satisfies readonly RowKind[];
