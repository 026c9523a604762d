/** Which entries of CODEOWNERS are for the files that a change touches. */

import type { MatchWork } from '../../git/archive/pattern.ts';
import { Effort, LimitExceeded, type Steps } from '../../git/work.ts';
import type { OwnersEntry, OwnersSection } from './parse.ts';

/** Patterns tried and characters compared: a second or two. */
const MAX_STEPS = 10_000_000;
/** Git itself has no use for longer ones. */
const MAX_PATH = 4_096;

export interface MatchedEntry {
  readonly section: OwnersSection;
  readonly entry: OwnersEntry;
}

/**
 * The entries that the paths match, in the order of the file: in each section the last one that matches counts for a
 * path. One that names no owner leaves its files without.
 * @throws LimitExceeded
 */
export function* matchedEntries(
  sections: readonly OwnersSection[],
  paths: readonly string[],
): Steps<MatchedEntry[]> {
  const work: MatchWork = { steps: 0 };
  const effort = new Effort();
  const found = new Set<OwnersEntry>();
  for (const path of paths) {
    if (path.length > MAX_PATH) throw new LimitExceeded('a path is too long to find its code owners');
    for (const section of sections) {
      for (let i = section.entries.length - 1; i >= 0; i--) {
        const entry = section.entries[i]!;
        const before = work.steps++;
        const matches = entry.matches(path, false, work);
        if (effort.spend(10 * (work.steps - before))) yield;
        if (work.steps > MAX_STEPS) throw new LimitExceeded('too many files are changed to find code owners');
        if (!matches) continue;
        if (entry.names.length + entry.addresses.length > 0) found.add(entry);
        break;
      }
    }
  }
  return sections.flatMap((section) =>
    section.entries.flatMap((entry) => (found.has(entry) ? { section, entry } : [])),
  );
}
