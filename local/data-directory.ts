import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
 * Opens the table of a data directory, and creates both where they are absent. The operating system's lock of the table
 * keeps every other process out, one in another container too, and ends with its process. Nothing else in the directory
 * may be touched before.
 *
 * @throws Error when another process has it open
 */
export async function openDataDirectory(dataDir: string): Promise<DataDirectory> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const pidFile = join(dataDir, PID_FILE);
  let table: EmbeddedDynamo;
  try {
    table = await openDynamo({ path: join(dataDir, TABLE_DIR) });
  } catch (error) {
    if (((error as Error).cause as { code?: string } | undefined)?.code !== 'LEVEL_LOCKED') throw error;
    throw new Error(
      `${dataDir} is in use by another process${noted(pidFile)}: stop it first, or choose another DATA_DIR`,
      { cause: error },
    );
  }
  writeFileSync(pidFile, String(process.pid));
  return {
    table,
    async close() {
      rmSync(pidFile, { force: true });
      await table.close();
    },
  };
}

/** The id that the holder noted, which may be one of another container. */
function noted(pidFile: string): string {
  try {
    return ` (${PID_FILE} says ${Number(readFileSync(pidFile, 'utf8'))})`;
  } catch {
    return '';
  }
}
