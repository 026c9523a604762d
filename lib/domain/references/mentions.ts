/** Notes on issues that they are mentioned somewhere: once for each pair, whatever is written there later. */
import type { MentionSource, NoteRecord } from '../../records/notes.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { NamingText, Writer } from '../../store/notes/mentions.ts';
import { can } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import { maySeeIssue } from '../access/visible-issues.ts';
import { maySeeSnippet } from '../access/visible-snippets.ts';
import { actingFor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import type { FoundIssue } from '../issues/related.ts';
import { type NumberedReference, referencesIn } from '../markdown/references.ts';
import { textOfMergeRequest } from '../merge-requests/of-issues.ts';
import type { Reading } from './reading.ts';
import { referredIssues } from './resolve.ts';

/** Issues that one text is noted on: the first that it names. */
const MAX_MENTIONED = 100;

/** A text, who wrote it and where. */
export interface Mentioning {
  readonly text: string;
  readonly reading: Reading & {
    readonly actor: ReturnType<typeof actingFor>;
    readonly project: ProjectAccess;
  };
  readonly source: MentionSource;
}

/**
 * Notes on the issues that a new text names that it does, as far as its writer may see them.
 * @param deadline milliseconds since 1970. @returns whether it came to the end; it may run again
 */
export async function tellOfText(
  deps: Deps,
  { text, ...writer }: Writer & { readonly text: NamingText },
  deadline: number,
): Promise<boolean> {
  const reading = await readingOf(deps, text.projectId, writer);
  const written = reading && (await textOf(deps, text, reading));
  return written === undefined || tellIssues(deps, { ...written, reading: reading! }, deadline);
}

/** Returns how the writer of a text sees the project of it; undefined where one of them is gone. */
export async function readingOf(
  deps: Deps,
  projectId: number,
  { actorId, baseUrl }: Writer,
): Promise<Mentioning['reading'] | undefined> {
  const user = actorId === null ? undefined : await deps.store.users.get(actorId);
  if (user === undefined || user.state !== 'active') return undefined;
  const actor = actingFor(user, baseUrl);
  const [project] = await projectAccesses(deps, actor, [projectId]);
  return project && { actor, baseUrl, project };
}

/** Reads a text as it is now. @returns undefined for one that tells nobody, or is gone */
async function textOf(
  { store }: Deps,
  of: NamingText,
  { actor, project }: Mentioning['reading'],
): Promise<Omit<Mentioning, 'reading'> | undefined> {
  const { projectId } = of;
  if (of.kind === 'issue') {
    const issue = await store.issues.get(of);
    if (issue === undefined || !maySeeIssue(actor, project, issue)) return undefined;
    const description = issue.description === null ? '' : await store.texts.read(issue.description);
    return { text: `${issue.title}\n\n${description}`, source: { ...of, kind: 'issue' } };
  }
  if (of.kind === 'merge-request') {
    const mergeRequest = await store.mergeRequests.get(of);
    if (mergeRequest === undefined || !can(actor, project, 'read_merge_requests')) return undefined;
    return { text: await textOfMergeRequest(store, mergeRequest), source: { ...of, kind: 'merge-request' } };
  }
  const { noteable, noteId: id } = of;
  const note = await store.notes.get({ projectId, noteable, id });
  // That an internal note names something is for the readers of internal notes.
  if (note === undefined || note.internal === true) return undefined;
  const text = await store.texts.read(note.body);
  if (noteable.kind === 'commit') return { text, source: { kind: 'commit', projectId, sha: noteable.id } };
  if (noteable.kind === 'snippet') {
    const snippet = await store.snippets.get(noteable.id);
    if (snippet === undefined || !maySeeSnippet(actor, snippet, project)) return undefined;
    return { text, source: { ...noteable, projectId } };
  }
  const { kind } = noteable;
  if (kind === 'epic' || kind === 'alert' || note.iid === undefined) return undefined;
  return { text, source: { kind, projectId, iid: note.iid } };
}

/** @param except ids of issues that are told otherwise. @returns whether it came to the end */
export async function tellIssues(
  deps: Deps,
  { text, reading, source }: Mentioning,
  deadline: number,
  except: readonly number[] = [],
): Promise<boolean> {
  const references = referencesIn(text, { baseUrl: reading.baseUrl })
    .filter((reference): reference is NumberedReference => reference.kind === 'issue')
    .slice(0, MAX_MENTIONED);
  if (references.length === 0) return true;
  const found = (await referredIssues(deps, references, reading)).filter(
    ({ issue, access }) => !isSource(issue, source) && !access.project.archived && !except.includes(issue.id),
  );
  const known = await deps.store.mentions.known(
    found.map(({ issue }) => issue),
    'mentioned',
    source,
  );
  for (const target of found.filter((_, i) => !known[i])) {
    if (Date.now() > deadline) return false;
    await tellIssue(deps, target, { reading, source });
  }
  return true;
}

const isSource = ({ projectId, iid }: FoundIssue['issue'], source: MentionSource): boolean =>
  source.kind === 'issue' && source.projectId === projectId && source.iid === iid;

async function tellIssue(
  deps: Deps,
  { issue, access }: FoundIssue,
  { reading, source }: Omit<Mentioning, 'text'>,
): Promise<void> {
  const { id: authorId, username, name } = reading.actor.user;
  const at = deps.now().toISOString();
  const note: NoteRecord = {
    id: await deps.store.notes.nextId(),
    projectId: issue.projectId,
    noteable: { kind: 'issue', id: issue.id },
    iid: issue.iid,
    body: `mentioned in ${nameOf(source, reading.project.project, access.project)}`,
    author: { id: authorId, username, name },
    line: null,
    system: 'cross_reference',
    mentionedIn: source,
    createdAt: at,
    updatedAt: at,
  };
  await deps.store.mentions.add(note, issue, source);
}

/**
 * What a source is called in a text of another project: `issue #1`, `merge request !1`, `project snippet $1`, `commit <id>`,
 * with the path of its project where that is another, in full where the namespace is another too.
 */
export function nameOf(
  source: MentionSource,
  { id, fullPath }: ProjectRecord,
  beside: ProjectRecord,
): string {
  const place =
    id === beside.id
      ? ''
      : namespaceOf(fullPath) === namespaceOf(beside.fullPath)
        ? lastOf(fullPath)
        : fullPath;
  if (source.kind === 'issue') return `issue ${place}#${source.iid}`;
  if (source.kind === 'merge-request') return `merge request ${place}!${source.iid}`;
  if (source.kind === 'snippet') return `project snippet ${place}$${source.id}`;
  return `commit ${place === '' ? '' : `${place}@`}${source.sha}`;
}

const namespaceOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));
const lastOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
