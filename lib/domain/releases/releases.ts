/** Releases: tags with notes and files, and the milestones that went into them. */

import { tagRef } from '../../git/refname.ts';
import type { CommitRecord, GitRepository } from '../../git/repository.ts';
import { byId } from '../../records/by-id.ts';
import type { MilestoneRecord } from '../../records/milestones.ts';
import type { ReleaseLink, ReleaseRecord } from '../../records/releases.ts';
import { Missing, Stale, TransactionRefused } from '../../store/errors.ts';
import { outboxWrites } from '../../store/outbox/outbox.ts';
import {
  MAX_RELEASES,
  RELEASE_OF_NOTHING,
  RELEASE_REFUSED,
  RELEASES_FULL,
  type ReleaseChange,
} from '../../store/releases/releases.ts';
import type { ReleaseOrder } from '../../store/row-keys/releases.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import { can, signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { audited, auditedResource, prepareAudited } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import {
  conflict,
  type FieldProblems,
  forbidden,
  invalid,
  notFound,
  refused,
  unprocessable,
} from '../errors.ts';
import { tellHooks } from '../hook-events/tell.ts';
import { withAbove } from '../labels/containers.ts';
import { enqueueNotification } from '../notifications/enqueue.ts';
import { TAG_REFUSALS, tagProtection } from '../refs/protection.ts';
import { codeOf } from '../repository/read.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { started } from '../started.ts';
import { createTag } from '../tags/tags.ts';
import { askForEvidence, firstEvidence, NO_EVIDENCE } from './evidence.ts';
import { type LinkInput, newLinks } from './link-rules.ts';

/** Characters. */
const MAX_NAME = 255;
/** Bytes of UTF-8: a page of a hundred releases has to fit into an answer. */
const MAX_DESCRIPTION = 56 * 1024;
/** Characters of a deleted release's notes that hooks are told. */
const MAX_TOLD = 10_000;
/** Maximum number of milestones of a release. */
export const MAX_MILESTONES_OF_RELEASE = 100;

/** A release, and what of the repository goes with it. */
export interface ShownRelease {
  readonly release: ReleaseRecord;
  /** The commit of its tag; undefined for callers who may not read code. */
  readonly commit: CommitRecord | undefined;
}

export async function listReleases(
  deps: Deps,
  { project }: ProjectAccess,
  order: ReleaseOrder,
  direction: 'asc' | 'desc',
  request: PageRequest,
): Promise<Page<ReleaseRecord>> {
  return deps.store.releases.page(project.id, order, direction, request);
}

/** @throws `404 Not Found` */
export async function getRelease(
  deps: Deps,
  { project }: ProjectAccess,
  tag: string,
): Promise<ReleaseRecord> {
  const release = await deps.store.releases.get(project.id, tag);
  if (release === undefined) throw notFound();
  return release;
}

/** The latest release that is not in the future. @throws `404 Not Found` */
export async function latestRelease(deps: Deps, { project }: ProjectAccess): Promise<ReleaseRecord> {
  const release = await deps.store.releases.latest(project.id, deps.now());
  if (release === undefined) throw notFound();
  return release;
}

/** The releases of tags, by tag. Costs one read where the project has none. */
export async function releasesOfTags(
  deps: Deps,
  { project }: ProjectAccess,
  tags: readonly string[],
  any: Promise<number> = deps.store.releases.count(project.id),
): Promise<ReadonlyMap<string, ReleaseRecord>> {
  if (tags.length === 0 || (await any) === 0) return new Map();
  const found = await deps.store.releases.ofTags(project.id, tags);
  return new Map(found.flatMap((release) => (release === undefined ? [] : [[release.tag, release]])));
}

/** Adds what the repository says of the tags of releases; only their records for callers who may not read code. */
export async function withCode(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  releases: readonly ReleaseRecord[],
): Promise<ShownRelease[]> {
  if (!can(actor, access, 'read_code') || releases.length === 0)
    return releases.map((release) => ({ release, commit: undefined }));
  const git = codeOf(deps, access);
  const tips = await git.tips(await git.refs(releases.flatMap(({ tag }) => tagRef(tag) ?? [])));
  const commits = new Map(tips.map(({ ref, commit }) => [ref.name as string, commit]));
  return releases.map((release) => ({ release, commit: commits.get(`refs/tags/${release.tag}`) }));
}

