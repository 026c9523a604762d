import { openGit } from '../access/git-access.ts';
import type { Credential, Origin } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../errors.ts';
import type { Admission } from '../rate-limits/request-counting.ts';

/** Segments of the longest path of a project: 20 groups and the project. */
const MAX_SEGMENTS = 21;

/**
 * How many of a package path's segments name the project that contains it. Where the caller may read no such project,
 * two, as if it were in a top-level group: that tells nothing about what exists.
 */
export async function projectSegments(
  deps: Deps,
  segments: readonly string[],
  caller: {
    readonly credential: Credential;
    readonly origin: Origin;
    readonly admission?: Admission | undefined;
  },
): Promise<number> {
  const lengths = Array.from({ length: Math.min(segments.length, MAX_SEGMENTS) - 1 }, (_, i) => i + 2);
  const found = await Promise.all(
    lengths.map((length) => deps.store.projects.byPath(segments.slice(0, length).join('/'))),
  );
  const length = lengths[found.findIndex((project) => project !== undefined)];
  if (length === undefined) return 2;
  const { credential, origin, admission } = caller;
  const fullPath = segments.slice(0, length).join('/');
  try {
    await openGit(deps, { credential, fullPath, purpose: 'read', origin, ...(admission && { admission }) });
    return length;
  } catch (error) {
    if (error instanceof DomainError) return 2;
    throw error;
  }
}
