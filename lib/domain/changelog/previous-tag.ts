import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Oid } from '../../git/oid.ts';
import type { Ref } from '../../git/ports.ts';
import { shortName } from '../../git/refname.ts';
import type { GitRepository } from '../../git/repository.ts';
import { MAX_TEXT, type UserPattern } from '../../regexp/user-pattern.ts';
import { changelogFailure } from './failure.ts';
import { compareVersions, parseVersion, type Version } from './version.ts';

/** Maximum time to match the names of all tags, and how long it may block the event loop. */
const MATCHING_MS = 10_000;
const YIELD_AFTER_MS = 20;

/**
 * Returns the commit of the last stable release before a version, by tag names. For a pre-release, it is the one before
 * the corresponding release.
 *
 * @throws 422 if there is none
 */
export async function previousRelease(
  git: GitRepository,
  version: Version,
  pattern: UserPattern | undefined,
): Promise<Oid> {
  const target: Version = { ...version, pre: [] };
  const earlier: { readonly ref: Ref; readonly version: Version }[] = [];
  const { refs } = await git.tags();
  let spent = 0;
  let began = performance.now();
  for (const ref of refs) {
    const since = performance.now() - began;
    if (since > YIELD_AFTER_MS) {
      spent += since;
      if (spent > MATCHING_MS) throw changelogFailure('the tags are too many for the regular expression');
      await yieldToEventLoop();
      began = performance.now();
    }
    const name = shortName(ref.name);
    const released = pattern === undefined ? stable(parseVersion(name)) : versionBy(pattern, name);
    if (released !== undefined && compareVersions(released, target) < 0)
      earlier.push({ ref, version: released });
  }
  // Of several tags of one version the last by name wins; tags of other objects than commits are skipped.
  earlier.reverse();
  earlier.sort((a, b) => compareVersions(b.version, a.version));
  for (const { ref } of earlier) {
    const [tip] = await git.tips([ref]);
    if (tip !== undefined) return tip.commit.oid;
  }
  throw changelogFailure(
    'The commit start range is unspecified, and no previous tag could be found to use instead',
  );
}

const stable = (version: Version | undefined): Version | undefined =>
  version?.pre.length === 0 ? version : undefined;

/** The version from the groups `major`, `minor` and `patch`; with a group `pre` it is not stable. */
function versionBy(pattern: UserPattern, tag: string): Version | undefined {
  // Too long for a version.
  if (tag.length > MAX_TEXT) return undefined;
  const groups = pattern.find(tag);
  const [major, minor, patch] = ['major', 'minor', 'patch'].map((name) => groups?.get(name) ?? '');
  if (groups === undefined || groups.has('pre') || !major || !minor || !patch) return undefined;
  return { numbers: [major, minor, patch], pre: [], meta: groups.get('meta') ?? '' };
}