/** The milestones of releases that there still are, by id. */
export async function milestonesOf(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  releases: readonly ReleaseRecord[],
): Promise<ReadonlyMap<number, MilestoneRecord>> {
  const ids = [...new Set(releases.flatMap(({ milestoneIds }) => milestoneIds))];
  if (ids.length === 0 || !can(actor, access, 'read_milestone')) return new Map();
  const found = await deps.store.milestones.getMany(ids);
  return byId(found);
}

export interface ReleaseInput {
  readonly tag: string;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /** Branch, tag or commit from which the tag is made if there is none. */
  readonly ref?: string | undefined;
  /** Message of that tag, which is then an annotated one. */
  readonly tagMessage?: string | undefined;
  readonly releasedAt?: Date | undefined;
  /** Titles. */
  readonly milestones?: readonly string[] | undefined;
  readonly links?: readonly LinkInput[] | undefined;
}

/**
 * Creates a release, and its tag where there is none, in one transaction.
 * @throws 403 for a protected tag; 409 `Release already exists`; 422 `Ref is not specified`; 400 for invalid values, an
 *   unknown milestone, a tag that cannot be made
 */
export async function createRelease(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  input: ReleaseInput,
): Promise<ReleaseRecord> {
  const { project } = access;
  const { releases } = deps.store;
  const { tag } = input;
  const refName = tagRef(tag);
  if (refName === undefined) throw refused('Tag name invalid');
  const protection = started(tagProtection(deps, access, actor));
  const milestonesRead = started(milestoneIds(deps, access, input.milestones ?? []));
  const numbered = started(releases.nextId());
  const event = started(prepareAudited(deps, actor));
  const linksRead = started(newLinks(deps, input.links ?? []));
  const git = codeOf(deps, access, actor);
  const [ref, earlier] = await Promise.all([git.ref(refName), releases.get(project.id, tag)]);
  if (!(await protection).mayCreate(actor, tag)) throw forbidden(TAG_REFUSALS.create);
  if (earlier !== undefined) throw conflict(EXISTS);
  if (ref === undefined && (input.ref ?? '').trim() === '') throw unprocessable('Ref is not specified');
  const at = deps.now().toISOString();
  const release: ReleaseRecord = {
    id: await numbered,
    projectId: project.id,
    tag,
    name: input.name?.trim() || tag,
    description: input.description ?? '',
    authorId: signedIn(actor).user.id,
    milestoneIds: await milestonesRead,
    links: await linksRead,
    createdAt: at,
    releasedAt: input.releasedAt?.toISOString() ?? at,
    updatedAt: at,
    version: 1,
  };
  requireValid(release);
  const toEvent = await event;
  const planned = input.milestones?.length ? ` with Milestones ${input.milestones.join(', ')}` : '';
  const mail = enqueueNotification(deps, actor, { kind: 'release', projectId: project.id, tag });
  const evidence = firstEvidence(release, deps.now());
  const together = {
    writes: [
      ...releases.creation(release),
      ...evidence.writes,
      toEvent(auditedRelease(access, release, `Created Release ${tag}${planned}`)),
    ],
    messages: [
      mail,
      ...evidence.messages,
      ...(await tellHooks(deps, actor, project, [{ kind: 'release', tag, action: 'create' }])),
    ],
  };
  try {
    if (ref === undefined)
      await createTag(
        deps,
        actor,
        access,
        { name: tag, ref: input.ref!, message: input.tagMessage },
        together,
      );
    // Moves nothing: it makes sure that the tag is still there.
    else
      await codeOf(deps, access, actor, together).publish(
        [],
        [{ name: refName, from: ref.oid, to: ref.oid }],
      );
  } catch (error) {
    throw refusalOf(error);
  }
  return release;
}

