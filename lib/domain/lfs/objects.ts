/** Transfers of objects of Git LFS: straight to and from the bucket, by presigned URLs. */
import { setImmediate as turn } from 'node:timers/promises';
import type { LfsPointer } from '../../git/lfs-pointer.ts';
import { MAX_LFS_OBJECT_BYTES } from '../../records/lfs.ts';
import { Missing } from '../../store/errors.ts';
import type { LfsTransfer } from '../../store/lfs/objects.ts';
import { scheduleMeasuring } from '../../store/statistics/statistics.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { notAcceptable, notFound, unprocessable } from '../errors.ts';
import { sizeExcess } from '../repository/size-limits.ts';

/** What a client is told of an object. Neither: the project has it already. */
export interface LfsAnswer extends LfsPointer {
  readonly transfer?: LfsTransfer;
  readonly error?: { readonly code: number; readonly message: string };
}

/** URLs signed between two turns of the event loop: some ten milliseconds. */
const SIGNED_TOGETHER = 25;

const ABSENT = {
  code: 404,
  message: "Object does not exist on the server or you don't have permissions to access it",
};

/** Why no object can be of these facts. */
export function pointerProblem({
  oid,
  size,
}: {
  readonly oid: unknown;
  readonly size: unknown;
}): string | undefined {
  if (typeof oid !== 'string' || !/^[0-9a-f]{64}$/.test(oid)) return 'oid is not a SHA-256 in lower case';
  if (!Number.isSafeInteger(size) || (size as number) < 0) return 'size is not a number of bytes';
  return undefined;
}

/** How to download objects that the project has; 404 for each other. */
export async function lfsDownloads(
  { store }: Deps,
  { project }: ProjectAccess,
  pointers: readonly LfsPointer[],
): Promise<LfsAnswer[]> {
  const found = await store.lfsObjects.find(
    project.id,
    pointers.map(({ oid }) => oid),
  );
  return inTurns(pointers, async (pointer) => {
    const object = found.get(pointer.oid);
    if (object === undefined) return { ...pointer, error: ABSENT };
    const transfer = await store.lfsObjects.downloadOf(object);
    return { oid: object.oid, size: object.size, transfer };
  });
}

/**
 * How to upload objects that the project has not. Who names an object that only others have is asked for its bytes.
 * @returns also the id under which the uploads are listed afterwards: {@link listUpload}
 * @throws 406 when the repository would exceed its size limit
 */
export async function lfsUploads(
  deps: Deps,
  { project }: ProjectAccess,
  pointers: readonly LfsPointer[],
): Promise<{ readonly id: string | undefined; readonly answers: readonly LfsAnswer[] }> {
  const { lfsObjects } = deps.store;
  const [found, { repository_size_limit: limit }] = await Promise.all([
    lfsObjects.find(
      project.id,
      pointers.map(({ oid }) => oid),
    ),
    deps.settings.current(),
  ]);
  const wanted = new Map(
    pointers
      .filter(({ oid, size }) => !found.has(oid) && size <= MAX_LFS_OBJECT_BYTES)
      .map((pointer) => [pointer.oid, pointer]),
  );
  if (limit > 0 && wanted.size > 0) {
    const { bytes } = await lfsObjects.total(project.id);
    const more = [...wanted.values()].reduce((sum, { size }) => sum + size, bytes);
    const excess = await sizeExcess(deps, { ...project, lfsObjectsSize: more });
    if (excess !== undefined)
      throw notAcceptable(
        `Your push has been rejected, because this repository would exceed ${excess}. Please contact your GitLab administrator for more information.`,
      );
  }
  const begun =
    wanted.size === 0 ? undefined : await lfsObjects.begin(project.id, [...wanted.values()], deps.now());
  const answers = await inTurns(pointers, async (pointer): Promise<LfsAnswer> => {
    const object = found.get(pointer.oid);
    if (object !== undefined) return { oid: object.oid, size: object.size };
    const known = wanted.get(pointer.oid);
    if (known === undefined || known.size !== pointer.size)
      return { ...pointer, error: { code: 422, message: known === undefined ? TOO_LARGE : TWO_SIZES } };
    return { ...pointer, transfer: await begun!.transferOf(pointer) };
  });
  return { id: begun?.id, answers };
}

const TOO_LARGE = `Objects of more than ${MAX_LFS_OBJECT_BYTES} bytes (5 GB) are not accepted`;
const TWO_SIZES = 'The object is named with two sizes';

/**
 * Lists an object that was uploaded. Idempotent.
 * @param upload as {@link lfsUploads} returned it
 * @throws 404 when it was not uploaded, or too long ago; 422 for another size
 */
export async function listUpload(
  { store, now }: Deps,
  { project }: ProjectAccess,
  upload: string,
  pointer: LfsPointer,
): Promise<void> {
  const { lfsObjects } = store;
  const known = (await lfsObjects.find(project.id, [pointer.oid])).get(pointer.oid);
  const size =
    known?.size ??
    (lfsObjects.isListable(upload, now())
      ? await lfsObjects.sizeOf(project.id, upload, pointer.oid)
      : undefined);
  if (size === undefined) throw notFound('LFS object');
  if (size !== pointer.size) throw unprocessable(`The object has ${size} bytes`);
  if (known !== undefined) return;
  try {
    await lfsObjects.list(project, upload, pointer);
  } catch (error) {
    if (error instanceof Missing) throw notFound('Project');
    throw error;
  }
  // Not in the transaction, where the uploads of one push would wait for each other: the push measures too.
  await store.table.put(scheduleMeasuring(project.id, now()));
}

async function inTurns<T, R>(all: readonly T[], one: (each: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (let i = 0; i < all.length; i += SIGNED_TOGETHER) {
    if (i > 0) await turn();
    done.push(...(await Promise.all(all.slice(i, i + SIGNED_TOGETHER).map(one))));
  }
  return done;
}
