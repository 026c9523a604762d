import { titleOf } from '../../git/commit-title.ts';
import type { FileDiff } from '../../git/diff/patch.ts';
import type { Oid } from '../../git/oid.ts';
import type { GitRepository } from '../../git/repository.ts';
import { decodePath } from '../../git/tree/path.ts';
import type { UserRecord } from '../../records/users.ts';
import { Missing } from '../../store/errors.ts';
import { MAX_NOTE_BYTES, type NotedLine, type NoteRecord } from '../../store/notes/notes.ts';
import { outboxWrite } from '../../store/outbox/outbox.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import { requireAbility, signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { notFound, refused } from '../errors.ts';
import { prepareActivity } from '../events/record.ts';
import { enqueueNotification } from '../notifications/enqueue.ts';
import { NOTES, requireRate } from '../rate-limits/action-limits.ts';
import { diffLimits } from '../repository/diff-limits.ts';
import { bounded, codeOf, resolved } from '../repository/read.ts';
import { pinCommit } from './pin.ts';

/** A comment with its author; undefined if the account was deleted. */
export interface CommitComment {
  readonly note: NoteRecord;
  readonly author: UserRecord | undefined;
}

/** The line of a comment: one that the commit added (`new`) or deleted (`old`), counted from 1. */
export interface LineRequest {
  readonly path: string;
  readonly line: number;
  readonly type: 'new' | 'old';
}

/** Comments on a commit, oldest first. @throws `404 Commit Not Found` */
export async function listCommitComments(
  deps: Deps,
  access: ProjectAccess,
  sha: string,
  request: PageRequest,
): Promise<Page<CommitComment>> {
  const { commit } = await resolved(codeOf(deps, access), sha);
  const page = await deps.store.notes.list(access.project.id, { kind: 'commit', id: commit }, request);
  const authors = await deps.store.users.getMany(page.items.map((note) => note.author.id));
  return { ...page, items: page.items.map((note, i) => ({ note, author: authors[i] })) };
}

/**
 * Comments on a commit. If the commit's diff does not add or delete the line, the comment is on the commit as a whole.
 * @throws 403; `404 Commit Not Found`; 400 for an invalid text; 429
 */
export async function commentOnCommit(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  sha: string,
  input: { readonly body: string; readonly line?: LineRequest | undefined },
): Promise<CommitComment> {
  requireAbility(actor, access, 'comment_on_code');
  const { user: author } = signedIn(actor);
  const git = codeOf(deps, access);
  const { commit } = await resolved(git, sha);
  requireText(input.body);
  await requireRate(deps, NOTES, author);
  const [id, line, { message }, toActivity] = await Promise.all([
    deps.store.notes.nextId(),
    input.line === undefined ? null : lineOf(deps, git, commit, input.line),
    git.commit(commit),
    prepareActivity(deps),
  ]);
  const at = deps.now().toISOString();
  const note: NoteRecord = {
    id,
    projectId: access.project.id,
    noteable: { kind: 'commit', id: commit },
    body: input.body,
    author: { id: author.id, username: author.username, name: author.name },
    line,
    createdAt: at,
    updatedAt: at,
  };
  const event = toActivity({
    authorId: author.id,
    projectId: access.project.id,
    action: 'commented',
    target: { type: line === null ? 'Note' : 'DiffNote', id, title: titleOf(message), commit },
  });
  const domainEvent = { kind: 'note', projectId: access.project.id, commit, noteId: id } as const;
  const notification = enqueueNotification(deps, actor, domainEvent);
  const joins = deps.store.threads.joinWrite(note, author.id);
  try {
    await pinCommit(deps, access.project, commit, (pinWrites) =>
      deps.store.notes.create(note, [...pinWrites, joins, event, outboxWrite(notification)]),
    );
    await deps.store.outbox.deliver([notification]);
  } catch (error) {
    throw error instanceof Missing ? notFound('Project') : error;
  }
  return { note, author };
}

/** @throws 400 with the API's text for an invalid note */
function requireText(body: string): void {
  const refuse = (problem: string) => refused(`Failed to save note {:note=>["${problem}"]}`);
  if (body.trim() === '') throw refuse("can't be blank");
  if (Buffer.byteLength(body) > MAX_NOTE_BYTES)
    throw refuse(`is too long (maximum is ${MAX_NOTE_BYTES} bytes)`);
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
function changedLine({ text }: FileDiff, { path, line, type }: LineRequest): NotedLine | undefined {
  let [oldLine, newLine] = [0, 0];
  for (const diffLine of text.toString('latin1').split('\n')) {
    const hunk = HUNK.exec(diffLine);
    if (hunk !== null) {
      // An empty side names the line before the hunk.
      oldLine = Number(hunk[1]) + (hunk[2] === '0' ? 1 : 0);
      newLine = Number(hunk[3]) + (hunk[4] === '0' ? 1 : 0);
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
