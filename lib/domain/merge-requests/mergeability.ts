/** What decides now whether a merge request can be merged: heads, the verdict on them, pipeline and approvals. */

import { CorruptData } from '../../git/corrupt-data.ts';
import type { Mergeability } from '../../git/merge/merging.ts';
import { ObjectMissing } from '../../git/objects.ts';
import type { Oid } from '../../git/oid.ts';
import { branchRef } from '../../git/refname.ts';
import { decodePath } from '../../git/tree/path.ts';
import {
  type ListedMergeRequest,
  MAX_CONFLICTS,
  type MergeRequestRecord,
  type MergeVerdict,
} from '../../records/merge-requests.ts';
import type { PipelineRecord } from '../../records/pipelines.ts';
import { checkMessage } from '../../store/merge-requests/merge-requests.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import { mergeRequestTodos } from '../../store/todos/todos.ts';
import type { ProjectAccess } from '../access/types.ts';
import { isApproved } from '../approvals/evaluate.ts';
import type { Deps } from '../deps.ts';
import { openRepository } from '../repository/open.ts';
import { codeOf } from '../repository/read.ts';
import { mergeSettingsOf } from './merge-settings.ts';
import { currentVerdict, isRebasing, type MergeSituation } from './merge-status.ts';

/** Milliseconds of work that a request does to find out; more is left to a worker. */
const INLINE_MS = 2_000;
/** Milliseconds after which a check that was asked for is asked for again. */
const CHECK_AGAIN_MS = 600_000;

/** Where branches are now. */
export interface Heads {
  readonly targetSha: Oid | undefined;
  readonly sourceSha: Oid | undefined;
}

/** The record, with the verdict that was found, and what else decides. */
export type Judged = MergeSituation & {
  readonly record: MergeRequestRecord;
  readonly heads: Heads;
  readonly headPipeline: PipelineRecord | undefined;
};

/** What a merge request is judged by, beside its record and commits. */
export interface Grounds {
  readonly heads: Heads;
  readonly pipeline: PipelineRecord | undefined;
  readonly approved: boolean;
}

export async function groundsOf(
  deps: Deps,
  access: ProjectAccess,
  record: MergeRequestRecord,
): Promise<Grounds> {
  const [heads, pipeline, approved] = await Promise.all([
    headsOf(deps, access, record),
    headPipeline(deps, record),
    isApproved(deps, access, record),
  ]);
  return { heads, pipeline, approved };
}

/**
 * Finds out whether a merge request can be merged: at once where little work is needed, else a worker is told to.
 * @param grounds if they were read after the record
 */
export async function situationOf(
  deps: Deps,
  access: ProjectAccess,
  read: MergeRequestRecord,
  grounds?: Grounds,
): Promise<Judged> {
  const { heads, pipeline, approved: before } = grounds ?? (await groundsOf(deps, access, read));
  const { record, checking } = await verdictOf(deps, access, read, heads);
  // Code owners are those that the verdict has found.
  const isKnown = record === read || (record.verdict?.owned ?? read.verdict?.owned) === undefined;
  const approved = isKnown ? before : await isApproved(deps, access, record);
  return {
    record,
    heads,
    rebasing: isRebasing(record, deps.now()),
    settings: mergeSettingsOf(access.project),
    targetSha: heads.targetSha,
    sourceExists: heads.sourceSha !== undefined,
    pipeline: pipeline?.status,
    headPipeline: pipeline,
    approved,
    checking,
  };
}

/** Where the branches of a merge request are now. That of a fork is found whoever may see the fork. */
export async function headsOf(
  deps: Deps,
  access: ProjectAccess,
  { source, targetBranch }: Pick<MergeRequestRecord, 'source' | 'targetBranch'>,
): Promise<Heads> {
  const [target, from] = [branchRef(targetBranch), branchRef(source.branch)];
  const names = [target, from].filter((name) => name !== undefined);
  const own = source.projectId === access.project.id;
  const [refs, foreign] = await Promise.all([
    openRepository(deps, access.project).refs.get(names),
    own ? undefined : deps.store.projects.get(source.projectId),
  ]);
  const sources =
    foreign === undefined || foreign.deletedAt !== null
      ? undefined
      : await openRepository(deps, foreign).refs.get(names);
  const found = own ? refs : sources;
  return {
    targetSha: target && refs.get(target)?.oid,
    sourceSha: from && found?.get(from)?.oid,
  };
}

/** Pipelines of a head in one project that are looked at: the newest. */
const MAX_PIPELINES = 10;

/** The newest pipeline of the head: one for the merge request itself, else of its own project, else of the target's. */
export async function headPipeline(
  { store }: Deps,
  { projectId, iid, source, diff }: Pick<MergeRequestRecord, 'projectId' | 'iid' | 'source' | 'diff'>,
): Promise<PipelineRecord | undefined> {
  const projects = [...new Set([source.projectId, projectId])];
  const looked = projects.map((id) => store.pipelines.ofCommit(id, diff.headSha, MAX_PIPELINES));
  const found = (await Promise.all(looked)).flat();
  const own = found.find(({ mergeRequest: of }) => of?.projectId === projectId && of.iid === iid);
  // Those of other merge requests, and those that jobs of others started, say nothing of it.
  return (
    own ??
    found.find(({ mergeRequest, source: by }) => mergeRequest === undefined && by !== 'parent_pipeline')
  );
}

