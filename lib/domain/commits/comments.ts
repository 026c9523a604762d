import { titleOf } from '../../git/commit-title.ts';
import type { FileDiff } from '../../git/diff/patch.ts';
import type { Oid } from '../../git/oid.ts';
import type { GitRepository } from '../../git/repository.ts';
import { decodePath } from '../../git/tree/path.ts';
import type { NotedLine } from '../../records/notes.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import { can, requireAbility } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { forbidden, refused } from '../errors.ts';
import { readableMentions } from '../issues/mentions.ts';
import { type Acted, acting } from '../notes/acting.ts';
import { type LoadedNote, loaded } from '../notes/loaded.ts';
import type { NotedObject } from '../notes/noteable.ts';
import { addNote, requireNoteRate, requireNoteText } from '../notes/notes.ts';
import { diffLimits } from '../repository/diff-limits.ts';
import { bounded, codeOf, resolved } from '../repository/read.ts';
import { pinCommit } from './pin.ts';

/** The line of a comment: one that the commit added (`new`) or deleted (`old`), counted from 1. */
export interface LineRequest {
  readonly path: string;
  readonly line: number;
  readonly type: 'new' | 'old';
}

/** Comments on a commit, oldest first, with what the service noted of it as far as the actor may read that. @throws `404 Commit Not Found` */
export async function listCommitComments(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  sha: string,
  request: PageRequest,
): Promise<Page<LoadedNote>> {
  const { commit } = await resolved(codeOf(deps, access), sha);
  const page = await deps.store.notes.list(access.project.id, { kind: 'commit', id: commit }, request);
  const readable = await readableMentions(deps, actor, page.items);
  return {
    ...page,
    items: await loaded(
      deps,
      page.items.filter((_, i) => readable[i]),
    ),
  };
}

/**
 * Comments on a commit, and runs the quick actions of the text. If the commit's diff does not add or delete the line, the comment is on the commit as a whole.
 * @throws 403; `404 Commit Not Found`; 400 for an invalid text; 429
 */
export async function commentOnCommit(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  sha: string,
  input: { readonly body: string; readonly line?: LineRequest | undefined },
  withActions: (on: NotedObject) => NotedObject,
): Promise<Acted<LoadedNote>> {
  requireAbility(actor, access, 'comment_on_code');
  const git = codeOf(deps, access);
  const { commit } = await resolved(git, sha);
  requireNoteText(input.body, (problem) => refused(`Failed to save note ${problem}`));
  await requireNoteRate(deps, actor);
  const [line, { message }] = await Promise.all([
    input.line === undefined ? null : lineOf(deps, git, commit, input.line),
    git.commit(commit),
  ]);
  const on = withActions(notedCommit(deps, actor, access, { commit, message }));
  return acting(on, input.body, (noted, body) => addNote(deps, actor, noted, { body, line }));
}

/** A commit with its discussions. @throws `404 Commit Not Found` */
export async function commitWithNotes(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  sha: string,
): Promise<NotedObject> {
  const git = codeOf(deps, access);
  const { commit } = await resolved(git, sha);
  return notedCommit(deps, actor, access, { commit, message: (await git.commit(commit)).message });
}

function notedCommit(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  { commit, message }: { readonly commit: Oid; readonly message: string },
): NotedObject {
  const projectId = access.project.id;
  return {
    access,
    projectId,
    noteable: { kind: 'commit', id: commit },
    classes: ['comment', 'system'],
    takesReplies: false,
    readable: (notes) => readableMentions(deps, actor, notes),
    requireComment: (internal) => {
      requireAbility(actor, access, 'comment_on_code');
      if (internal) throw forbidden();
    },
    moderates: can(actor, access, 'moderate_notes'),
    backdates: can(actor, access, 'backdate_notes'),
    within: ({ notes }, write) => (notes === 1 ? pinCommit(deps, access.project, commit, write) : write([])),
    eventTarget: ({ id, line, discussed }) => ({
      type: line !== null ? 'DiffNote' : discussed === true ? 'DiscussionNote' : 'Note',
      id,
      title: titleOf(message),
      commit,
    }),
    notification: ({ id }) => ({ kind: 'note', projectId, commit, noteId: id }),
  };
}

/** Finds the line in the commit's diff, with the limits of displayed diffs. */
async function lineOf(
  deps: Deps,
  git: GitRepository,
  commit: Oid,
  requested: LineRequest,
): Promise<NotedLine | null> {
  const limits = await diffLimits(deps);
  const { files } = await bounded(() => git.commitDiff(commit, { ...limits, context: 0 }));
  const file = files.find(({ newPath }) => decodePath(newPath) === requested.path);
  return (file && changedLine(file, requested)) ?? null;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** Counts lines as unified diffs do (GNU diffutils, "Detailed Description of Unified Format"). */
function changedLine({ text, status }: FileDiff, { path, line, type }: LineRequest): NotedLine | undefined {
  let [oldLine, newLine] = [0, 0];
  for (const diffLine of text.toString('latin1').split('\n')) {
    const hunk = HUNK.exec(diffLine);
    if (hunk !== null) {
      // An empty side names the line before the hunk, of a file that is not there no line.
      oldLine = Number(hunk[1]) + (hunk[2] === '0' && status !== 'A' ? 1 : 0);
      newLine = Number(hunk[3]) + (hunk[4] === '0' && status !== 'D' ? 1 : 0);
    } else if (diffLine[0] === '-') {
      if (type === 'old' && oldLine === line) return { path, type, oldLine, newLine };
      oldLine++;
    } else if (diffLine[0] === '+') {
      if (type === 'new' && newLine === line) return { path, type, oldLine, newLine };
      newLine++;
    }
  }
  return undefined;
}
