/** Applying suggestions: one commit to the source branch, in the transaction that marks them as applied. */

import type { Oid } from '../../git/oid.ts';
import type { GitRepository } from '../../git/repository.ts';
import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import { type NotePosition, type NoteRecord, type Suggestion, suggestionOf } from '../../records/notes.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { UserRecord } from '../../records/users.ts';
import { TransactionRefused } from '../../store/errors.ts';
import { can, signedIn } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { commitActions, type GuardedAction } from '../commits/actions.ts';
import type { Deps } from '../deps.ts';
import { badRequest, DomainError, forbidden, refused } from '../errors.ts';
import { discussionIdOf } from '../notes/discussion-id.ts';
import { resolveDiscussion } from '../notes/resolve.ts';
import { pushAccess } from '../refs/collaboration.ts';
import { branchProtection } from '../refs/protection.ts';
import { identityOf } from '../repository/identity.ts';
import { bounded, codeOf } from '../repository/read.ts';
import { headsOf } from './mergeability.ts';
import { mergeRequestWithNotes } from './noted.ts';
import { refreshed } from './refresh.ts';
import { bytesOf, linesOf } from './suggestions.ts';
import { cut, filled, MAX_MESSAGE_BYTES } from './templates.ts';

/** Suggestions of one commit. */
const MAX_APPLIED = 50;

const TEMPLATE = 'Apply %{suggestions_count} suggestion(s) to %{files_count} file(s)';

/** A suggestion with where it is now. */
export interface FoundSuggestion {
  readonly note: NoteRecord;
  readonly index: number;
  readonly position: NotePosition;
}

interface Placed extends FoundSuggestion {
  readonly suggestion: Suggestion;
  readonly path: string;
  /** Of the first line that it replaces, counted from 1, and of the last. */
  readonly start: number;
  readonly end: number;
}

/**
 * Applies suggestions to the source branch of their merge request with one commit, and resolves their discussions.
 * @param given the message, or a template of it; undefined: as the project says
 * @returns the notes as they then are, in the order of the ids
 * @throws 404 for what the actor does not see; 403 for who may not push to the branch; 400 where one cannot be applied,
 *   or was meanwhile
 */
export async function applySuggestions(
  deps: Deps,
  actor: Actor,
  ids: readonly number[],
  given?: string,
): Promise<FoundSuggestion[]> {
  const distinct = [...new Set(ids)];
  const { notes, access } = await found(deps, actor, distinct);
  const iid = notes[0]!.note.iid!;
  if (notes.some(({ note }) => note.projectId !== access.project.id || note.iid !== iid))
    throw refused('Suggestions must all be on the same branch.');
  const read = await deps.store.mergeRequests.get({ projectId: access.project.id, iid });
  if (read === undefined) throw absent(distinct);
  const [source] =
    read.source.projectId === access.project.id
      ? [access]
      : await projectAccesses(deps, actor, [read.source.projectId]);
  const pushing = source && (await pushAccess(deps, actor, source, read.source.branch));
  const protection = pushing && (await branchProtection(deps, pushing, actor));
  if (source === undefined || protection?.mayPush(actor, read.source.branch) !== true) throw forbidden();
  requireOpen(read);
  if ((await headsOf(deps, access, read)).sourceSha === undefined)
    throw refused("Can't apply as the source branch was deleted.");
  const record = await refreshed(deps, actor, access, read);
  const git = codeOf(deps, access);
  const placed = await placedIn(deps, actor, access, record, notes);
  const actions = await editsOf(git, record, placed);
  const authors = await deps.store.users.getMany([...new Set(placed.map(({ note }) => note.author.id))]);
  const author = authors.length === 1 ? authors[0] : undefined;
  const applied = appliedNotes(placed);
  await commit(deps, actor, source, {
    ...{ branch: record.source.branch, actions },
    message: messageOf(given, { actor: signedIn(actor).user, project: access.project, record, placed }),
    ...(author === undefined ? {} : authorOf(author, deps.now())),
    alongside: applied.map(({ before, suggestions }) => deps.store.notes.appliedWrite(before, suggestions)),
  });
  await resolveOf(deps, actor, access, record, applied);
  const after = new Map(applied.map(({ before, suggestions }) => [before.id, { ...before, suggestions }]));
  return distinct.map((_, i) => {
    const { note, index, position } = placed[i]!;
    return { note: after.get(note.id)!, index, position };
  });
}