/** Releases a tag that is there. @throws `404 Tag Not Found`; as {@link createRelease} */
export async function releaseTag(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  tag: string,
  description: string,
): Promise<ReleaseRecord> {
  const refName = tagRef(tag);
  const ref = refName && (await codeOf(deps, access).ref(refName));
  if (ref === undefined) throw notFound('Tag');
  return createRelease(deps, actor, access, { tag, description });
}

export interface ReleaseChangeInput {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly releasedAt?: Date | undefined;
  /** Titles; none takes all away. */
  readonly milestones?: readonly string[] | undefined;
}

/**
 * Changes a release; again where another request changed it first.
 * @throws `404 Not Found`; 403 for a protected tag; 400 for invalid values; 409 where others keep changing it
 */
export const changeRelease = (
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  tag: string,
  input: ReleaseChangeInput,
): Promise<ReleaseRecord> =>
  again(async () => {
    const [release, planned] = await Promise.all([
      getRelease(deps, access, tag),
      input.milestones === undefined ? undefined : milestoneIds(deps, access, input.milestones),
      requireMayChange(deps, actor, access, tag),
    ]);
    const change: ReleaseChange = {
      ...(input.name === undefined ? {} : { name: input.name.trim() || tag }),
      ...(input.description === undefined ? {} : { description: input.description }),
      ...(input.releasedAt === undefined ? {} : { releasedAt: input.releasedAt.toISOString() }),
      ...(planned === undefined ? {} : { milestoneIds: planned }),
    };
    if (Object.keys(change).length === 0) throw refused('params is empty');
    const after = { ...release, ...change };
    requireValid(after);
    const events = [auditedRelease(access, release, `Updated Release ${tag}`)];
    if (planned !== undefined && !sameIds(planned, release.milestoneIds)) {
      const to = input.milestones!.length === 0 ? '[none]' : input.milestones!.join(', ');
      events.push(auditedRelease(access, release, `Milestones associated with release changed to ${to}`));
    }
    const writes = await Promise.all(events.map((event) => audited(deps, actor, event)));
    const told = await tellHooks(deps, actor, access.project, [{ kind: 'release', tag, action: 'update' }]);
    const evidence = after.releasedAt === release.releasedAt ? NO_EVIDENCE : firstEvidence(after, deps.now());
    const messages = [...told, ...evidence.messages];
    const all = [...writes, ...evidence.writes, ...outboxWrites(messages)];
    const changed = await deps.store.releases.change(release, change, deps.now(), all);
    await deps.store.outbox.deliver(messages);
    return changed;
  });

/**
 * Deletes a release; its tag stays.
 * @throws `404 Not Found`; 403 for a protected tag; 409 where others keep changing it
 */
export const removeRelease = (
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  tag: string,
): Promise<ReleaseRecord> =>
  again(async () => {
    const [release, toEvent] = await Promise.all([
      getRelease(deps, access, tag),
      prepareAudited(deps, actor),
      requireMayChange(deps, actor, access, tag),
    ]);
    const former = { ...release, description: release.description.slice(0, MAX_TOLD) };
    const told = await tellHooks(deps, actor, access.project, [
      { kind: 'release', tag, action: 'delete', former },
    ]);
    await deps.store.releases.remove(release, [
      toEvent(auditedRelease(access, release, `Deleted Release ${tag}`)),
      ...outboxWrites(told),
    ]);
    await deps.store.outbox.deliver(told);
    return release;
  });

/** Makes an attempt again where another request, or the collection of evidence, changed the release first. */
async function again<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await retryOnConflict(attempt, (error) => error instanceof Stale);
  } catch (error) {
    throw refusalOf(error);
  }
}

/** Has another evidence of a release collected. @throws `404 Not Found`; 403 for a protected tag; 422 for too many */
export async function collectAnother(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  tag: string,
): Promise<void> {
  const [release] = await Promise.all([
    getRelease(deps, access, tag),
    requireMayChange(deps, actor, access, tag),
  ]);
  await askForEvidence(deps, release);
}