/** The record with a verdict on its heads as far as there is one, and whether a worker is about to find it. */
export async function verdictOf(
  deps: Deps,
  access: ProjectAccess,
  record: MergeRequestRecord,
  { targetSha }: Pick<Heads, 'targetSha'>,
): Promise<{ readonly record: MergeRequestRecord; readonly checking: boolean }> {
  const known = record.state === 'merged' || targetSha === undefined;
  if (known || currentVerdict({ record, targetSha }) !== undefined) return { record, checking: false };
  const verdict = await checked(deps, access, record, targetSha, AbortSignal.timeout(INLINE_MS));
  if (verdict !== undefined) {
    // A worker makes the merge that can be fetched.
    const mayBeTried = record.state === 'opened' && verdict.mergeable;
    await keep(deps, record, verdict, mayBeTried ? [checkMessage(record)] : []);
    return { record: { ...record, verdict }, checking: false };
  }
  await askForCheck(deps, record, targetSha);
  return { record, checking: true };
}

/** Lets a worker check a merge request, once for the same heads. */
export async function askForCheck(deps: Deps, record: ListedMergeRequest, targetSha: Oid): Promise<void> {
  const now = deps.now();
  await deps.store.mergeRequests.requestCheck(
    record,
    { headSha: record.diff.headSha, targetSha, at: now.toISOString() },
    new Date(now.getTime() - CHECK_AGAIN_MS).toISOString(),
  );
}

/**
 * Finds out whether a merge request can be merged, however long it takes, and keeps the answer.
 * @param last there is no other try: what did not end in time is not merged
 */
export async function foundVerdict(
  deps: Deps,
  access: ProjectAccess,
  record: MergeRequestRecord,
  targetSha: Oid,
  { signal, last }: { readonly signal: AbortSignal; readonly last: boolean },
): Promise<MergeVerdict> {
  const verdict = await checked(deps, access, record, targetSha, signal);
  // A worker that others kept from its work says nothing of the merge: it is tried again.
  if (verdict === undefined && !last) throw new Error('whether it can be merged was not found out in time');
  // What takes longer than a worker has, however often it is tried, is not merged here.
  const found = verdict ?? refusal(record, targetSha);
  await keep(deps, record, found);
  return found;
}

/** Keeps a verdict, with what follows from it. Where conflicts are new in what is open, the author has to look at them. */
async function keep(
  { store }: Deps,
  record: MergeRequestRecord,
  verdict: MergeVerdict,
  following: readonly OutboxMessage[] = [],
): Promise<void> {
  const isConflicting =
    record.state === 'opened' &&
    verdict.conflicts.length > 0 &&
    (record.verdict?.conflicts ?? []).length === 0;
  const todos = isConflicting
    ? mergeRequestTodos(record, { authorId: record.author.id, unmergeable: true })
    : [];
  await store.mergeRequests.keepVerdict(record, verdict, [...todos, ...following]);
}

/** @returns undefined when the signal ended the work */
async function checked(
  deps: Deps,
  access: ProjectAccess,
  record: MergeRequestRecord,
  targetSha: Oid,
  signal: AbortSignal,
): Promise<MergeVerdict | undefined> {
  try {
    signal.throwIfAborted();
    const git = codeOf(deps, access);
    const merging = await git.merging();
    const head = record.diff.headSha as Oid;
    const found = await merging.check(targetSha, head, { signal });
    const { bases = [] } = 'bases' in found ? found : {};
    const merged =
      found.kind === 'mergeable' && !found.fastForward
        ? { oid: found.tree, objects: found.objects }
        : undefined;
    const merge = { target: targetSha, head, bases, merged };
    const { ownedFiles } = await import('../code-owners/owned-files.ts');
    const owned = await ownedFiles(deps, access.project, git, merge, record.verdict?.owned ?? [], signal);
    const refused = refusal(record, targetSha);
    return { ...refused, ...outcomeOf(found, refused), ...(owned.length === 0 ? {} : { owned }) };
  } catch (error) {
    if (signal.aborted) return undefined;
    // What is damaged cannot be merged.
    if (error instanceof ObjectMissing || error instanceof CorruptData) return refusal(record, targetSha);
    throw error;
  }
}

const refusal = ({ diff }: Pick<MergeRequestRecord, 'diff'>, targetSha: Oid): MergeVerdict => ({
  headSha: diff.headSha,
  targetSha,
  mergeable: false,
  fastForward: false,
  conflicts: [],
});

function outcomeOf(
  found: Mergeability,
  { headSha, targetSha }: Pick<MergeVerdict, 'headSha' | 'targetSha'>,
): Partial<MergeVerdict> {
  if (found.kind === 'mergeable')
    return { mergeable: found.bases.length > 0, fastForward: found.fastForward };
  if (found.kind !== 'conflict') return {};
  // A file that a link or folder of the other side stands in the way of has another name in the merge: that of its side.
  const side = new RegExp(`~(?:${headSha}|${targetSha})(?:_\\d+)?$`);
  const paths = new Set(found.conflicts.map(({ path }) => decodePath(path).replace(side, '')));
  return { conflicts: [...paths].slice(0, MAX_CONFLICTS) };
}
