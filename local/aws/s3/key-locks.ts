/** Serializes the commits to one key; different keys do not wait for each other. */
export class KeyLocks {
  readonly #tails = new Map<string, Promise<unknown>>();
  readonly #conditional = new Map<string, { writers: number; deletions: number }>();

  async hold<T>(key: string, action: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    const result = (before ?? Promise.resolve()).then(action, action);
    const tail = result.catch(() => {});
    this.#tails.set(key, tail);
    try {
      return await result;
    } finally {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    }
  }

  /**
   * Registers a conditional write, from its start to its end. S3 answers it with 409 when a deletion of the same key
   * succeeds meanwhile.
   */
  beginConditional(key: string): { overtaken(): boolean; end(): void } {
    const entry = this.#conditional.get(key) ?? { writers: 0, deletions: 0 };
    this.#conditional.set(key, entry);
    entry.writers++;
    const { deletions } = entry;
    return {
      overtaken: () => entry.deletions !== deletions,
      end: () => {
        if (--entry.writers === 0) this.#conditional.delete(key);
      },
    };
  }

  /** Records a deletion. */
  deleted(key: string): void {
    const entry = this.#conditional.get(key);
    if (entry !== undefined) entry.deletions++;
  }
}
