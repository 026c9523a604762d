import { parsePointer } from '../../git/lfs-pointer.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { Deps } from '../deps.ts';
import { isLfsEnabled } from './enabled.ts';

/** Objects that are looked for on account of one push. */
const MAX_LOOKED_FOR = 10_000;

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
