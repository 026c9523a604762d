import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type EmbeddedDynamo, openDynamo } from '@lemnos/embedded-aws/dynamodb';

export interface DataDirectory {
  readonly table: EmbeddedDynamo;
  /** Closes the table, which lets another process open the directory. */
  close(): Promise<void>;
}

/** The folder of the table in a data directory. */
export const TABLE_DIR = 'table';
/** Names the process that has the directory open, for people. Nothing depends on it: process ids are used again. */
const PID_FILE = 'host.pid';
/**
 * The version of the data, in the file `version`. A release that writes what the one before would misread, or lose, raises
 * it. The first one had no file.
 */
const VERSION = 2;
const VERSION_FILE = 'version';

/**
 * Opens the table of a data directory, and creates both where they are absent. The operating system's lock of the table
 * keeps every other process out, one in another container too, and ends with its process. Nothing else in the directory
 * may be touched before.
 *
 * @throws Error when another process has it open, or a newer release has written to it
 */
export async function openDataDirectory(dataDir: string): Promise<DataDirectory> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const version = versionOf(dataDir);
  if (version > VERSION) {
    throw new Error(
      `${dataDir} has data of version ${version}, and this release knows version ${VERSION}: start a newer release, ` +
        'or restore a copy from before the upgrade',
    );
  }
  const pidFile = join(dataDir, PID_FILE);
  let table: EmbeddedDynamo;
  try {
    table = await openDynamo({ path: join(dataDir, TABLE_DIR) });
  } catch (error) {
    if (!isTaken(error)) throw error;
    throw new Error(
      `${dataDir} is in use by another process${noted(pidFile)}: stop it first, or choose another DATA_DIR`,
      { cause: error },
    );
  }
  if (version < VERSION) writeVersion(dataDir);
  writeFileSync(pidFile, String(process.pid));
  return {
    table,
    async close() {
      rmSync(pidFile, { force: true });
      await table.close();
    },
  };
}

/** Whether a table could not be opened because another process has it open. */
export const isTaken = (error: unknown): boolean =>
  ((error as Error).cause as { code?: string } | undefined)?.code === 'LEVEL_LOCKED';

/** @throws Error when the file is no number */
function versionOf(dataDir: string): number {
  let text: string;
  try {
    text = readFileSync(join(dataDir, VERSION_FILE), 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 1;
    throw error;
  }
  if (!/^\d{1,9}$/.test(text))
    throw new Error(`${join(dataDir, VERSION_FILE)} is damaged: it must be a number`);
  return Number(text);
}

function writeVersion(dataDir: string): void {
  const draft = join(dataDir, `${VERSION_FILE}.part`);
  const file = openSync(draft, 'w', 0o600);
  writeFileSync(file, `${VERSION}\n`);
  fsyncSync(file);
  closeSync(file);
  renameSync(draft, join(dataDir, VERSION_FILE));
}

/** The id that the holder noted, which may be one of another container. */
function noted(pidFile: string): string {
  try {
    return ` (${PID_FILE} says ${Number(readFileSync(pidFile, 'utf8'))})`;
  } catch {
    return '';
  }
}
