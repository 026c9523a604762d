/** Regular expressions in settings. */
import { PatternError, type PatternOptions, userPattern } from '../../regexp/user-pattern.ts';

/** Validates a pattern. Returns an error message without its subject. */
export async function patternProblem(source: string, options: PatternOptions): Promise<string | undefined> {
  try {
    await userPattern(source, options);
    return undefined;
  } catch (error) {
    if (error instanceof PatternError) return `not valid RE2 syntax: ${error.message}`;
    throw error;
  }
}
