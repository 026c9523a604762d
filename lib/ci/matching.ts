/** The patterns of one configuration: each is compiled once, and all that they are compared with is counted. */
import { setImmediate as turn } from 'node:timers/promises';
import { PatternError, type UserPattern, userPattern } from '../regexp/user-pattern.ts';
import { pathPattern } from './glob.ts';

/** Comparisons of paths with patterns for one configuration; beyond, every condition on files holds. */
const MAX_COMPARISONS = 1_000_000;
/** Comparisons or rules between two turns of the event loop. */
const AT_ONCE = 200;

export class Matching {
  readonly #compiled = new Map<string, Promise<UserPattern | undefined>>();
  #steps = 0;
  #comparisons = 0;

  /** The pattern of a text such as `/^v\d+/i`; undefined for one that is none. */
  pattern(literal: string): Promise<UserPattern | undefined> {
    return this.#once(`pattern ${literal}`, () => patternOf(literal));
  }

  /** Those of the patterns of paths that are patterns. */
  async globs(globs: readonly string[]): Promise<readonly UserPattern[]> {
    const compiled = await Promise.all(
      globs.map((glob) => this.#once(`glob ${glob}`, () => pathPattern(glob))),
    );
    return compiled.filter((pattern) => pattern !== undefined);
  }

  /** Whether any path fits any pattern. @param most comparisons; beyond, it does */
  async some(
    paths: readonly string[],
    patterns: readonly UserPattern[],
    most = MAX_COMPARISONS,
  ): Promise<boolean> {
    let compared = 0;
    for (const path of paths) {
      compared += patterns.length;
      this.#comparisons += patterns.length;
      if (compared > most || this.#comparisons > MAX_COMPARISONS) return true;
      await this.step(patterns.length);
      if (patterns.some((pattern) => pattern.matches(path))) return true;
    }
    return false;
  }

  /** Lets other work run from time to time. */
  async step(steps = 1): Promise<void> {
    this.#steps += steps;
    if (this.#steps < AT_ONCE) return;
    this.#steps = 0;
    await turn();
  }

  #once(key: string, compile: () => Promise<UserPattern | undefined>): Promise<UserPattern | undefined> {
    let compiled = this.#compiled.get(key);
    if (compiled === undefined) {
      compiled = compile();
      this.#compiled.set(key, compiled);
    }
    return compiled;
  }
}

const LITERAL = /^\/((?:\\.|[^/\\]|\/(?=.*\/[ismU]*$))+)\/([ismU]*)$/s;

async function patternOf(literal: string): Promise<UserPattern | undefined> {
  const [, source, flags = ''] = LITERAL.exec(literal) ?? [];
  if (source === undefined) return undefined;
  // A slash needs no backslash here, and has one where the literal ends with a slash.
  const bare = source.replace(/\\\//g, '/');
  try {
    return await userPattern(flags === '' ? bare : `(?${[...new Set(flags)].join('')})${bare}`);
  } catch (error) {
    if (error instanceof PatternError) return undefined;
    throw error;
  }
}
