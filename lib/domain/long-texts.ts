import { bytesOf, type LongText, type StoredText } from '../records/texts.ts';
import { StoreError } from '../store/errors.ts';
import { MAINTENANCE, messageAt, outboxWrite } from '../store/outbox/outbox.ts';
import type { Deps } from './deps.ts';
import { DomainError, tooLarge } from './errors.ts';

/**
 * Maximum length of the texts of one answer, in bytes of UTF-8: as much as several of the longest. A function has 512 MB
 * of memory, and holds each text several times while it makes the answer.
 */
const MAX_ANSWERED_TEXT = 20_000_000;

/** Reads stored texts, in the order given. @throws 413 when they are too long together for one answer */
export function textsOf(deps: Deps, texts: readonly StoredText[]): Promise<string[]> {
  const bytes = texts.reduce((sum, text) => sum + bytesOf(text), 0);
  if (bytes > MAX_ANSWERED_TEXT)
    throw tooLarge('413 The texts of this page are too long together: ask for fewer with per_page');
  return deps.store.texts.readMany(texts);
}

/** Runs the write that names a kept text. The text is deleted when that was refused. */
export async function naming<T>(deps: Deps, kept: StoredText, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    await dropRefused(deps, kept, error);
    throw error;
  }
}

/** Deletes a text whose write was refused. It stays where the write may have happened. @param error of the write */
export async function dropRefused(
  { store }: Deps,
  kept: StoredText | null | undefined,
  error: unknown,
): Promise<void> {
  const isRefusal =
    error instanceof DomainError || (error instanceof StoreError && error.code !== 'unavailable');
  if (isRefusal) await store.texts.drop(kept);
}

/** Deletes texts that no row names any more: `{ texts }`. */
export const DROP_TEXTS_JOB = 'texts.drop';

/** Milliseconds for which a replaced text stays: for those who read its row before. More than a request may take. */
const READ_OUT = 10 * 60_000;

/** For texts that no row names any more, after the write that replaced them: they are deleted some minutes later. */
export async function dropReplaced(
  deps: Deps,
  ...replaced: readonly (StoredText | null | undefined)[]
): Promise<void> {
  const texts = replaced.filter((text): text is LongText => typeof text === 'object' && text !== null);
  if (texts.length === 0) return;
  const at = new Date(deps.now().getTime() + READ_OUT);
  const message = messageAt(MAINTENANCE, DROP_TEXTS_JOB, { texts }, at);
  // What replaced them is written: without the message they stay until their project goes.
  await deps.store.table.put(outboxWrite(message)).catch(() => {});
}
