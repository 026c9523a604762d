import { setImmediate as breathe } from 'node:timers/promises';
import type { Oid } from '../../git/oid.ts';
import type { Ref } from '../../git/ports.ts';
import { shortName } from '../../git/refname.ts';
import type { GitRepository } from '../../git/repository.ts';
import { MAX_TEXT, type UserPattern } from '../../regexp/user-pattern.ts';
import { changelogFailure } from './failure.ts';
import { compareVersions, parseVersion, type Version } from './version.ts';

/** Time that the names of all tags may take, and how much of it other requests wait for at once. */
const MATCHING_MS = 10_000;
const BREATH_MS = 20;

/**
 * The commit of the last stable release before a version, by the names of tags. Of a pre-release it is the one before
 * what it leads to.
 *
 * @throws 422 when there is none
 */
export async function previousRelease(
  git: GitRepository,
  version: Version,
  pattern: UserPattern | undefined,
): Promise<Oid> {
  const wanted: Version = { ...version, pre: [] };
  const earlier: { readonly ref: Ref; readonly version: Version }[] = [];
  const { refs } = await git.tags();
  let spent = 0;
  let began = performance.now();
  for (const ref of refs) {
    const since = performance.now() - began;
    if (since > BREATH_MS) {
      spent += since;
      if (spent > MATCHING_MS) throw changelogFailure('the tags are too many for the regular expression');
      await breathe();
      began = performance.now();
    }
    const name = shortName(ref.name);
    const released = pattern === undefined ? stable(parseVersion(name)) : versionBy(pattern, name);
    if (released !== undefined && compareVersions(released, wanted) < 0)
      earlier.push({ ref, version: released });
  }
  // Of tags of one version, the last by name; a tag that leads to no commit is none.
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

/** The groups `major`, `minor` and `patch` make a version; with `pre` it is no stable one. */
function versionBy(pattern: UserPattern, tag: string): Version | undefined {
  // No version is that long.
  if (tag.length > MAX_TEXT) return undefined;
  const groups = pattern.find(tag);
  const [major, minor, patch] = ['major', 'minor', 'patch'].map((name) => groups?.get(name) ?? '');
  if (groups === undefined || groups.has('pre') || !major || !minor || !patch) return undefined;
  return { numbers: [major, minor, patch], pre: [], meta: groups.get('meta') ?? '' };
}
