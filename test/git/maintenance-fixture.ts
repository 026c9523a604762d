import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MemoryRepository } from '../../lib/git/memory.ts';
import {
  type MaintainedObjects,
  type ObjectDatabase,
  type PackDescription,
  PacksChanged,
  type Ref,
} from '../../lib/git/ports.ts';
import { git } from './repository-files.ts';

/** The maintenance port of a repository in memory: replaced packs are not listed but still readable. */
export function maintained(repository: MemoryRepository): MaintainedObjects {
  return {
    ...repository.objects,
    packSink: () => {
      const written: Uint8Array[] = [];
      return {
        write: async (bytes) => void written.push(bytes),
        finish: async (index, about) =>
          repository.objects.newPack({ kind: 'bytes', pack: Buffer.concat(written), index }, about),
        abort: async () => {},
      };
    },
    storeDerived: (kind, content, provenance) => repository.storeDerived(kind, content, provenance),
    commitPacks: async (add, replaced) => {
      const gone = new Set(replaced.map(({ id }) => id));
      repository.relist((listed) => {
        if (listed.filter(({ id }) => gone.has(id)).length < gone.size) throw new PacksChanged();
        return [...add, ...listed.filter(({ id }) => !gone.has(id))];
      });
    },
  };
}

/** Writes packs and refs to a new bare git repository. */
export async function writeRepository(
  directory: string,
  objects: ObjectDatabase,
  packs: readonly PackDescription[],
  refs: readonly Ref[] = [],
): Promise<void> {
  mkdirSync(directory, { recursive: true });
  git(directory, ['init', '-q', '--bare', '-b', 'main', '.']);
  for (const pack of packs) {
    for (const [part, suffix] of [['pack', 'pack'] as const, ['index', 'idx'] as const]) {
      const access = objects.open(pack, part);
      const file = join(directory, 'objects/pack', `pack-${pack.id}.${suffix}`);
      writeFileSync(file, await access.read(0, access.size));
    }
  }
  const lines = refs.map(({ name, oid }) => `${oid} ${name}\n`);
  writeFileSync(join(directory, 'packed-refs'), `# pack-refs with: sorted \n${lines.join('')}`);
}

/** Every object of a repository on disk: `id type size`, sorted. */
export function allObjects(directory: string): string[] {
  const listed = git(directory, ['cat-file', '--batch-all-objects', '--batch-check', '--unordered']);
  return [...new Set(listed.toString().split('\n').filter(Boolean))].sort();
}
