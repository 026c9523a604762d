/** Evidence of releases: what a release was at a moment, as a document that nobody changes any more. */

import { createHash } from 'node:crypto';
import type { ProjectRecord } from '../../records/projects.ts';
import type { ReleaseEvidence, ReleaseRecord } from '../../records/releases.ts';
import { Missing, Stale } from '../../store/errors.ts';
import {
  MAINTENANCE,
  message,
  messageAt,
  type OutboxMessage,
  outboxWrite,
} from '../../store/outbox/outbox.ts';
import { COLLECT_EVIDENCE_JOB, MAX_EVIDENCES } from '../../store/releases/releases.ts';
import type { Write } from '../../store/table/write.ts';
import { can } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { notFound, unprocessable } from '../errors.ts';
import { countOfMilestones } from '../issues/counts.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';

/** What has an evidence collected. */
interface Promised {
  readonly writes: readonly Write[];
  /** To be written and delivered. */
  readonly messages: readonly OutboxMessage[];
}

export const NO_EVIDENCE: Promised = { writes: [], messages: [] };

/** What has the first evidence collected, when the release has come. None of what came before it was told of. */
export function firstEvidence(release: ReleaseRecord, now: Date): Promised {
  if (isHistorical(release)) return NO_EVIDENCE;
  const body = { ...addressOf(release), first: true };
  const at = new Date(release.releasedAt);
  return at > now
    ? { writes: [outboxWrite(messageAt(MAINTENANCE, COLLECT_EVIDENCE_JOB, body, at))], messages: [] }
    : { writes: [], messages: [message(MAINTENANCE, COLLECT_EVIDENCE_JOB, body)] };
}

const isHistorical = ({ releasedAt, createdAt }: ReleaseRecord): boolean => releasedAt < createdAt;

const addressOf = ({ projectId, tag, id: releaseId }: ReleaseRecord) => ({ projectId, tag, releaseId });

/** Has another evidence collected. @throws 422 where there are 20 already */
export async function askForEvidence({ store }: Deps, release: ReleaseRecord): Promise<void> {
  if ((release.evidences ?? []).length >= MAX_EVIDENCES)
    throw unprocessable(`there are ${MAX_EVIDENCES} evidences already`);
  const body = { ...addressOf(release), first: false };
  await store.outbox.commit([], [message(MAINTENANCE, COLLECT_EVIDENCE_JOB, body)]);
}

interface Collecting {
  readonly projectId: number;
  readonly tag: string;
  readonly releaseId: number;
  /** Whether it is only to be collected as the first one, when the release has come. */
  readonly first: boolean;
}

/** The work of the job. */
export async function collectEvidence(
  deps: Deps,
  { projectId, tag, releaseId, first }: Collecting,
  messageId: string,
): Promise<void> {
  const { store } = deps;
  const project = await store.projects.get(projectId);
  if (project === undefined || project.deletedAt !== null) return;
  const attempt = async () => {
    const release = await store.releases.get(projectId, tag);
    if (release?.id !== releaseId) return;
    const known = release.evidences ?? [];
    if (known.length >= MAX_EVIDENCES || known.some(({ collectedBy }) => collectedBy === messageId)) return;
    const now = deps.now();
    const isDue = !isHistorical(release) && release.releasedAt <= now.toISOString();
    if (first && (known.length > 0 || !isDue)) return;
    const [{ document, tellsOf }, id] = await Promise.all([
      documentOf(deps, project, release),
      store.releases.nextEvidenceId(),
    ]);
    const evidence: ReleaseEvidence = {
      id,
      sha: createHash('sha256').update(document).digest('hex'),
      collectedAt: now.toISOString(),
      collectedBy: messageId,
      ...(tellsOf === undefined ? {} : { tellsOf }),
    };
    await store.releases.addEvidence(release, evidence, document, now);
  };
  try {
    await retryOnConflict(attempt, (error) => error instanceof Stale);
  } catch (error) {
    // The project is gone by now.
    if (!(error instanceof Missing)) throw error;
  }
}

/** Confidential issues are not counted: whoever sees the release reads its evidence. */
async function documentOf(
  deps: Deps,
  project: ProjectRecord,
  release: ReleaseRecord,
): Promise<{ readonly document: string; readonly tellsOf: ReleaseEvidence['tellsOf'] }> {
  const hasIssues = project.settings['issues_access_level'] !== 'disabled';
  const found = await deps.store.milestones.getMany(release.milestoneIds);
  const milestones = found.filter((each) => each !== undefined);
  const ids = milestones.map(({ id }) => id);
  const counts = hasIssues ? await countOfMilestones(deps, project.id, 'plain', ids) : undefined;
  const content = {
    release: {
      id: release.id,
      tag_name: release.tag,
      name: release.name,
      description: release.description,
      created_at: release.createdAt,
      released_at: release.releasedAt,
      project: {
        id: project.id,
        name: project.name,
        description: project.description,
        created_at: project.createdAt,
      },
      milestones: milestones.map(({ id, iid, title, state, dueDate, createdAt }) => ({
        id,
        iid,
        title,
        state,
        due_date: dueDate,
        created_at: createdAt,
        issue_stats: counts?.get(id),
      })),
    },
  };
  const tellsOf = milestones.length === 0 ? undefined : hasIssues ? 'issues' : 'milestones';
  return { document: JSON.stringify(content), tellsOf };
}

/** The evidences of a release whose documents tell only of what the actor may see. The actor may read the code. */
export function visibleEvidences(
  actor: Actor,
  access: ProjectAccess,
  { evidences = [] }: ReleaseRecord,
): readonly ReleaseEvidence[] {
  const needed = { milestones: 'read_milestone', issues: 'read_issues' } as const;
  return evidences.filter(({ tellsOf }) => tellsOf === undefined || can(actor, access, needed[tellsOf]));
}

/** The document of an evidence. @throws `404 Not Found`, also for one that the actor may not see */
export async function evidenceDocument(
  { store }: Deps,
  actor: Actor,
  access: ProjectAccess,
  tag: string,
  id: number,
): Promise<string> {
  const release = await store.releases.get(access.project.id, tag);
  const evidence = release && visibleEvidences(actor, access, release).find((each) => each.id === id);
  const document = evidence && (await store.releases.document(release!, evidence));
  if (document === undefined) throw notFound();
  return document;
}
