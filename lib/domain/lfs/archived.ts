import type { OtherContent } from '../../git/archive/entries.ts';
import type { LfsPointer } from '../../git/lfs-pointer.ts';
import type { LfsObject } from '../../records/lfs.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { Deps } from '../deps.ts';
import { isLfsEnabled } from './enabled.ts';

/** Returns the objects that a project has of those that pointers lead to; none where Git LFS is off. */
export async function objectsOf(
  deps: Deps,
  project: ProjectRecord,
  pointers: Iterable<LfsPointer>,
): Promise<Map<string, LfsObject>> {
  const oids = new Set([...pointers].map(({ oid }) => oid));
  if (oids.size === 0 || !(await isLfsEnabled(deps, project))) return new Map();
  return deps.store.lfsObjects.find(project.id, oids);
}

/** The content of an object, read from the bucket when it is needed. */
export const contentOf = ({ store }: Deps, object: LfsObject): OtherContent => ({
  size: object.size,
  async *read() {
    const { size, body } = await store.lfsObjects.open(object);
    if (size === object.size) yield* body as AsyncIterable<Uint8Array>;
    else {
      body.destroy();
      throw new Error(`the object ${object.location} of Git LFS has ${size} bytes instead of ${object.size}`);
    }
  },
});
