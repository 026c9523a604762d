/**
 * The one way in which merge requests are created and changed: the change and what follows from it are one transaction,
 * of at most 100 items (DynamoDB, `TransactWriteItems`).
 */

import type { MergeRequestFields, MergeRequestRecord, VersionCommits } from '../../records/merge-requests.ts';
import type { SystemNote } from '../../records/notes.ts';
import { AlreadyExists, Missing, TransactionRefused } from '../../store/errors.ts';
import { checkMessage, RESOLVE_OUTDATED_JOB } from '../../store/merge-requests/merge-requests.ts';
import { mentionsMessage, mergedMessage } from '../../store/notes/mentions.ts';
import { MAINTENANCE, message, type OutboxMessage } from '../../store/outbox/outbox.ts';
import { CREATE_FOR_MERGE_REQUEST_JOB } from '../../store/pipelines/pipelines.ts';
import type { Write } from '../../store/table/write.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { conflict, DomainError, notFound } from '../errors.ts';
import { mayNameAny, mayNameIssues } from '../markdown/references.ts';
import { moverOf } from '../notifications/enqueue.ts';
import { retryWhileStale } from '../retry-while-stale.ts';
import { edited } from '../tracked/edited.ts';
import { surroundingsOf } from '../tracked/related.ts';
import { getMergeRequest } from './find.ts';
import { systemNotes } from './system-notes.ts';
import { toDo, toldByMail, toldInFeeds, toldToHooks } from './told.ts';

export interface MergeRequestChange {
  readonly actor: Actor;
  /** The project of the target branch. */
  readonly access: ProjectAccess;
  /** Undefined: it is new. */
  readonly before: MergeRequestRecord | undefined;
  readonly after: MergeRequestRecord;
  /** The new text of its description; undefined where that stays as it is. */
  readonly description: string | null | undefined;
  /** System notes that do not follow from the fields. */
  readonly notes?: readonly SystemNote[];
}

/** What a change brings with it in the same transaction. */
export interface Consequences {
  readonly writes?: readonly Write[];
  readonly messages?: readonly OutboxMessage[];
}

/** What follows from changes of merge requests, whoever makes them and however. */
const CONSEQUENCES: readonly ((deps: Deps, change: MergeRequestChange) => Promise<Consequences>)[] = [
  toldInNotes,
  toldInFeeds,
  toldByMail,
  toldToHooks,
  toDo,
  toldWhereNamed,
  closesIssuesThen,
  toBeChecked,
  toBeBuilt,
  resolvesOutdated,
];

/** Commits the writes of a change, with others: where refs move too. */
export type Within = (writes: readonly Write[]) => Promise<void>;

/**
 * Creates a merge request.
 * @throws `404 Project Not Found` when the project is deleted meanwhile; 409 where the source branch has an open one
 */
export async function addMergeRequest(
  deps: Deps,
  created: Omit<MergeRequestChange, 'before'>,
  within: Within,
): Promise<void> {
  const { access, after } = created;
  const [around, following] = await Promise.all([
    surroundingsOf(deps, access.project, after),
    consequencesOf(deps, { ...created, before: undefined }),
  ]);
  try {
    await deps.store.mergeRequests.create(after, around, { ...following, within });
  } catch (error) {
    if (error instanceof AlreadyExists) throw conflict('Duplicated merge request');
    if (error instanceof Missing) throw notFound('Project');
    throw takenBranch(error) ?? error;
  }
}

/** A change of the merge request as it is by then; it may throw to refuse. */
export type ChangeOf = (before: MergeRequestRecord) => Partial<MergeRequestFields>;

/** What a change has beside the fields. */
export interface ChangeOptions {
  /** The new text of the description, which the fields name as it is stored. */
  readonly description?: string | null | undefined;
  /** System notes that do not follow from the fields. */
  readonly notes?: readonly SystemNote[];
  /** Further writes of the same transaction. */
  readonly alongside?: readonly Write[];
  readonly messages?: readonly OutboxMessage[];
  /** What the change adds to counts of the record. */
  readonly add?: Readonly<Record<string, number>>;
  /** Commits the writes of the change, as it is by then. */
  readonly within?: (writes: readonly Write[], before: MergeRequestRecord) => Promise<void>;
}

/**
 * Applies a change to the merge request as it is, again when another writer was first.
 * @throws `404 Not found`, also for one that the actor may not see; 409 when others keep changing it, or where the source
 *   branch has another open one to the same target
 */
export async function changeMergeRequest(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  change: ChangeOf,
  options: ChangeOptions = {},
): Promise<MergeRequestRecord> {
  const { description, notes = [], alongside = [], messages = [], add, within } = options;
  try {
    return await retryWhileStale(async () => {
      const { mergeRequest: before } = await getMergeRequest(deps, actor, access, iid);
      const changes = edited(actor, before, change(before));
      const after = { ...before, ...changes };
      const [around, following] = await Promise.all([
        surroundingsOf(deps, access.project, after),
        consequencesOf(deps, { actor, access, before, after, description, notes }),
      ]);
      return deps.store.mergeRequests.update(before, changes, around, {
        alongside: [...following.alongside, ...alongside],
        messages: [...following.messages, ...messages],
        ...(add === undefined ? {} : { add }),
        ...(within === undefined ? {} : { within: (writes) => within(writes, before) }),
      });
    });
  } catch (error) {
    throw takenBranch(error) ?? error;
  }
}