const absent = ({ length }: readonly number[]): DomainError =>
  new DomainError(
    'not-found',
    length === 1
      ? 'Suggestion is not applicable as the suggestion was not found.'
      : 'Suggestions are not applicable as one or more suggestions were not found.',
  );

/** @throws 404 for what the actor does not see */
async function found(deps: Deps, actor: Actor, ids: readonly number[]) {
  if (ids.length === 0) throw badRequest('"ids" not given');
  if (ids.length > MAX_APPLIED) throw refused(`Suggestions are too many (maximum is ${MAX_APPLIED})`);
  const named = ids.map(suggestionOf);
  const noteIds = [...new Set(named.map(({ noteId }) => noteId))];
  const records = await deps.store.notes.suggesting(noteIds);
  const byId = new Map(noteIds.map((id, i) => [id, records[i]]));
  const projectIds = [...new Set(records.flatMap((note) => note?.projectId ?? []))];
  const accesses = new Map(
    (await projectAccesses(deps, actor, projectIds)).map((access, i) => [projectIds[i]!, access]),
  );
  const notes = named.map(({ noteId, index }) => {
    const note = byId.get(noteId);
    const access = note && accesses.get(note.projectId);
    const isSeen = access !== undefined && can(actor, access, 'read_merge_requests');
    if (note?.suggestions?.[index] === undefined || note.position === undefined || !isSeen) throw absent(ids);
    return { note, index };
  });
  return { notes, access: accesses.get(notes[0]!.note.projectId)! };
}

/** @throws 400 */
function requireOpen({ state }: MergeRequestRecord): void {
  if (state === 'opened') return;
  const was = state === 'merged' ? 'was merged' : 'is closed';
  throw refused(`This merge request ${was}. To apply this suggestion, edit this file directly.`);
}

/** Where suggestions are in the head, by the files they are in. @throws 400 where lines overlap */
async function placedIn(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  record: MergeRequestRecord,
  notes: readonly { readonly note: NoteRecord; readonly index: number }[],
): Promise<Placed[]> {
  const { positions } = await mergeRequestWithNotes(deps, actor, access, record.iid);
  const latest = await positions!.latest(notes.map(({ note }) => note.position));
  const placed = notes.map(({ note, index }, i): Placed => {
    const position = latest[i]!;
    const suggestion = note.suggestions![index]!;
    const line = position.on.kind === 'text' ? (position.on.line.newLine ?? 1) : 1;
    const [start, end] = [line - suggestion.above, line + suggestion.below];
    return { note, index, position, suggestion, path: position.newPath, start, end };
  });
  for (const each of placed) requireApplicable(each, placed.length === 1);
  const overlap = placed.some((one, i) =>
    placed.slice(i + 1).some((two) => one.path === two.path && one.start <= two.end && two.start <= one.end),
  );
  if (overlap) throw refused('Suggestions are not applicable as their lines cannot overlap.');
  return placed;
}

const NOT_APPLICABLE = 'A suggestion is not applicable.';

/** @param single whether it is the only one: then its reason is told. @throws 400 */
function requireApplicable({ suggestion }: Placed, single: boolean): void {
  const reason =
    suggestion.applied === true
      ? "Can't apply this suggestion."
      : suggestion.from === suggestion.to
        ? 'This suggestion already matches its content.'
        : undefined;
  if (reason !== undefined) throw refused(single ? reason : NOT_APPLICABLE);
}

