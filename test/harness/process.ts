import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Answer, type CallOptions, request } from './service.ts';

/** `npm start` as a process of its own: what a restart keeps can only be seen by starting again. */
export interface ServiceProcess {
  readonly url: string;
  /** The lines it printed while it started. */
  readonly said: string;
  call(method: string, path: string, options?: Pick<CallOptions, 'token' | 'json'>): Promise<Answer>;
  /** Resolves when it has ended by itself after SIGTERM. @throws when it ends otherwise */
  stop(): Promise<void>;
}

const MAIN = fileURLToPath(new URL('../../local/main.ts', import.meta.url));

export async function startProcess(environment: Readonly<Record<string, string>>): Promise<ServiceProcess> {
  const { ROOT_TOKEN: _, BASE_URL: _base, ...inherited } = process.env;
  const child = spawn(process.execPath, [MAIN], {
    env: { ...inherited, PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const said = await Promise.race([
    ready(child),
    ended.then(([code]) => Promise.reject(new Error(`the service ended with ${code} before it was ready`))),
  ]);
  const url = /http:\/\/[^ ]+/.exec(said)![0];
  return {
    url,
    said,
    call: (method, path, { token, json } = {}) =>
      request(`${url}/api/v4${path}`, method, {
        headers: {
          ...(token === undefined ? {} : { 'PRIVATE-TOKEN': token }),
          ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        body: json === undefined ? undefined : JSON.stringify(json),
      }),
    async stop() {
      child.kill('SIGTERM');
      const [code, signal] = await ended;
      if (code !== 0) throw new Error(`the service ended with ${code ?? signal}`);
    },
  };
}

async function ready(child: ChildProcess): Promise<string> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout! })) {
    lines.push(line);
    if (line.includes('sign in')) break;
  }
  // Without that line it is about to end, which says more.
  return lines.at(-1)?.includes('sign in') ? lines.join('\n') : new Promise(() => {});
}
