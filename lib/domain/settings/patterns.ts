/** Regular expressions among the settings. */
import { PatternError, userPattern } from '../../regexp/user-pattern.ts';

/** Says what is wrong with a pattern that rules compile with these options. */
export const patternProblem =
  (options: Parameters<typeof userPattern>[1] = {}) =>
  async (pattern: string): Promise<string | undefined> => {
    try {
      await userPattern(pattern, options);
      return undefined;
    } catch (error) {
      if (error instanceof PatternError) return `not valid RE2 syntax: ${error.message}`;
      throw error;
    }
  };
