import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Keeps two hosts from opening the same data directory. The lock file of a killed host is replaced: it counts only while
 * its process is alive.
 *
 * @returns a function that releases the directory
 * @throws Error when another live process holds it
 */
export function lockDirectory(directory: string): () => void {
  const file = join(directory, 'host.pid');
  const release = () => rmSync(file, { force: true });
  for (let attempt = 0; ; attempt++) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' });
      return release;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt > 0) throw error;
    }
    const holder = Number(readFileSync(file, 'utf8'));
    if (holder !== process.pid && isAlive(holder)) {
      throw new Error(
        `${directory} is in use by process ${holder}: stop it first, or choose another DATA_DIR`,
      );
    }
    release();
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
