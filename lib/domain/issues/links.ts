/** Relations between issues, as their readers may know of them: one with an issue that they may not see is not there. */

import type { IssueLinkRecord, IssueLinkType, IssueReference } from '../../records/issues.ts';
import { AlreadyExists, LimitReached, Missing, TransactionRefused } from '../../store/errors.ts';
import { mirrored } from '../../store/issues/links.ts';
import type { Write } from '../../store/table/write.ts';
import { locateProject } from '../access/locate.ts';
import { can } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import { maySeeIssue } from '../access/visible-issues.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { conflict, DomainError, forbidden, invalid, notFound, recordNotFound } from '../errors.ts';
import { getIssue } from './issues.ts';
import type { FoundIssue } from './related.ts';
import { systemNotes } from './system-notes.ts';

/** A relation of one issue, and the other issue. */
export interface FoundLink {
  readonly link: IssueLinkRecord;
  readonly source: FoundIssue;
  readonly target: FoundIssue;
}

/** Returns the relations of an issue with those that the actor may see, oldest first. @throws `404 Not found` */
export async function listLinks(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
): Promise<FoundLink[]> {
  const source = await getIssue(deps, actor, access, iid);
  return targetsOf(deps, actor, source, await deps.store.issueLinks.of(referenceTo(source)));
}

/** @throws `404 Not found`, for the issue and for the relation */
export async function getLink(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  linkId: number,
): Promise<FoundLink> {
  const source = await getIssue(deps, actor, access, iid);
  const links = await deps.store.issueLinks.of(referenceTo(source));
  const [found] = await targetsOf(
    deps,
    actor,
    source,
    links.filter(({ id }) => id === linkId),
  );
  if (found === undefined) throw recordNotFound();
  return found;
}

interface NewLink {
  /** ID or full path. */
  readonly targetProject: string;
  readonly targetIid: number;
  readonly type: IssueLinkType;
}

/**
 * Relates two issues of whatever projects, and notes it on both.
 * @throws 404 for an issue or a project that the actor may not see, or a target that they may not change; 403; 409 when the
 * issues are related already; 400 for an issue and itself, and for too many
 */
export async function addLink(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  { targetProject, targetIid, type }: NewLink,
): Promise<FoundLink> {
  const source = await getIssue(deps, actor, access, iid);
  if (!can(actor, access, 'update_issue')) throw forbidden();
  const { id: projectId } = await locateProject(deps, targetProject);
  const [there] = await projectAccesses(deps, actor, [projectId]);
  if (there === undefined) throw notFound('Project');
  const target = await getIssue(deps, actor, there, targetIid);
  return relate(deps, actor, source, target, type);
}

/** Relates two issues that the actor may see, the first of which they may change. @throws as {@link addLink} */
export async function relate(
  deps: Deps,
  actor: Actor,
  source: FoundIssue,
  target: FoundIssue,
  type: IssueLinkType,
  told = RELATED,
): Promise<FoundLink> {
  if (source.issue.id === target.issue.id) throw invalid({ source: ['cannot be related to itself'] });
  if (!can(actor, target.access, 'update_issue'))
    throw new DomainError(
      'not-found',
      'No matching issue found. Make sure that you are adding a valid issue URL.',
    );
  const link: IssueLinkRecord = {
    id: await deps.store.issueLinks.nextId(),
    type,
    issue: referenceTo(source),
    other: referenceTo(target),
    createdAt: deps.now().toISOString(),
  };
  const found = { link, source, target };
  try {
    await deps.store.issueLinks.create(link, await noted(deps, actor, found, told));
  } catch (error) {
    if (error instanceof AlreadyExists) {
      // A duplicate is told of, whether it was related before or not.
      if (told === DUPLICATE) await tell(deps, await noted(deps, actor, found, told));
      throw conflict('Issue(s) already assigned');
    }
    if (error instanceof LimitReached)
      throw invalid({ base: [`An issue has at most ${error.limit} relations`] });
    throw error instanceof Missing ? recordNotFound() : error;
  }
  return found;
}

