import { parsePointer } from '../../git/lfs-pointer.ts';
import { type ObjectStore, SMALL_BLOB_BYTES } from '../../git/objects.ts';
import type { Oid } from '../../git/oid.ts';
import { parseCommitLinks } from '../../git/parse.ts';
import { recordAt } from '../../git/tree.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { isLfsEnabled } from './enabled.ts';

/** Objects that are looked for on account of one push. */
const MAX_LOOKED_FOR = 10_000;

/** Locks that are looked at on account of one push. */
const MAX_LOCKS = 1_000;

const MISSING =
  'LFS objects are missing. Ensure LFS is properly set up or try a manual "git lfs push --all".';

/** Collects pointers among what a push brings, and refuses the push if the project lacks one of their objects. */
export class PushedPointers {
  readonly #oids = new Set<string>();
  #refusal: Promise<string | undefined> | undefined;

  /** @param data content of a small blob */
  see(data: Uint8Array): void {
    if (this.#oids.size >= MAX_LOOKED_FOR) return;
    const pointer = parsePointer(data);
    if (pointer !== undefined) this.#oids.add(pointer.oid);
  }

  /** Once all blobs were seen: why the push is refused. */
  refusal(deps: Deps, project: ProjectRecord): Promise<string | undefined> {
    this.#refusal ??= this.#missing(deps, project);
    return this.#refusal;
  }

  /**
   * Once all blobs were seen: why a branch may not move to a commit, where a file that somebody else has locked is one of
   * the pointers.
   * @param objects also those that the push brings
   */
  async lockRefusal(
    deps: Deps,
    { actor, project }: { readonly actor: Actor; readonly project: ProjectRecord },
    commit: Oid,
    objects: ObjectStore,
  ): Promise<string | undefined> {
    if (this.#oids.size === 0 || !(await isLfsEnabled(deps, project))) return undefined;
    const { locks } = await deps.store.lfsLocks.page(project.id, MAX_LOCKS);
    const own = actor.kind === 'user' ? actor.user.id : undefined;
    const root = await objects.run((each) => parseCommitLinks(each.read(commit).data).tree);
    for (const { path, userId } of locks) {
      if (userId === own || !(await this.#isBrought(objects, root, path))) continue;
      const [owner] = await deps.store.users.getMany([userId]);
      return `The path '${path}' is locked in Git LFS by ${owner?.name ?? 'another user'}`;
    }
    return undefined;
  }

  async #isBrought(objects: ObjectStore, root: Oid, path: string): Promise<boolean> {
    const entry = await recordAt(objects, root, path);
    if (entry?.type !== 'blob') return false;
    const pointer = await objects.run((each) =>
      each.header(entry.id).size > SMALL_BLOB_BYTES ? undefined : parsePointer(each.read(entry.id).data),
    );
    return pointer !== undefined && this.#oids.has(pointer.oid);
  }

  /** Lists those of the objects in the project that another one has, from where the blobs were copied. */
  async inherit(deps: Deps, project: ProjectRecord, from: ProjectRecord): Promise<void> {
    if (this.#oids.size === 0) return;
    const { lfsObjects } = deps.store;
    await lfsObjects.inherit(project, [...(await lfsObjects.find(from.id, this.#oids)).values()]);
  }

  async #missing(deps: Deps, project: ProjectRecord): Promise<string | undefined> {
    if (this.#oids.size === 0 || !(await isLfsEnabled(deps, project))) return undefined;
    const found = await deps.store.lfsObjects.find(project.id, this.#oids);
    return found.size < this.#oids.size ? MISSING : undefined;
  }
}
