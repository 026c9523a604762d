/**
 * Paths of attributes, as patches and filters name them (RFC 7644, 3.5.2 and 3.4.2.2): `name.givenName`,
 * `emails[type eq "work"].value`. Names are compared without case (RFC 7643, 2.1) and are in lower case here.
 */

/** A syntax error in a path or comparison. */
export class NotReadable extends Error {
  override readonly name = 'NotReadable';
}

export interface AttributePath {
  /** `emails`; with the URN of its schema when that is another than the user's. */
  readonly attribute: string;
  /** Filter of the values: all comparisons must hold. */
  readonly where?: readonly Comparison[];
  /** `value` */
  readonly sub?: string;
}

/** Always `eq`. */
export interface Comparison {
  readonly path: AttributePath;
  readonly value: string | number | boolean | null;
}

const CORE = 'urn:ietf:params:scim:schemas:core:2.0:user:';
/** Maximum length of a path or filter. */
const LONGEST = 1000;
const MAX_COMPARISONS = 10;

/** @throws NotReadable */
export function parsePath(text: string): AttributePath {
  const reader = new Reader(text);
  const path = reader.path(true);
  reader.end();
  return path;
}

/** Parses comparisons joined by `and`; only equality is supported. @throws NotReadable */
export function parseComparisons(text: string): readonly Comparison[] {
  const reader = new Reader(text);
  const comparisons = reader.comparisons(true);
  reader.end();
  return comparisons;
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    if (text.length > LONGEST) throw new NotReadable('is too long');
    this.#text = text.trim();
  }

  /** @param filtered whether a filter may choose among values: not inside a filter */
  path(filtered: boolean): AttributePath {
    const name = this.#take(/[A-Za-z][\w:.$-]*/y, 'an attribute is expected').toLowerCase();
    const { attribute, sub } = split(name);
    if (!filtered || !this.#has('[')) return sub === undefined ? { attribute } : { attribute, sub };
    if (sub !== undefined) throw this.#wrong('a filter must follow an attribute');
    const where = this.comparisons(false);
    if (!this.#has(']')) throw this.#wrong('`]` is expected');
    if (!this.#has('.')) return { attribute, where };
    return {
      attribute,
      where,
      sub: this.#take(/[A-Za-z][\w$-]*/y, 'an attribute is expected').toLowerCase(),
    };
  }

  /** @param filtered as for `path` */
  comparisons(filtered: boolean): Comparison[] {
    const all = [];
    do {
      this.#space();
      all.push(this.#comparison(filtered));
      if (all.length > MAX_COMPARISONS) throw this.#wrong('too many comparisons');
      this.#space();
    } while (this.#word(/and(?=\s)/iy) !== undefined);
    return all;
  }

  #comparison(filtered: boolean): Comparison {
    const path = this.path(filtered);
    this.#space();
    const operator = this.#take(/[A-Za-z]+/y, 'an operator is expected');
    if (operator.toLowerCase() !== 'eq') throw this.#wrong(`the operator ${operator} is not supported`);
    this.#space();
    const value = this.#take(/"(?:[^"\\]|\\.)*"|[\w.+-]+/y, 'a value is expected');
    try {
      // Some clients send `True`.
      const text = value.startsWith('"') ? value : value.toLowerCase();
      return { path, value: JSON.parse(text) as Comparison['value'] };
    } catch {
      throw this.#wrong(`${value} is not a value`);
    }
  }

  end(): void {
    this.#space();
    if (this.#at < this.#text.length) throw this.#wrong('unexpected text at the end');
  }

  #space(): void {
    this.#word(/\s+/y);
  }

  #has(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #take(pattern: RegExp, missing: string): string {
    const word = this.#word(pattern);
    if (word === undefined) throw this.#wrong(missing);
    return word;
  }

  #word(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const word = pattern.exec(this.#text)?.[0];
    this.#at += word?.length ?? 0;
    return word;
  }

  #wrong(what: string): NotReadable {
    return new NotReadable(`${what} at position ${this.#at + 1}`);
  }
}

/** The URN of a schema contains dots: `urn:...:2.0:User:name.givenName`. */
function split(name: string): { attribute: string; sub?: string } {
  const own = name.startsWith(CORE) ? name.slice(CORE.length) : name;
  const colon = own.lastIndexOf(':');
  const [attribute = '', sub, ...more] = own.slice(colon + 1).split('.');
  if (attribute === '' || sub === '' || more.length > 0) throw new NotReadable(`${name} is not an attribute`);
  const whole = own.slice(0, colon + 1) + attribute;
  return sub === undefined ? { attribute: whole } : { attribute: whole, sub };
}