/** The source branch already has an open merge request to the target branch. */
function takenBranch(error: unknown): DomainError | undefined {
  if (!(error instanceof TransactionRefused)) return undefined;
  const iid = error.get('claim')?.item?.['iid'];
  if (iid === undefined) return undefined;
  return new DomainError('conflict', [
    `Another open merge request already exists for this source branch: !${iid}`,
  ]);
}

async function consequencesOf(deps: Deps, change: MergeRequestChange) {
  const all = await Promise.all(CONSEQUENCES.map((follow) => follow(deps, change)));
  return {
    alongside: all.flatMap(({ writes = [] }) => writes),
    messages: all.flatMap(({ messages = [] }) => messages),
  };
}

/**
 * New texts may name issues and other merge requests, and close other issues than before, as another target branch may, and
 * commits that are to be merged into the default branch: a worker tells there.
 */
async function toldWhereNamed(
  deps: Deps,
  { actor, access, before, after, description }: MergeRequestChange,
): Promise<Consequences> {
  const { projectId, iid, title, targetBranch, diff } = after;
  const isToDefault = targetBranch === access.project.defaultBranch;
  const isNewVersion = isToDefault && diff.id !== before?.diff.id;
  const isReworded =
    description !== undefined || title !== before?.title || targetBranch !== before.targetBranch;
  const mayTell = isReworded && (before?.closes !== undefined || mayName(after, mayNameAny));
  if (!isNewVersion && !mayTell) return {};
  return { messages: [mentionsMessage({ kind: 'merge-request', projectId, iid }, moverOf(deps, actor))] };
}

/** Merged into the default branch it closes the issues that it says it closes: a worker does. */
async function closesIssuesThen(
  deps: Deps,
  { actor, access, before, after }: MergeRequestChange,
): Promise<Consequences> {
  const { projectId, iid, state, targetBranch, squashCommitSha } = after;
  const merged = state === 'merged' && before?.state !== 'merged';
  // Commits that are merged as they are tell it themselves.
  const mayClose = mayName(after, mayNameIssues) || squashCommitSha !== null;
  if (!merged || targetBranch !== access.project.defaultBranch || !mayClose) return {};
  return { messages: [mergedMessage({ projectId, iid }, moverOf(deps, actor))] };
}

/** Whether its texts may name something. A long description is not read for that. */
function mayName({ title, description }: MergeRequestRecord, may: (text: string | null) => boolean): boolean {
  const isLong = description !== null && typeof description !== 'string';
  return isLong || may(title) || may(description);
}

async function toldInNotes(
  deps: Deps,
  { actor, before, after, notes }: MergeRequestChange,
): Promise<Consequences> {
  return { writes: await systemNotes(deps, actor, before, after, notes) };
}

/** Whether a new version, or one that is opened again, can be merged is known before anybody asks. */
async function toBeChecked(_deps: Deps, { before, after }: MergeRequestChange): Promise<Consequences> {
  const isNew = before?.state !== 'opened' || before.diff.id !== after.diff.id;
  return after.state === 'opened' && isNew ? { messages: [checkMessage(after)] } : {};
}

/**
 * What it proposes gets a pipeline of its own, where the configuration wants one; when it is merged or closed, what its
 * pipelines deployed is stopped: a worker finds out.
 */
async function toBeBuilt(
  deps: Deps,
  { actor, access, before, after }: MergeRequestChange,
): Promise<Consequences> {
  const isNew = after.state === 'opened' && before?.diff.headSha !== after.diff.headSha;
  const isOver = after.state !== 'opened' && before?.state === 'opened';
  const { projectId, iid, source } = after;
  const isOff =
    access.project.settings['builds_access_level'] === 'disabled' && source.projectId === projectId;
  if ((!isNew && !isOver) || isOff) return {};
  const body = { projectId, iid, ...moverOf(deps, actor) };
  return { messages: [message(MAINTENANCE, CREATE_FOR_MERGE_REQUEST_JOB, body)] };
}

/** Discussions whose places a new version does not have are resolved, where the project wants that: a worker does. */
async function resolvesOutdated(
  deps: Deps,
  { actor, access, before, after }: MergeRequestChange,
): Promise<Consequences> {
  const isNew = before !== undefined && after.state === 'opened' && before.diff.id !== after.diff.id;
  const isWanted = access.project.settings['resolve_outdated_diff_discussions'] === true;
  if (!isNew || !isWanted || before.unresolvedCount === 0) return {};
  const { projectId, iid, diff } = after;
  const step = { before: commitsOf(before.diff), after: commitsOf(diff), number: diff.number };
  const body = { projectId, iid, ...step, ...moverOf(deps, actor) };
  return { messages: [message(MAINTENANCE, RESOLVE_OUTDATED_JOB, body)] };
}

const commitsOf = ({ headSha, baseSha, startSha }: VersionCommits): VersionCommits => ({
  headSha,
  baseSha,
  startSha,
});