/** Changes the links of a release; again where another request changed the release first. */
export async function changeLinks<T>(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  tag: string,
  change: (links: readonly ReleaseLink[]) => { readonly links: readonly ReleaseLink[]; readonly result: T },
): Promise<{ readonly release: ReleaseRecord; readonly result: T }> {
  await requireMayChange(deps, actor, access, tag);
  const attempt = async () => {
    const release = await getRelease(deps, access, tag);
    const { links, result } = change(release.links);
    return { release: await deps.store.releases.change(release, { links }, deps.now()), result };
  };
  return again(attempt);
}

/** Who may not create a protected tag may not change its release. @throws 403 */
async function requireMayChange(deps: Deps, actor: Actor, access: ProjectAccess, tag: string): Promise<void> {
  const protection = await tagProtection(deps, access, actor);
  if (protection.isProtected(tag) && !protection.mayCreate(actor, tag)) throw forbidden();
}

/** Deletes releases whose tags are gone, after a push that deleted many. @returns the tag to continue after; undefined at the end */
export async function removeWithoutTags(
  deps: Deps,
  git: GitRepository,
  projectId: number,
  after: string | undefined,
  deadline: number,
): Promise<string | undefined> {
  const { releases, table } = deps.store;
  for (let last = after; ; ) {
    const { items, more } = await releases.batch(projectId, last, 100);
    const refs = await git.refs(items.flatMap(({ tag }) => tagRef(tag) ?? []));
    const present = new Set<string>(refs.map(({ name }) => name));
    for (const release of items) {
      if (present.has(`refs/tags/${release.tag}`)) continue;
      await table.transact(releases.removal(release)).catch((error: unknown) => {
        // It was deleted, or changed by someone who will find it without its tag.
        if (!(error instanceof TransactionRefused && error.has(RELEASE_REFUSED))) throw error;
      });
    }
    last = items.at(-1)?.tag;
    if (!more || last === undefined) return undefined;
    if (Date.now() > deadline) return last;
  }
}

/** @throws 400 `Milestone(s) not found: ...` */
async function milestoneIds(
  deps: Deps,
  access: ProjectAccess,
  titles: readonly string[],
): Promise<readonly number[]> {
  const wanted = [...new Set(titles.map((title) => title.trim()).filter((title) => title !== ''))];
  if (wanted.length === 0) return [];
  const ids = await deps.store.milestones.titled(withAbove(access), ...wanted);
  const found = (await deps.store.milestones.getMany([...new Set(ids)])).filter((each) => each !== undefined);
  const idOf = new Map(found.toReversed().map(({ title, id }) => [title, id]));
  const missing = wanted.filter((title) => !idOf.has(title));
  if (missing.length > 0) throw refused(`Milestone(s) not found: ${missing.join(', ')}`);
  return wanted.map((title) => idOf.get(title)!);
}

const sameIds = (a: readonly number[], b: readonly number[]) =>
  a.length === b.length && a.every((id) => b.includes(id));

const EXISTS = 'Release already exists';

const auditedRelease = (
  { project }: ProjectAccess,
  { id, name }: Pick<ReleaseRecord, 'id' | 'name'>,
  text: string,
) => ({
  entity: auditedResource('Project', project),
  details: { custom_message: text, target_id: id, target_type: 'Release', target_details: name },
});

function requireValid({ name, description }: Pick<ReleaseRecord, 'name' | 'description'>): void {
  const problems: FieldProblems = {
    ...([...name].length > MAX_NAME ? { name: [`is too long (maximum is ${MAX_NAME} characters)`] } : {}),
    ...(Buffer.byteLength(description) > MAX_DESCRIPTION
      ? { description: [`is too long (maximum is ${MAX_DESCRIPTION} bytes)`] }
      : {}),
  };
  if (Object.keys(problems).length > 0) throw invalid(problems);
}

function refusalOf(error: unknown): unknown {
  if (error instanceof Missing) return notFound('Project');
  if (error instanceof Stale) return conflict('The release was changed by another request: try again');
  if (!(error instanceof TransactionRefused)) return error;
  if (error.has(RELEASE_OF_NOTHING)) return notFound('Project');
  if (error.has(RELEASE_REFUSED)) return conflict(EXISTS);
  if (error.has(RELEASES_FULL)) return unprocessable(`there are ${MAX_RELEASES} releases already`);
  return error;
}
