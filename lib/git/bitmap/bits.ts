/** A fixed-size set of small numbers, one bit each. */
export class Bits {
  /** Number of bits. */
  readonly size: number;
  /** 32 bits each, the lowest first; an even number of words, because compressed bitmaps have 64-bit words. */
  readonly words: Uint32Array<ArrayBuffer>;

  constructor(size: number, words = new Uint32Array(2 * Math.ceil(size / 64))) {
    this.size = size;
    this.words = words;
  }

  has(i: number): boolean {
    return (this.words[i >>> 5]! & (1 << (i & 31))) !== 0;
  }

  /** @returns whether it is new */
  add(i: number): boolean {
    const word = this.words[i >>> 5]!;
    const bit = 1 << (i & 31);
    if ((word & bit) !== 0) return false;
    this.words[i >>> 5] = word | bit;
    return true;
  }

  /** Adds all numbers of `other`, which has the same size. */
  addAll(other: Bits): void {
    const { words } = this;
    const more = other.words;
    for (let i = 0; i < words.length; i++) words[i]! |= more[i]!;
  }

  /** Removes all numbers of `other`, which has the same size. */
  removeAll(other: Bits): void {
    const { words } = this;
    const less = other.words;
    for (let i = 0; i < words.length; i++) words[i]! &= ~less[i]!;
  }

  /** Whether a number is also in `other`, which has the same size. */
  meets(other: Bits): boolean {
    return this.words.some((word, i) => (word & other.words[i]!) !== 0);
  }

  /** The numbers that are in exactly one of the two. */
  xor(other: Bits): Bits {
    const { words } = this.copy();
    for (let i = 0; i < words.length; i++) words[i]! ^= other.words[i]!;
    return new Bits(this.size, words);
  }

  copy(): Bits {
    return new Bits(this.size, this.words.slice());
  }

  /** How many numbers are in the set, from `from` (inclusive) to `to` (exclusive). */
  count(from = 0, to = this.size): number {
    let count = 0;
    const last = (to - 1) >>> 5;
    for (let w = from >>> 5; to > from && w <= last; w++) {
      let word = this.words[w]!;
      if (w === from >>> 5) word &= -1 << (from & 31);
      if (w === last) word &= -1 >>> (31 - ((to - 1) & 31));
      count += ones(word);
    }
    return count;
  }

  /** Calls `visit` with each number, in ascending order. */
  forEach(visit: (i: number) => void): void {
    const { words } = this;
    for (let w = 0; w < words.length; w++) {
      for (let word = words[w]!; word !== 0; word &= word - 1) visit(32 * w + 31 - Math.clz32(word & -word));
    }
  }
}

function ones(word: number): number {
  let n = word - ((word >>> 1) & 0x55555555);
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333);
  return Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
