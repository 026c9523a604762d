import type { Oid } from '../../git/oid.ts';
import type { GitRepository } from '../../git/repository.ts';
import { snapshotOf } from '../../records/authors.ts';
import { hasEnded, type PipelineRecord, type ReportedState } from '../../records/pipelines.ts';
import type { UserRecord } from '../../records/users.ts';
import { LimitReached, Missing, Stale } from '../../store/errors.ts';
import type { ListedStatus, StatusQuery } from '../../store/jobs/commit-statuses.ts';
import { outboxWrites } from '../../store/outbox/outbox.ts';
import type { CommitStatusRecord, StatusWrite } from '../../store/pipelines/reported-statuses.ts';
import type { PageRequest } from '../../store/table/paging.ts';
import { requireAbility, signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { pinCommit } from '../commits/pin.ts';
import { refsContaining } from '../commits/refs.ts';
import type { Deps } from '../deps.ts';
import { conflict, forbidden, invalid, notFound, refused, unprocessable } from '../errors.ts';
import { serializeByKey } from '../in-process-queue.ts';
import { moverOf } from '../notifications/enqueue.ts';
import { branchProtection } from '../refs/protection.ts';
import { codeOf, resolved } from '../repository/read.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { started } from '../started.ts';
import { followUps } from './follow-ups.ts';
import { countTransition, pipelineStatus } from './status.ts';

/** A status with its author, or who started the job; undefined if the account was deleted. */
export type CommitStatus = ListedStatus & { readonly author: UserRecord | undefined };

export interface StatusReport {
  readonly state: ReportedState;
  /** Identifies a status within one commit and ref. */
  readonly name: string;
  /** The built branch or tag. Default: that of the pipeline, else the first branch that contains the commit. */
  readonly ref?: string | undefined;
  readonly pipelineId?: number | undefined;
  /** Absent values are kept. */
  readonly targetUrl?: string | undefined;
  readonly description?: string | undefined;
  readonly coverage?: number | undefined;
}

const QUEUE_TIMEOUT_MS = 8000;
const MAX_TEXT = 255;

/** Returns the statuses of a commit, those of its jobs included, sorted by ID. @throws `404 Commit Not Found` */
export async function listCommitStatuses(
  deps: Deps,
  access: ProjectAccess,
  sha: string,
  query: StatusQuery,
  request: PageRequest,
): Promise<{ items: CommitStatus[]; total: number | undefined; more: boolean }> {
  const { commit } = await resolved(codeOf(deps, access), sha);
  const page = await deps.store.commitStatuses.page(access.project.id, commit, query, request);
  const ids = page.items.map((each) => (each.kind === 'job' ? each.job.userId : each.status.author.id));
  const authors = await deps.store.users.shown(ids);
  const items = page.items.map((each, i) => ({ ...each, author: authors[i] }));
  return { items, total: page.total, more: page.more };
}

/**
 * Records the status of an external build of a commit. A pending or running status of the same author is updated; a
 * finished one is replaced by a new status of the same name. The pipeline is created if there is none.
 *
 * @throws 403, also if a rule protects the branch; `404 Commit Not Found` and other 404 for its ref and pipeline; 400 by
 *   field, and for an invalid state transition; 409 if concurrent reports prevented every attempt; 422
 */
export async function reportStatus(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  sha: string,
  report: StatusReport,
): Promise<CommitStatus> {
  requireAbility(actor, access, 'report_statuses');
  const { user } = signedIn(actor);
  const git = codeOf(deps, access);
  const reading = started(branchProtection(deps, access, actor));
  const { commit } = await resolved(git, sha);
  let branch: string | undefined;
  const firstBranch = async () => (branch ??= await firstBranchOf(git, commit));
  const attempt = async (): Promise<CommitStatusRecord> => {
    const existing = await pipelineFor(deps, access, commit, report);
    const ref = report.ref ?? existing?.ref ?? (await firstBranch());
    // The status of a protected branch is set only by those who may change the branch.
    const protection = await reading;
    if (!protection.mayUpdate(actor, ref)) throw forbidden();
    requireValidReport(report, ref);
    const write = await statusWrite(deps, access, { commit, ref, report, user, previous: existing });
    const notifications = await followUps(deps, write, moverOf(deps, actor), access.project);
    await pinCommit(deps, access.project, commit, (pinWrites) =>
      deps.store.reportedStatuses.write({
        ...write,
        alongside: [...pinWrites, ...outboxWrites(notifications)],
      }),
    );
    await deps.store.outbox.deliver(notifications);
    return write.status;
  };
  const key = `statuses ${access.project.id} ${commit}`;
  const stale = (error: unknown) => error instanceof Stale;
  try {
    const status = await serializeByKey(key, QUEUE_TIMEOUT_MS, () =>
      retryOnConflict(attempt, stale, { attempts: 40 }),
    );
    return { kind: 'reported', status, author: user };
  } catch (error) {
    throw refusal(error);
  }
}

async function pipelineFor(
  { store }: Deps,
  { project }: ProjectAccess,
  commit: Oid,
  { ref, pipelineId }: StatusReport,
): Promise<PipelineRecord | undefined> {
  if (pipelineId !== undefined) {
    const found = await store.pipelines.get(project.id, commit, pipelineId);
    if (found === undefined || (ref ?? found.ref) !== found.ref)
      throw notFound('Pipeline for pipeline_id, sha and ref');
    return found;
  }
  return ref === undefined
    ? store.pipelines.newest(project.id, commit)
    : store.pipelines.ofRef(project.id, commit, ref);
}

async function firstBranchOf(git: GitRepository, commit: Oid): Promise<string> {
  const [first] = await refsContaining(git, commit, 'branch');
  if (first === undefined) throw notFound('References for commit');
  return first.name;
}

/** @throws 400 by field */
function requireValidReport({ name, targetUrl, description }: StatusReport, ref: string): void {
  const problems: Record<string, string[]> = {};
  const tooLong = `is too long (maximum is ${MAX_TEXT} characters)`;
  const texts = { name, ref, target_url: targetUrl, description };
  for (const [field, text] of Object.entries(texts))
    if (text !== undefined && [...text].length > MAX_TEXT) problems[field] = [tooLong];
  for (const [field, text] of Object.entries({ name, ref }))
    if (text.trim() === '') problems[field] = ["can't be blank"];
  if (targetUrl !== undefined && !/^https?:$/.test(URL.parse(targetUrl)?.protocol ?? ''))
    problems['target_url'] = ['is blocked: Only allowed schemes are http, https'];
  if (Object.keys(problems).length > 0) throw invalid(problems);
}

interface Reported {
  readonly commit: Oid;
  readonly ref: string;
  readonly report: StatusReport;
  readonly user: UserRecord;
  readonly previous: PipelineRecord | undefined;
}

/** The new state of the status and its pipeline. @throws 400 for an invalid state transition */
async function statusWrite(
  { store, now }: Deps,
  { project }: ProjectAccess,
  { commit, ref, report, user, previous }: Reported,
): Promise<StatusWrite> {
  const at = now().toISOString();
  const { state, name } = report;
  const author = snapshotOf(user);
  const current = previous && (await store.reportedStatuses.current(previous, name));
  const open = current !== undefined && isOpen(current.state) && current.author.id === user.id;
  if (open) requireTransition(current.state, state);
  const origin = previous ?? { ...(await store.pipelines.nextPipeline(project.id)), author, createdAt: at };
  const before = open ? current : undefined;
  const status: CommitStatusRecord = {
    id: before?.id ?? (await store.reportedStatuses.nextId()),
    projectId: project.id,
    pipelineId: origin.id,
    sha: commit,
    ref,
    stage: 'external',
    name,
    state,
    targetUrl: report.targetUrl ?? before?.targetUrl ?? null,
    description: report.description ?? before?.description ?? null,
    coverage: report.coverage ?? before?.coverage ?? null,
    author,
    createdAt: before?.createdAt ?? at,
    startedAt: before?.startedAt ?? (state === 'running' ? at : null),
    finishedAt: isOpen(state) ? null : at,
  };
  const states = countTransition(previous?.states ?? {}, current?.state, state);
  const whole = pipelineStatus(states, previous?.jobStatus);
  const outcome = whole === 'success' || whole === 'failed' ? whole : previous?.outcome;
  const pipeline: PipelineRecord = {
    ...previous,
    id: origin.id,
    iid: origin.iid,
    projectId: project.id,
    sha: commit,
    ref,
    source: previous?.source ?? 'external',
    status: whole,
    states,
    statuses: (previous?.statuses ?? 0) + (before === undefined ? 1 : 0),
    ...(outcome === undefined ? {} : { outcome }),
    author: origin.author,
    createdAt: origin.createdAt,
    updatedAt: at,
    startedAt: previous?.startedAt ?? (whole === 'running' || hasEnded(whole) ? at : null),
    finishedAt: hasEnded(whole) ? at : null,
    version: (previous?.version ?? 0) + 1,
  };
  return { pipeline, previous, status, current };
}

const isOpen = (state: ReportedState): boolean => state === 'pending' || state === 'running';

/** Checks the transition of a pending or running status; a finished one is replaced instead. */
function requireTransition(from: ReportedState, to: ReportedState): void {
  const event = to === 'pending' ? 'enqueue' : to === 'running' && from === 'running' ? 'run' : undefined;
  if (event === undefined) return;
  throw refused(
    `Cannot transition status via :${event} from :${from} (Reason(s): Status cannot transition via "${event}")`,
  );
}

function refusal(error: unknown): unknown {
  if (error instanceof Missing) return notFound('Project');
  if (error instanceof LimitReached) return unprocessable('The number of jobs has exceeded the limit');
  return error instanceof Stale ? conflict('Another update to this commit status is in progress') : error;
}
