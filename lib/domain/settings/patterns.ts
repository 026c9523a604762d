/** Regular expressions in settings. They are matched in linear time, whatever the expression. */
import { LinearRegExp } from '../changelog/linear-regexp.ts';

/** Validates a pattern. Returns an error message without its subject. */
export function linearPatternProblem(pattern: string): string | undefined {
  try {
    new LinearRegExp(pattern);
    return undefined;
  } catch (error) {
    return `not valid RE2 syntax: ${(error as Error).message}`;
  }
}
