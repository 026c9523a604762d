import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileAccess } from '../../lib/git/pack/content.ts';
import type { ObjectDatabase, PackDescription } from '../../lib/git/ports.ts';

/** The packs of a repository on disk, read-only; without loose objects. */
export function packsOf(gitDirectory: string): ObjectDatabase {
  const directory = join(gitDirectory, 'objects/pack');
  return {
    listPacks: async () =>
      readdirSync(directory)
        .filter((name) => name.endsWith('.pack'))
        .map((name): PackDescription => {
          const path = join(directory, name.slice(0, -5));
          const indexSize = statSync(`${path}.idx`).size;
          const packSize = statSync(`${path}.pack`).size;
          const objectCount = countObjects(path);
          return {
            id: name,
            source: 'receive',
            objectCount,
            packSize,
            indexSize,
            layout: 'split',
            location: path,
          };
        })
        .sort((a, b) => statSync(`${b.location}.pack`).mtimeMs - statSync(`${a.location}.pack`).mtimeMs),
    open: (pack, part) =>
      part === 'pack'
        ? fileAccess(`${pack.location}.pack`, pack.packSize)
        : fileAccess(`${pack.location}.idx`, pack.indexSize),
    newPack: async () => {
      throw new Error('read only');
    },
    rollbackPack: async () => {},
  };
}

/** Runs git without user or system configuration. */
export function git(directory: string, args: readonly string[], input?: string | Uint8Array): Buffer {
  return execFileSync('git', ['-C', directory, ...args], {
    env: ENVIRONMENT,
    input,
    maxBuffer: 1 << 30,
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
}

export const ENVIRONMENT = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'A U Thor',
  GIT_AUTHOR_EMAIL: 'author@example.com',
  GIT_AUTHOR_DATE: '1700000000 +0100',
  GIT_COMMITTER_NAME: 'C O Mitter',
  GIT_COMMITTER_EMAIL: 'committer@example.com',
  GIT_COMMITTER_DATE: '1700000000 +0100',
};

/** The last entry of the index's fanout. */
function countObjects(path: string): number {
  const file = openSync(`${path}.idx`, 'r');
  try {
    const last = Buffer.alloc(4);
    readSync(file, last, 0, 4, 8 + 255 * 4);
    return last.readUInt32BE();
  } finally {
    closeSync(file);
  }
}
