/**
 * Files attached to texts of a project. Each is one object and has no row: its key is made of the project, the secret
 * part of its URL and the name, so only who knows the whole URL finds it. Files are never changed, and go with their
 * project.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Blobs } from '../blobs/blobs.ts';
import { Missing } from '../errors.ts';
import { padded } from '../row-keys/key.ts';

/** All attached files have this prefix in the bucket. */
const ATTACHMENTS = 'attachments/';

export class Uploads {
  readonly #blobs: Blobs;
  constructor(blobs: Blobs) {
    this.#blobs = blobs;
  }

  /** Stores a file. @returns the secret part of its URL, 32 hexadecimal digits. @throws StoreUnavailable */
  async add(projectId: number, name: string, bytes: Uint8Array): Promise<string> {
    const secret = randomBytes(16).toString('hex');
    await this.#blobs.put(keyOf(projectId, secret, name), bytes);
    return secret;
  }

  /** Returns the file of a URL; the stream is to be read or destroyed. */
  async open(
    projectId: number,
    secret: string,
    name: string,
  ): Promise<{ readonly size: number; readonly body: Readable } | undefined> {
    return this.#blobs.open(keyOf(projectId, secret, name)).catch(absent);
  }

  /** Returns the size of the file of a URL. */
  async size(projectId: number, secret: string, name: string): Promise<number | undefined> {
    return (await this.#blobs.head(keyOf(projectId, secret, name)))?.size;
  }

  /** Copies a file to another project, under the same secret and name; one that is not there stays away. Idempotent. */
  async copy(projectId: number, secret: string, name: string, toProjectId: number): Promise<void> {
    const [from, to] = [keyOf(projectId, secret, name), keyOf(toProjectId, secret, name)];
    await this.#blobs.copy(from, to).catch(absent);
  }

  async delete(projectId: number, secret: string, name: string): Promise<void> {
    await this.#blobs.delete([keyOf(projectId, secret, name)]);
  }

  /** Deletes up to 1,000 files of a deleted project. @returns whether any are left */
  async removeOfProject(projectId: number): Promise<boolean> {
    const { keys, more } = await this.#blobs.list(prefixOf(projectId));
    if (keys.length > 0) await this.#blobs.delete(keys);
    return more;
  }
}

const prefixOf = (projectId: number): string => `${ATTACHMENTS}project/${padded(projectId)}/`;

/** The name as a digest: keys contain no text of users. */
const keyOf = (projectId: number, secret: string, name: string): string =>
  `${prefixOf(projectId)}${secret}-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;

function absent(error: unknown): undefined {
  if (!(error instanceof Missing)) throw error;
  return undefined;
}
