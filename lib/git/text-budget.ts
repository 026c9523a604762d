import type { Commit, Tag } from './parse.ts';

/** Characters of one message that is shown: what is longer is cut there. */
export const MAX_MESSAGE = 512 * 1024;
/** Characters of all messages of one answer that are shown whole. */
const MAX_TOTAL = 1024 * 1024;
/** Characters of each message after those. */
const SHORT = 1024;
/** Parents of a commit that are shown. */
const MAX_PARENTS = 500;

/**
 * Cuts the messages of commits and tags to what one answer can hold: a pack of a few kilobytes can hold commits with
 * megabytes of message each. What is cut off is also freed.
 */
export class TextBudget {
  #left = MAX_TOTAL;
  readonly #short: number;

  /** @param short characters of a message once the total is spent */
  constructor(short = SHORT) {
    this.#short = short;
  }

  commit<T extends Commit>(commit: T): T {
    const { message, parents } = commit;
    const length = Math.min(message.length, MAX_MESSAGE);
    const fits = this.#fits(length);
    // Everything of an ordinary commit is kept as it is.
    if (fits && message.length <= SHORT && parents.length <= MAX_PARENTS) return commit;
    const shown = cut(message, fits ? MAX_MESSAGE : this.#short);
    return {
      ...commit,
      message: shown,
      parents: parents.slice(0, MAX_PARENTS),
      extra: [],
      messageBytes: NONE,
    };
  }

  tag<T extends Tag>(tag: T): T {
    const fits = this.#fits(Math.min(tag.message.length, MAX_MESSAGE));
    if (fits && tag.message.length <= SHORT) return tag;
    return {
      ...tag,
      message: cut(tag.message, fits ? MAX_MESSAGE : this.#short),
      extra: [],
      messageBytes: NONE,
    };
  }

  #fits(length: number): boolean {
    if (length > this.#left) return false;
    this.#left -= length;
    return true;
  }
}

const NONE = new Uint8Array(0);

/** A copy, so that the whole text is not kept in memory by its part; never half a character. */
const cut = (text: string, length: number): string =>
  text.length <= length ? text : Buffer.from(text.slice(0, length).toWellFormed()).toString();
