import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { type Host, ROOT_TOKEN } from '../crash/host.ts';
import { type Answer, request } from '../harness/service.ts';

export interface OwnHost {
  readonly dataDir: string;
  /** Ended after the test. */
  host: Host | undefined;
  /** Calls the API of the host as its administrator. */
  call(method: string, path: string, json?: unknown): Promise<Answer>;
}

/** A folder of data for each test of a file, and the host in a process of its own that the test starts there. */
export function ownHost(name: string): OwnHost {
  const own = {
    dataDir: '',
    host: undefined as Host | undefined,
    call: (method: string, path: string, json?: unknown) =>
      request(`${own.host!.url}/api/v4${path}`, method, {
        headers: { 'PRIVATE-TOKEN': ROOT_TOKEN, 'Content-Type': 'application/json' },
        body: json === undefined ? undefined : JSON.stringify(json),
      }),
  };
  beforeEach(() => {
    own.dataDir = mkdtempSync(join(tmpdir(), `lemnos-${name}-`));
    own.host = undefined;
  });
  afterEach(async () => {
    await own.host?.kill();
    rmSync(own.dataDir, { recursive: true, force: true });
  });
  return own;
}
