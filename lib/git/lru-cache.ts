/** Values by their keys. Of those that are too many, or too large together, the least recently used are dropped. */
export class LruCache<V> {
  readonly #held = new Map<string, V>();
  readonly #sizeOf: ((value: V) => number) | undefined;
  readonly #maxSize: number;
  readonly #maxCount: number;

  /** @param options.sizeOf may grow while the value is held: it counts anew at each use of any */
  constructor({
    sizeOf,
    maxSize = 0,
    maxCount = Number.POSITIVE_INFINITY,
  }: {
    readonly sizeOf?: (value: V) => number;
    readonly maxSize?: number;
    readonly maxCount?: number;
  }) {
    this.#sizeOf = sizeOf;
    this.#maxSize = maxSize;
    this.#maxCount = maxCount;
  }

  /** Of all values together. */
  get size(): number {
    let size = 0;
    if (this.#sizeOf !== undefined) for (const value of this.#held.values()) size += this.#sizeOf(value);
    return size;
  }

  get(key: string): V | undefined {
    return this.#held.get(key);
  }

  /** Holds the value as the one used last, and drops others. */
  use(key: string, value: V): V {
    this.#held.delete(key);
    this.#held.set(key, value);
    let size = this.size;
    for (const [oldest, other] of this.#held) {
      if ((size <= this.#maxSize && this.#held.size <= this.#maxCount) || oldest === key) break;
      this.#held.delete(oldest);
      size -= this.#sizeOf?.(other) ?? 0;
    }
    return value;
  }
}