/** @throws 404 where one of the issues is there no more */
async function tell({ store }: Deps, notes: Write[]): Promise<void> {
  try {
    await store.outbox.commit(notes, []);
  } catch (error) {
    throw error instanceof TransactionRefused ? recordNotFound() : error;
  }
}

/** Ends a relation, and notes it on both issues. @throws `404 Not found`, 403 */
export async function removeLink(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  linkId: number,
): Promise<FoundLink> {
  const found = await getLink(deps, actor, access, iid, linkId);
  for (const { access: at } of [found.source, found.target])
    if (!can(actor, at, 'update_issue')) throw forbidden();
  try {
    await deps.store.issueLinks.remove(found.link, await noted(deps, actor, found, UNRELATED));
  } catch (error) {
    throw error instanceof Missing ? recordNotFound() : error;
  }
  return found;
}

/** The other issues of some relations; those that the actor may not see are left out. */
async function targetsOf(
  deps: Deps,
  actor: Actor,
  source: FoundIssue,
  links: readonly IssueLinkRecord[],
): Promise<FoundLink[]> {
  if (links.length === 0) return [];
  const projectIds = [...new Set(links.map(({ other }) => other.projectId))];
  const [issues, projects] = await Promise.all([
    deps.store.issues.getMany(links.map(({ other }) => other)),
    projectAccesses(deps, actor, projectIds),
  ]);
  const accesses = new Map(projectIds.map((id, i) => [id, projects[i]]));
  return links.flatMap((link, i) => {
    const issue = issues[i];
    const access = accesses.get(link.other.projectId);
    // Another issue may have the number of one that is deleted.
    if (issue?.id !== link.other.id || access === undefined || !maySeeIssue(actor, access, issue)) return [];
    return [{ link, source, target: { issue, access } }];
  });
}

/** What system notes tell of a relation: on the one issue about the other, and the other way round. */
export interface ToldRelation {
  readonly action: string;
  readonly text: (type: IssueLinkType, other: string, isTarget: boolean) => string;
}

const TEXTS: Readonly<Record<IssueLinkType, string>> = {
  relates_to: 'marked this issue as related to',
  blocks: 'marked this issue as blocking',
  is_blocked_by: 'marked this issue as blocked by',
};
export const RELATED: ToldRelation = { action: 'relate', text: (type, other) => `${TEXTS[type]} ${other}` };
const UNRELATED: ToldRelation = {
  action: 'unrelate',
  text: (_, other) => `removed the relation with ${other}`,
};
/** The first issue is a duplicate of the other. */
export const DUPLICATE: ToldRelation = {
  action: 'duplicate',
  text: (_, other, isTarget) =>
    isTarget
      ? `marked ${other} as a duplicate of this issue`
      : `marked this issue as a duplicate of ${other}`,
};

/** System notes on both issues; each names the other, and is for those who may see that. */
async function noted(
  deps: Deps,
  actor: Actor,
  { link, source, target }: FoundLink,
  { action, text }: ToldRelation,
): Promise<Write[]> {
  const on = (at: FoundIssue, named: FoundIssue, { type }: IssueLinkRecord) => {
    const { projectId, iid } = named.issue;
    const path = projectId === at.issue.projectId ? '' : named.access.project.fullPath;
    return systemNotes(deps, actor, at.access.project, at.issue, at.issue, [
      {
        action,
        text: text(type, `${path}#${iid}`, at === target),
        mentionedIn: { kind: 'issue', projectId, iid },
      },
    ]);
  };
  const writes = await Promise.all([on(source, target, link), on(target, source, mirrored(link))]);
  return writes.flat();
}

const referenceTo = ({ issue: { id, iid, projectId } }: FoundIssue): IssueReference => ({
  id,
  iid,
  projectId,
});
