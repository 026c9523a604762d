/**
 * A repository as a directory that git reads: HEAD, `packed-refs`, and the packs as they are stored, in a tape archive.
 * Packs with nothing but unreachable objects are left out.
 */
import { createHash } from 'node:crypto';
import { type TarFile, tarOfFiles } from './archive/tar.ts';
import type { ObjectDatabase, RandomAccess, RefView } from './ports.ts';
import type { RefDatabase } from './ref-database.ts';

/** Bytes of a pack read at once. */
const READ_BYTES = 8 * 1024 * 1024;
/** Bytes at the end of a pack: the checksum that git names it by. */
const CHECKSUM_BYTES = 20;

export interface Snapshot {
  /** The same for the same refs and packs. */
  readonly id: string;
  /** Bytes of the files in it. */
  readonly size: number;
  /** Pieces that stay valid. */
  content(): AsyncGenerator<Uint8Array>;
}

/** @param time of the files, seconds since 1970 */
export async function snapshotOf(
  { objects, refs }: { readonly objects: ObjectDatabase; readonly refs: RefDatabase },
  time: number,
): Promise<Snapshot> {
  const view = await refs.view();
  const id = createHash('sha256').update(view.head);
  let refsSize = 0;
  for await (const piece of packedRefs(view)) {
    id.update(piece);
    refsSize += piece.length;
  }
  // Listed after the refs, so that they have every object that a ref leads to.
  const packs = (await objects.listPacks({ fresh: true })).filter(
    ({ source }) => source !== 'unreachable-garbage',
  );
  for (const pack of packs) id.update(pack.id);
  const size = packs.reduce((sum, { packSize, indexSize }) => sum + packSize + indexSize, refsSize);

  async function* files(): AsyncGenerator<TarFile> {
    yield text('HEAD', `ref: ${view.head}\n`);
    yield { path: 'packed-refs', size: refsSize, content: packedRefs(view) };
    for (const path of ['refs/', 'refs/heads/', 'refs/tags/', 'objects/', 'objects/info/', 'objects/pack/'])
      yield { path, size: 0, content: [] };
    for (const pack of packs) {
      const content = objects.open(pack, 'pack');
      const checksum = await content.read(pack.packSize - CHECKSUM_BYTES, CHECKSUM_BYTES);
      const path = `objects/pack/pack-${Buffer.from(checksum).toString('hex')}`;
      yield { path: `${path}.pack`, size: pack.packSize, content: pieces(content) };
      // Last, as git does: it finds a pack by its index.
      yield { path: `${path}.idx`, size: pack.indexSize, content: pieces(objects.open(pack, 'index')) };
    }
  }
  return { id: id.digest('hex'), size, content: () => tarOfFiles(files(), time) };
}

const text = (path: string, content: string): TarFile => {
  const bytes = Buffer.from(content);
  return { path, size: bytes.length, content: [bytes] };
};

/** The file `packed-refs` (git's `refs/packed-backend.c`), which git sorts where need be. */
async function* packedRefs(view: RefView): AsyncGenerator<Buffer> {
  yield Buffer.from('# pack-refs with: peeled fully-peeled \n');
  for await (const batch of view.refs()) {
    const lines = batch.map(
      ({ name, oid, peeled }) => `${oid} ${name}\n${peeled === undefined ? '' : `^${peeled}\n`}`,
    );
    yield Buffer.from(lines.join(''));
  }
}

async function* pieces(file: RandomAccess): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.size; at += READ_BYTES)
    yield Buffer.from(await file.read(at, Math.min(READ_BYTES, file.size - at)));
}
