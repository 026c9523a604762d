import { mkdirSync } from 'node:fs';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { requestHandler, type SdkRequestHandler, textOf } from '../request-handler.ts';

/** The SSM Parameter Store, as far as GetParameter and PutParameter: each parameter is a file. */
export interface EmbeddedSsm {
  /** For `new SSMClient({ requestHandler, ... })`. */
  requestHandler: SdkRequestHandler;
}

interface Stored {
  readonly Value: string;
  readonly Version: number;
}

interface Input {
  readonly Name?: string;
  readonly Value?: string;
  readonly Overwrite?: boolean;
}

/** @param dir where parameters are stored, as `<name>.json`, readable by the owner only */
export function openSsm({ dir }: { readonly dir: string }): EmbeddedSsm {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const fileOf = (name: string) => join(dir, `${encodeURIComponent(name)}.json`);
  // Requests run one after another, so that a version is never given out twice.
  let previous: Promise<unknown> = Promise.resolve();

  async function stored(name: string): Promise<Stored | undefined> {
    try {
      return JSON.parse(await readFile(fileOf(name), 'utf8')) as Stored;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async function put(name: string, value: string, overwrite: boolean) {
    const before = await stored(name);
    if (before !== undefined && !overwrite) return failed('ParameterAlreadyExists');
    const next: Stored = { Value: value, Version: (before?.Version ?? 0) + 1 };
    const part = `${fileOf(name)}.part`;
    const file = await open(part, 'w', 0o600);
    try {
      await file.writeFile(JSON.stringify(next));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, fileOf(name));
    return { status: 200, body: { Version: next.Version, Tier: 'Standard' } };
  }

  async function answer(action: string | undefined, { Name, Value, Overwrite }: Input) {
    if (Name === undefined || Name === '') return failed('ValidationException');
    if (action === 'GetParameter') {
      const parameter = await stored(Name);
      if (parameter === undefined) return failed('ParameterNotFound');
      return { status: 200, body: { Parameter: { Name, Type: 'SecureString', ...parameter } } };
    }
    if (action !== 'PutParameter' || Value === undefined) return failed('ValidationException');
    return put(Name, Value, Overwrite === true);
  }

  return {
    requestHandler: requestHandler(async ({ headers, body }) => {
      const action = headers['x-amz-target']?.split('.').at(-1);
      const input = JSON.parse(textOf(body)) as Input;
      const done = previous.then(() => answer(action, input));
      previous = done.catch(() => undefined);
      const { status, body: result } = await done;
      return {
        response: {
          statusCode: status,
          headers: { 'content-type': 'application/x-amz-json-1.1' },
          body: Readable.from([Buffer.from(JSON.stringify(result))]),
        },
      };
    }),
  };
}

const failed = (code: 'ParameterNotFound' | 'ParameterAlreadyExists' | 'ValidationException') => ({
  status: 400,
  body: { __type: code, message: code },
});
