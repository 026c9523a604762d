/** Regular expressions of administrators, searched in time that does not depend on what they are. */
import { LinearRegExp } from '../changelog/linear-regexp.ts';

/** What is wrong with a pattern. */
export function linearPatternProblem(pattern: string): string | undefined {
  try {
    new LinearRegExp(pattern);
    return undefined;
  } catch (error) {
    return `not valid RE2 syntax: ${(error as Error).message}`;
  }
}
