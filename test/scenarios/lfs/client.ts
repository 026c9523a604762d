import { createHash, randomBytes } from 'node:crypto';
import { type Answer, request } from '../../harness/service.ts';
import type { Who, World } from '../../harness/world.ts';

export const TYPE = 'application/vnd.git-lfs+json';

export interface Pointer {
  readonly oid: string;
  readonly size: number;
}

export const content = (bytes = 64): Buffer => randomBytes(bytes);

export const pointerTo = (bytes: Uint8Array): Pointer => ({
  oid: createHash('sha256').update(bytes).digest('hex'),
  size: bytes.length,
});

/** What Git stores in place of a file. */
export const pointerFile = ({ oid, size }: Pointer): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`;

/** As Git LFS asks, in the way that its specification has it. */
export function lfsClient(world: World) {
  const ask = async (
    token: string | undefined,
    project: string,
    method: string,
    rest: string,
    json?: unknown,
    user = 'any',
  ): Promise<Answer> => {
    const answer = await request(`${world.service.url}/${project}.git/info/lfs/${rest}`, method, {
      headers: {
        Accept: TYPE,
        ...(json === undefined ? {} : { 'Content-Type': `${TYPE}; charset=utf-8` }),
        ...(token === undefined
          ? {}
          : { Authorization: `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}` }),
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
    const { body } = answer as any;
    return { ...answer, body: typeof body === 'string' && body.startsWith('{') ? JSON.parse(body) : body };
  };
  const as = (who: Who, project: string, method: string, rest: string, json?: unknown) =>
    ask(world.tokens[who], project, method, rest, json);
  const batch = (who: Who, project: string, operation: string, ...objects: readonly unknown[]) =>
    as(who, project, 'POST', 'objects/batch', { operation, transfers: ['basic'], objects });
  /** Follows an action of an answer. */
  const act = (
    action: { href: string; header?: Record<string, string> },
    method: string,
    body?: Uint8Array<ArrayBuffer> | string,
  ) =>
    fetch(action.href, {
      method,
      headers: { ...action.header, ...(typeof body === 'string' ? { 'Content-Type': TYPE } : {}) },
      ...(body === undefined ? {} : { body }),
    });
  return {
    ask,
    as,
    batch,
    act,
    /** Uploads an object in the three steps of a client. @returns their statuses */
    async upload(who: Who, project: string, bytes: Buffer): Promise<number[]> {
      const pointer = pointerTo(bytes);
      const { status, body } = await batch(who, project, 'upload', pointer);
      const { actions, error } = body?.objects?.[0] ?? {};
      if (actions === undefined) return [status, ...(error === undefined ? [] : [error.code])];
      const put = await act(actions.upload, 'PUT', new Uint8Array(bytes));
      const verified = await act(actions.verify, 'POST', JSON.stringify(pointer));
      return [status, put.status, verified.status];
    },
    /** The bytes of an object, or the status of why not. */
    async download(who: Who, project: string, pointer: Pointer): Promise<Buffer | number> {
      const { status, body } = await batch(who, project, 'download', pointer);
      const { actions, error } = body?.objects?.[0] ?? {};
      if (actions === undefined) return error?.code ?? status;
      const got = await act(actions.download, 'GET');
      return got.ok ? Buffer.from(await got.arrayBuffer()) : got.status;
    },
  };
}
