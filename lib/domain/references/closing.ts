/** Closes issues that texts say they close. */
import { inTurns } from '../../git/work.ts';
import type { MentionSource } from '../../records/notes.ts';
import { TransactionRefused } from '../../store/errors.ts';
import { placeOf } from '../../store/notes/mentions.ts';
import { can } from '../access/permissions.ts';
import { isOwn } from '../access/visible-issues.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../errors.ts';
import { changeIssue } from '../issues/change.ts';
import { stateAfter } from '../issues/issues.ts';
import type { FoundIssue } from '../issues/related.ts';
import { closesIssues } from '../markdown/closing.ts';
import type { NumberedReference } from '../markdown/references.ts';
import type { WrittenInProject } from './mentioning.ts';
import type { Reading } from './reading.ts';
import { referredIssues } from './resolve.ts';
import { nameOf, placeAt } from './source-name.ts';

/** Issues that are closed together: the first that are named so. */
const MAX_CLOSED = 100;

/**
 * Returns the issues that texts close once they reach the default branch of its project, as far as its writer sees
 * them and their projects allow it. A fork closes no issues of the project it was made from.
 */
export async function issuesClosedBy(
  deps: Deps,
  texts: string | readonly string[],
  reading: Reading & Pick<WrittenInProject, 'project'>,
): Promise<FoundIssue[]> {
  const named: NumberedReference[] = [];
  for (const text of [texts].flat()) named.push(...(await inTurns(closesIssues(text, reading.baseUrl))));
  const references = [...new Map(named.map((each) => [each.source, each])).values()].slice(0, MAX_CLOSED);
  if (references.length === 0) return [];
  const { forkedFromId } = reading.project.project;
  return (await referredIssues(deps, references, reading)).filter(
    ({ access: { project } }) =>
      project.id !== forkedFromId && project.settings['autoclose_referenced_issues'] !== false,
  );
}

/** Closes an issue as the pusher or merger, if they may, once for each commit and merge request: one that is opened again stays so. */
export async function closeIssue(
  deps: Deps,
  { issue, access }: FoundIssue,
  { reading, source }: { readonly reading: WrittenInProject; readonly source: MentionSource },
): Promise<void> {
  const { actor, project } = reading;
  const isAllowed =
    can(actor, access, 'update_issue') || (isOwn(actor, issue) && can(actor, access, 'create_issue'));
  if (issue.state === 'closed' || !isAllowed) return;
  const at = deps.now();
  const text = `closed via ${nameOf(source, placeAt(project), placeAt(access))}`;
  try {
    await changeIssue(
      deps,
      actor,
      access,
      issue.iid,
      (before) => {
        if (before.state === 'closed') throw new AlreadyClosed();
        return { ...stateAfter(before, 'close', actor.user.id, at), updatedAt: at.toISOString() };
      },
      {
        notes: [{ action: 'closed', text, mentionedIn: source }],
        alongside: [deps.store.mentionNotes.once(placeOf('issue', issue), 'closed', source)],
      },
    );
  } catch (error) {
    const isDone =
      error instanceof AlreadyClosed || (error instanceof TransactionRefused && error.has('mention'));
    const isGone = error instanceof DomainError && error.code === 'not-found';
    if (!isDone && !isGone) throw error;
  }
}

class AlreadyClosed extends Error {
  override readonly name = 'AlreadyClosed';
}
