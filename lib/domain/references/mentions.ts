/** Notes on what texts name that they do: once for each pair, whatever is written there later. */
import type { Oid } from '../../git/oid.ts';
import { inTurns } from '../../git/work.ts';
import type { IssueRecord } from '../../records/issues.ts';
import { systemNote } from '../../records/notes.ts';
import type { NamingText, Writer } from '../../store/notes/mentions.ts';
import type { Write } from '../../store/table/write.ts';
import { can } from '../access/permissions.ts';
import { maySeeEpic } from '../access/visible-epics.ts';
import { maySeeIssue } from '../access/visible-issues.ts';
import { maySeeSnippet } from '../access/visible-snippets.ts';
import { pinCommit } from '../commits/pin.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../errors.ts';
import { referencesIn } from '../markdown/references.ts';
import { textOfMergeRequest } from '../merge-requests/of-issues.ts';
import { listCloser } from './closers.ts';
import { type Mentioning, readingInGroup, readingOf, type WrittenInProject } from './mentioning.ts';
import { type Named, type NamingReference, referred } from './resolve.ts';
import { nameOf, placeAt } from './source-name.ts';

/** What one text is noted on: the first that it names. */
const MAX_MENTIONED = 100;

/**
 * Notes on what a new text names that it does, as far as its writer may see it. A merge request is listed at the issues
 * that it closes.
 * @param deadline milliseconds since 1970. @returns whether it came to the end; it may run again
 */
export async function tellOfText(
  deps: Deps,
  { text, ...writer }: Writer & { readonly text: NamingText },
  deadline: number,
): Promise<boolean> {
  const written = (await ofEpic(deps, text, writer)) ?? (await ofProject(deps, text, writer));
  return written === undefined || tellNamed(deps, written, deadline);
}

/** Reads a text of an epic, or a note on one, as it is now. @returns undefined for others */
async function ofEpic(deps: Deps, of: NamingText, writer: Writer): Promise<Mentioning | undefined> {
  const noted = of.kind === 'note' && of.noteable.kind === 'epic' ? of.noteable : undefined;
  const address = of.kind === 'epic' ? of : noted;
  if (address === undefined) return undefined;
  const [reading, epic] = await Promise.all([
    readingInGroup(deps, address.groupId, writer),
    deps.store.epics.get(address.id),
  ]);
  if (reading === undefined || epic === undefined || epic.container.id !== address.groupId) return undefined;
  if (!maySeeEpic(reading.actor, reading.group, epic)) return undefined;
  const { id, iid } = epic;
  const text = of.kind === 'note' ? await textOfNote(deps, of) : await written(deps, epic);
  return text === undefined ? undefined : { text, reading, source: { kind: 'epic', id, iid } };
}

async function ofProject(deps: Deps, of: NamingText, writer: Writer): Promise<Mentioning | undefined> {
  if (of.kind === 'epic' || of.projectId === 0) return undefined;
  const reading = await readingOf(deps, of.projectId, writer);
  if (reading !== undefined && of.kind === 'merge-request') await listCloser(deps, of, reading);
  const found = reading && (await textOf(deps, of, reading));
  return found && { ...found, reading: reading! };
}

