/** Notes on issues and merge requests that they are mentioned somewhere: once for each pair, whatever is written there later. */
import { type MentionSource, systemNote } from '../../records/notes.ts';
import type { NamingText, Writer } from '../../store/notes/mentions.ts';
import { can } from '../access/permissions.ts';
import { maySeeIssue } from '../access/visible-issues.ts';
import { maySeeSnippet } from '../access/visible-snippets.ts';
import type { Deps } from '../deps.ts';
import { type NumberedReference, referencesIn } from '../markdown/references.ts';
import { textOfMergeRequest } from '../merge-requests/of-issues.ts';
import { listCloser } from './closers.ts';
import { type Mentioning, readingOf } from './mentioning.ts';
import { type NamedTracked, referredTracked } from './resolve.ts';
import { nameOf } from './source-name.ts';

/** Issues and merge requests that one text is noted on: the first that it names. */
const MAX_MENTIONED = 100;

/**
 * Notes on the issues and merge requests that a new text names that it does, as far as its writer may see them. One of a
 * merge request is listed at the issues that it closes.
 * @param deadline milliseconds since 1970. @returns whether it came to the end; it may run again
 */
export async function tellOfText(
  deps: Deps,
  { text, ...writer }: Writer & { readonly text: NamingText },
  deadline: number,
): Promise<boolean> {
  const reading = await readingOf(deps, text.projectId, writer);
  if (reading !== undefined && text.kind === 'merge-request') await listCloser(deps, text, reading);
  const written = reading && (await textOf(deps, text, reading));
  return written === undefined || tellNamed(deps, { ...written, reading: reading! }, deadline);
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

/** @param isTold whether something is told otherwise. @returns whether it came to the end */
export async function tellNamed(
  deps: Deps,
  { text, reading, source }: Mentioning,
  deadline: number,
  isTold: (at: NamedTracked['at']) => boolean = () => false,
): Promise<boolean> {
  const references = referencesIn(text, { baseUrl: reading.baseUrl })
    .filter((each): each is NumberedReference => each.kind === 'issue' || each.kind === 'merge-request')
    .slice(0, MAX_MENTIONED);
  if (references.length === 0) return true;
  const found = (await referredTracked(deps, references, reading)).filter(
    ({ at, access }) => !isSource(at, source) && !access.project.archived && !isTold(at),
  );
  const known = await deps.store.mentions.known(
    found.map(({ at }) => at),
    'mentioned',
    source,
  );
  for (const target of found.filter((_, i) => !known[i])) {
    if (Date.now() > deadline) return false;
    await tell(deps, target, { reading, source });
  }
  return true;
}

const isSource = ({ projectId, iid, noteable }: NamedTracked['at'], source: MentionSource): boolean =>
  source.kind === noteable.kind && source.projectId === projectId && source.iid === iid;

async function tell(
  deps: Deps,
  { at, access }: NamedTracked,
  { reading, source }: Omit<Mentioning, 'text'>,
): Promise<void> {
  const text = `mentioned in ${nameOf(source, reading.project.project, access.project)}`;
  const note = systemNote(
    await deps.store.notes.nextId(),
    at,
    { action: 'cross_reference', text, mentionedIn: source },
    reading.actor.user,
    deps.now().toISOString(),
  );
  await deps.store.mentions.add(note, at, source);
}
