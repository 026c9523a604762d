import { ObjectMissing } from '../../git/objects.ts';
import type { Oid } from '../../git/oid.ts';
import { type Ref, RefConflict } from '../../git/ports.ts';
import { isOidLike, newTagRef, shortName, tagRef } from '../../git/refname.ts';
import type { CommitRecord, GitRepository, Tip } from '../../git/repository.ts';
import { signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { requirePush } from '../branches/branches.ts';
import type { Deps } from '../deps.ts';
import { DomainError, forbidden, notFound, refused } from '../errors.ts';
import { listRefs, type RefListQuery } from '../refs/list.ts';
import { TAG_REFUSALS, type TagProtection, tagProtection } from '../refs/protection.ts';
import { refConflictError } from '../repository/conflicts.ts';
import { deleteRefIfUnchanged } from '../repository/delete-ref.ts';
import { identityOf } from '../repository/identity.ts';
import type { Together } from '../repository/open.ts';
import { codeOf } from '../repository/read.ts';
import { started } from '../started.ts';

export interface TagRecord {
  readonly name: string;
  /** The annotation without its signature and trailing newline; null for a lightweight tag. */
  readonly message: string | null;
  /** The tag object's ID, or the commit's for a lightweight tag. */
  readonly target: Oid;
  readonly commit: CommitRecord;
}

/** Returns tags of commits, sorted by name or by the time of their commit. */
export async function listTags(
  git: GitRepository,
  query: Omit<RefListQuery, 'space'>,
): Promise<{ items: TagRecord[]; total: number | undefined; more: boolean }> {
  const { refs, total, more } = await listRefs(git, { ...query, space: 'tags' });
  return { items: (await git.tips(refs)).map(recordOf), total, more };
}

/** @throws 400 for an invalid name, `404 Tag Not Found` */
export async function getTag(git: GitRepository, name: string): Promise<TagRecord> {
  const [tip] = await git.tips([await tagOf(git, name)]);
  if (tip === undefined) throw notFound('Tag');
  return recordOf(tip);
}

export interface NewTag {
  readonly name: string;
  readonly ref: string;
  readonly message: string | undefined;
}

/** Whether a tag can be created, and what that needs. @throws as {@link createTag}, but for conflicts */
export async function preparedTag(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  input: Pick<NewTag, 'name' | 'ref'>,
) {
  requirePush(actor, access);
  const name = newTagRef(input.name);
  if (name === undefined) throw refused('Tag name invalid');
  if (isOidLike(input.name)) throw refused(TAG_REFUSALS.oidLike);
  const git = codeOf(deps, access, actor);
  const protecting = started(tagProtection(deps, access, actor));
  const resolving = started(git.resolve(input.ref));
  if ((await git.ref(name)) !== undefined) throw refused(`Tag ${input.name} already exists`);
  if (input.ref.trim() === '') throw refused('Target is empty');
  const target = await resolving;
  if (target === undefined) throw refused(`Target ${input.ref} is invalid`);
  const protection = await protecting;
  if (!protection.mayCreate(actor, input.name)) throw refused(TAG_REFUSALS.create);
  return { git, name, target, protection };
}

/**
 * Creates a lightweight tag, or an annotated one if there is a message.
 * @param together further writes of the transaction that creates it; their refusals are thrown unchanged
 * @throws 403; 400 for an invalid name, an existing tag or an unknown target; 405 for a conflict with another name
 */
export async function createTag(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  input: NewTag,
  together?: Together,
): Promise<{ made: TagRecord; protection: TagProtection }> {
  const { git: reading, name, target, protection } = await preparedTag(deps, actor, access, input);
  const git = together === undefined ? reading : codeOf(deps, access, actor, together);
  const annotation = input.message?.trim() ?? '';
  try {
    if (annotation === '') await git.createRef(name, target.commit);
    else {
      const tagger = identityOf(signedIn(actor).user, deps.now());
      await git.createAnnotatedTag({ name, target: target.commit, tagger, message: `${annotation}\n` });
    }
  } catch (error) {
    throw refusalOf(error, input);
  }
  return { made: await getTag(git, input.name), protection };
}

/** @param unchanged called with the time of the tag's commit; throws if that is later than the caller allows */
export async function deleteTag(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  name: string,
  unchanged: (commit: Date) => void,
): Promise<void> {
  requirePush(actor, access);
  const git = codeOf(deps, access, actor);
  const protection = started(tagProtection(deps, access, actor));
  const ref = await tagOf(git, name);
  if (!(await protection).mayDelete(actor, name)) throw forbidden("You don't have access to delete the tag");
  await deleteRefIfUnchanged(git, ref, unchanged);
}

/** @throws 400 for an invalid name, `404 Tag Not Found` */
export async function tagOf(git: GitRepository, name: string): Promise<Ref> {
  const full = tagRef(name);
  if (full === undefined) throw refused('The tag refname is invalid');
  const ref = await git.ref(full);
  if (ref === undefined) throw notFound('Tag');
  return ref;
}

function recordOf({ ref, commit, tag }: Tip): TagRecord {
  return {
    name: shortName(ref.name),
    message: tag === undefined ? null : annotationOf(tag.message),
    target: ref.oid,
    commit,
  };
}

/** A signature follows the message (git-tag, "--sign"). */
function annotationOf(message: string): string {
  const signature = /^-----BEGIN (PGP|SSH|SIGNED) (SIGNATURE|MESSAGE)-----$/m.exec(message);
  return (signature === null ? message : message.slice(0, signature.index)).replace(/\n+$/, '');
}

function refusalOf(error: unknown, input: { name: string; ref: string }): unknown {
  if (error instanceof ObjectMissing) return refused(`Target ${input.ref} is invalid`);
  if (!(error instanceof RefConflict)) return error;
  const reasons = error.rejections.map((rejection) => rejection.reason);
  if (reasons.includes('exists')) return refused(`Tag ${input.name} already exists`);
  if (reasons.includes('prefix-conflict')) {
    return new DomainError('method-not-allowed', `Tag ${input.name} conflicts with another tag's name`);
  }
  return refConflictError(error, `Could not create refs/tags/${input.name}. Please try again.`);
}