/** @returns undefined for one that tells nobody, or is gone */
async function textOf(
  deps: Deps,
  of: Exclude<NamingText, { kind: 'epic' }>,
  { actor, project }: WrittenInProject,
): Promise<Omit<Mentioning, 'reading'> | undefined> {
  const { store } = deps;
  const { projectId } = of;
  if (of.kind === 'issue') {
    const issue = await store.issues.get(of);
    if (issue === undefined || !maySeeIssue(actor, project, issue)) return undefined;
    return { text: await written(deps, issue), source: { ...of, kind: 'issue' } };
  }
  if (of.kind === 'merge-request') {
    const mergeRequest = await store.mergeRequests.get(of);
    if (mergeRequest === undefined || !can(actor, project, 'read_merge_requests')) return undefined;
    return { text: await textOfMergeRequest(store, mergeRequest), source: { ...of, kind: 'merge-request' } };
  }
  const { noteable } = of;
  const note = await noteOf(deps, of);
  if (note === undefined) return undefined;
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

type NotedText = Extract<NamingText, { kind: 'note' }>;

/** That an internal note names something is for the readers of internal notes. */
async function noteOf({ store }: Deps, { projectId, noteable, noteId: id }: NotedText) {
  const note = await store.notes.get({ projectId, noteable, id });
  return note?.internal === true ? undefined : note;
}

async function textOfNote(deps: Deps, of: NotedText): Promise<string | undefined> {
  const note = await noteOf(deps, of);
  return note && deps.store.texts.read(note.body);
}

/** The texts of an issue or an epic. */
async function written(
  { store }: Deps,
  { title, description }: Pick<IssueRecord, 'title' | 'description'>,
): Promise<string> {
  return `${title}\n\n${description === null ? '' : await store.texts.read(description)}`;
}

/** @param isTold whether something is told otherwise. @returns whether it came to the end */
export async function tellNamed(
  deps: Deps,
  { text, reading, source }: Mentioning,
  deadline: number,
  isTold: (at: Named['at']) => boolean = () => false,
): Promise<boolean> {
  const references = (await inTurns(referencesIn(text, { baseUrl: reading.baseUrl })))
    .filter((each): each is NamingReference => TOLD.has(each.kind))
    .slice(0, MAX_MENTIONED);
  if (references.length === 0) return true;
  const found = (await referred(deps, references, reading)).filter(
    ({ at, access }) => !isSource(at, source) && !isArchived(access) && !isTold(at),
  );
  const known = await deps.store.mentionNotes.known(
    found.map(({ at }) => at),
    'mentioned',
    source,
  );
  const added = found.filter((_, i) => !known[i]);
  const isProposed = await proposedBy(deps, { reading, source }, added);
  for (const target of added) {
    if (Date.now() > deadline) return false;
    if (!(await isProposed(target.at))) await tell(deps, target, { reading, source });
  }
  return true;
}

const TOLD: ReadonlySet<string> = new Set<NamingReference['kind']>([
  'issue',
  'merge-request',
  'epic',
  'commit',
]);

const isArchived = (access: Named['access']): boolean => 'project' in access && access.project.archived;

function isSource({ projectId, iid, noteable }: Named['at'], source: Mentioning['source']): boolean {
  if (source.kind !== noteable.kind) return false;
  if (source.kind === 'epic') return source.id === noteable.id;
  if (source.projectId !== projectId) return false;
  return source.kind === 'commit' ? source.sha === noteable.id : 'iid' in source && source.iid === iid;
}

/** A merge request names the commits that it proposes as a matter of course: they are not told. */
async function proposedBy(
  deps: Deps,
  { reading, source }: Omit<Mentioning, 'text'>,
  targets: readonly Named[],
): Promise<(at: Named['at']) => Promise<boolean>> {
  const asks =
    source.kind === 'merge-request' && targets.some(({ at: { noteable } }) => noteable.kind === 'commit');
  if (!asks || reading.project === undefined) return async () => false;
  const { proposedCommits } = await import('./own-commits.ts');
  const isProposed = await proposedCommits(deps, reading.project, source);
  return async ({ noteable }) => noteable.kind === 'commit' && isProposed(noteable.id as Oid);
}

async function tell(
  deps: Deps,
  { at, access }: Named,
  { reading, source }: Omit<Mentioning, 'text'>,
): Promise<void> {
  const text = `mentioned in ${nameOf(source, placeAt(reading.project ?? reading.group), placeAt(access))}`;
  const note = systemNote(
    await deps.store.notes.nextId(),
    at,
    { action: 'cross_reference', text, mentionedIn: source },
    reading.actor.user,
    deps.now().toISOString(),
  );
  const add = (pins: readonly Write[]) => deps.store.mentionNotes.add(note, at, source, pins);
  if (at.noteable.kind !== 'commit' || !('project' in access)) await add([]);
  else
    await pinCommit(deps, access.project, at.noteable.id as Oid, add).catch((error: unknown) => {
      // The commit is gone, or its project.
      if (!(error instanceof DomainError && error.code === 'not-found')) throw error;
    });
}
