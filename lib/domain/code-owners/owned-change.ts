/** Changes of a branch that its code owners have to approve in a merge request first. */

import type { Oid } from '../../git/oid.ts';
import type { GitRepository } from '../../git/repository.ts';
import { LimitExceeded } from '../../git/work.ts';
import { changedPaths, entriesFor, type MadeCommit, ownersFile } from './read.ts';

/** Patterns that a refusal tells, and how much of each. */
const MAX_TOLD = 20;
const MAX_TOLD_PATTERN = 100;

export interface DirectChange {
  /** Paths that are changed. */
  readonly paths?: readonly string[];
  /** What the branch becomes: what differs from its tip is changed too. */
  readonly to?: MadeCommit | undefined;
}

/**
 * Why a branch may not be changed directly, in one line; undefined: nothing that is changed has code owners by the
 * CODEOWNERS that the branch has.
 */
export async function ownedChangeRefusal(
  git: GitRepository,
  tip: Oid,
  { paths = [], to }: DirectChange,
): Promise<string | undefined> {
  try {
    const file = await ownersFile(git, tip);
    if (file === undefined) return undefined;
    const more = to === undefined ? [] : await changedPaths(git, tip, to);
    const found = await entriesFor(file, [...paths, ...more]);
    if (found.length === 0) return undefined;
    const patterns = found.slice(0, MAX_TOLD).map(({ entry }) => `- ${told(entry.pattern)}`);
    return (
      `Pushes to protected branches that contain changes to files that match patterns defined in \`${file.path}\` ` +
      'are disabled for this project. Please submit these changes via a merge request. ' +
      `The following pattern(s) from \`${file.path}\` were matched: ${patterns.join(' ')}`
    );
  } catch (error) {
    if (!(error instanceof LimitExceeded)) throw error;
    return `Code owners of what is changed cannot be found: ${error.message}. Please submit these changes via a merge request.`;
  }
}

const told = (pattern: string): string =>
  pattern
    .replaceAll(/\p{Cc}/gu, ' ')
    .slice(0, MAX_TOLD_PATTERN)
    .toWellFormed();
