/**
 * Long texts of issues, notes and the like. A row has at most 400 KB, and a list reads whole rows: a text above
 * {@link MAX_ROW_TEXT} lies in the bucket, and the row names it.
 *
 * The object is written before the transaction that names it. It is deleted some minutes after the one that names it no
 * more, because others may have read the row before. A writer that ends between the two leaves an object that nobody
 * names; it goes with its project.
 */

import { randomUUID } from 'node:crypto';
import type { Container } from '../../records/labels.ts';
import { BEGINNING, type LongText, type StoredText } from '../../records/texts.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { padded } from '../row-keys/key.ts';

/** Bytes of UTF-8. */
export const MAX_ROW_TEXT = 32 * 1024;
/** All texts have this prefix in the bucket. */
export const TEXTS = 'texts/';
/** Texts read at once. */
const CONCURRENT_READS = 10;

export class Texts {
  readonly #blobs: Blobs;
  constructor(blobs: Blobs) {
    this.#blobs = blobs;
  }

  /**
   * Stores a text if it is long.
   * @param owner the project, by its id, or the group that it goes with
   * @returns what the row keeps. @throws StoreUnavailable
   */
  async keep(owner: TextOwner, text: string): Promise<StoredText> {
    const bytes = Buffer.byteLength(text);
    if (bytes <= MAX_ROW_TEXT) return text;
    const blob = `${prefixOf(owner)}${randomUUID()}`;
    await this.#blobs.put(blob, Buffer.from(text), { contentType: 'text/plain; charset=utf-8' });
    return { blob, bytes, beginning: text.slice(0, BEGINNING) };
  }

  async read(text: StoredText): Promise<string> {
    if (typeof text === 'string') return text;
    return Buffer.from(await this.#blobs.read(text.blob, 0, text.bytes)).toString();
  }

  /** Returns the texts in the order given. The caller bounds the sum of their lengths. */
  async readMany(texts: readonly StoredText[]): Promise<string[]> {
    const found = new Array<string>(texts.length);
    let next = 0;
    const worker = async () => {
      for (let index = next++; index < texts.length; index = next++)
        found[index] = await this.read(texts[index]!);
    };
    await Promise.all(Array.from({ length: CONCURRENT_READS }, worker));
    return found;
  }

  /** Deletes texts that no row names any more, or that none came to name. Never fails. */
  async drop(...texts: readonly (StoredText | null | undefined)[]): Promise<void> {
    const long = texts.filter((text): text is LongText => typeof text === 'object' && text !== null);
    if (long.length === 0) return;
    await this.#blobs.delete(long.map(({ blob }) => blob)).catch(() => {});
  }

  /** Deletes up to 1,000 texts of a deleted project or group. @returns whether any are left */
  async removeOf(owner: TextOwner): Promise<boolean> {
    const { keys, more } = await this.#blobs.list(prefixOf(owner));
    if (keys.length > 0) await this.#blobs.delete(keys);
    return more;
  }
}

type TextOwner = number | Container;

function prefixOf(owner: TextOwner): string {
  const { kind, id } = typeof owner === 'number' ? { kind: 'project', id: owner } : owner;
  return `${TEXTS}${kind}/${padded(id)}/`;
}