/** The changes of files that suggestions make. @throws 400 where the lines are not what they were */
async function editsOf(
  git: GitRepository,
  { diff }: MergeRequestRecord,
  placed: readonly Placed[],
): Promise<GuardedAction[]> {
  const paths = [...new Set(placed.map(({ path }) => path))];
  return Promise.all(
    paths.map(async (path) => {
      const inFile = placed.filter((each) => each.path === path).toSorted((a, b) => b.start - a.start);
      const [lines, last] = await Promise.all([
        linesOf(git, diff.headSha, path),
        bounded(() => git.lastCommitForPath(diff.headSha as Oid, path)),
      ]);
      if (lines === undefined) throw refused('A file was not found.');
      const after = [...lines];
      // The last lines first: those before them keep their numbers.
      for (const { suggestion, start, end } of inFile) {
        const from = lines.slice(start - 1, end).join('');
        if (start < 1 || from !== bytesOf(suggestion.from)) throw refused(outdated(placed, start === end));
        const to = bytesOf(suggestion.to);
        // A file that did not end with a line end still does not.
        const ends = end < lines.length || from.endsWith('\n');
        after.splice(start - 1, end - start + 1, ends ? to : to.replace(/\r?\n$/, ''));
      }
      const content = Buffer.from(after.join(''), 'latin1');
      return { edit: { action: 'update', path, content } as const, lastCommitId: last };
    }),
  );
}

const outdated = ({ length }: readonly Placed[], isOneLine: boolean): string =>
  length > 1
    ? NOT_APPLICABLE
    : `Can't apply as ${isOneLine ? 'this line was' : 'these lines were'} changed in a more recent version.`;

const authorOf = (user: UserRecord, now: Date) => {
  const { name, email } = identityOf(user, now);
  return { authorName: name.replaceAll(/[\n\0<>]/g, ''), authorEmail: email };
};

function messageOf(
  given: string | undefined,
  about: {
    readonly actor: UserRecord;
    readonly project: ProjectRecord;
    readonly record: MergeRequestRecord;
    readonly placed: readonly Placed[];
  },
): string {
  const { actor, project, record, placed } = about;
  const setting = project.settings['suggestion_commit_message'];
  const template =
    [given, setting].find((each) => typeof each === 'string' && each.trim() !== '') ?? TEMPLATE;
  const paths = [...new Set(placed.map(({ path }) => path))].toSorted();
  const values: Readonly<Record<string, string>> = {
    branch_name: record.source.branch,
    files_count: String(paths.length),
    file_paths: paths.join(', '),
    file_path: paths.join(', '),
    project_name: project.name,
    project_path: project.path,
    user_full_name: actor.name,
    username: actor.username,
    suggestions_count: String(placed.length),
  };
  const message = filled(cut(String(template), MAX_MESSAGE_BYTES), (name) =>
    Object.hasOwn(values, name) ? values[name] : undefined,
  );
  return message.trim() === '' ? filled(TEMPLATE, (name) => values[name]) : message;
}

/** Each note once, with its suggestions as they then are. */
function appliedNotes(placed: readonly Placed[]) {
  const notes = new Map(placed.map(({ note }) => [note.id, note]));
  return [...notes.values()].map((before) => {
    const indexes = placed.filter(({ note }) => note.id === before.id).map(({ index }) => index);
    const suggestions = before.suggestions!.map(
      (each, i): Suggestion => (indexes.includes(i) ? { ...each, applied: true } : each),
    );
    return { before, suggestions };
  });
}

/** @throws 400 where another has applied one of them meanwhile, or the file has changed */
async function commit(
  deps: Deps,
  actor: Actor,
  source: ProjectAccess,
  input: Parameters<typeof commitActions>[3],
): Promise<void> {
  try {
    await commitActions(deps, actor, source, input, { stale: () => 'A file has been changed.' });
  } catch (error) {
    const isLost = error instanceof TransactionRefused && error.has('suggestion');
    throw isLost ? refused("Can't apply this suggestion.") : error;
  }
}

/** Who may apply a suggestion has decided: its discussion is resolved, unless others keep writing in it. */
async function resolveOf(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  { iid }: MergeRequestRecord,
  applied: readonly { readonly before: NoteRecord }[],
): Promise<void> {
  const firstIds = new Set(applied.map(({ before }) => before.inDiscussion ?? before.id));
  for (const firstId of firstIds) {
    const on = await mergeRequestWithNotes(deps, actor, access, iid);
    try {
      const id = discussionIdOf(on.projectId, on.noteable, firstId);
      await resolveDiscussion(deps, actor, { ...on, resolves: true }, id, true);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
    }
  }
}
