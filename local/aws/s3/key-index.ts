/** The keys of a bucket in S3's listing order: by their UTF-8 bytes. */
export class KeyIndex {
  #keys: string[];

  constructor(keys: Iterable<string>) {
    this.#keys = [...keys];
    // The default order is by UTF-16 unit, which differs only for surrogates.
    if (this.#keys.some((key) => /[\ud800-\udfff]/.test(key))) this.#keys.sort(compareUtf8);
    else this.#keys.sort();
  }

  get size(): number {
    return this.#keys.length;
  }

  add(key: string): void {
    const at = this.#firstWhere((other) => compareUtf8(other, key) >= 0);
    if (this.#keys[at] !== key) this.#keys.splice(at, 0, key);
  }

  delete(key: string): void {
    const at = this.#firstWhere((other) => compareUtf8(other, key) >= 0);
    if (this.#keys[at] === key) this.#keys.splice(at, 1);
  }

  /** One page. Costs a binary search per entry, regardless of how many keys a common prefix groups. */
  list({ prefix, delimiter, after, limit }: ListQuery): ListPage {
    const page: ListPage = { entries: [], truncated: false };
    let at = this.#firstWhere((key) => compareUtf8(key, after) > 0 && compareUtf8(key, prefix) >= 0);
    // A page that ended with a common prefix continues after all keys of that group.
    if (delimiter !== '' && after.startsWith(prefix)) {
      const group = commonPrefix(after, prefix, delimiter);
      if (group === after) at = this.#afterGroup(group);
    }
    for (;;) {
      const key = this.#keys[at];
      if (key === undefined || !key.startsWith(prefix)) return page;
      if (page.entries.length >= limit) {
        page.truncated = limit > 0;
        return page;
      }
      const group = delimiter === '' ? undefined : commonPrefix(key, prefix, delimiter);
      if (group === undefined) {
        page.entries.push({ key });
        at++;
      } else {
        page.entries.push({ prefix: group });
        at = this.#afterGroup(group);
      }
    }
  }

  #afterGroup(group: string): number {
    return this.#firstWhere((key) => compareUtf8(key, group) > 0 && !key.startsWith(group));
  }

  /** The position of the first key for which `reached` holds; it must hold for all later keys too. */
  #firstWhere(reached: (key: string) => boolean): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (reached(this.#keys[middle]!)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

export interface ListQuery {
  prefix: string;
  /** `''` for none. */
  delimiter: string;
  /** Only entries that sort after this key, or after the common prefix that ended the last page; `''` for all. */
  after: string;
  /** Keys and common prefixes together. */
  limit: number;
}

type ListEntry = { key: string } | { prefix: string };

export interface ListPage {
  entries: ListEntry[];
  truncated: boolean;
}

function commonPrefix(key: string, prefix: string, delimiter: string): string | undefined {
  const end = key.indexOf(delimiter, prefix.length);
  return end === -1 ? undefined : key.slice(0, end + delimiter.length);
}

/** The order of the strings' UTF-8 encodings, which is that of their code points. */
function compareUtf8(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** Surrogates encode code points above all those of a single unit. */
const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);
