import { setImmediate as breathe } from 'node:timers/promises';
import type { Oid } from '../../git/oid.ts';
import type { Ref } from '../../git/ports.ts';
import { shortName } from '../../git/refname.ts';
import type { GitRepository } from '../../git/repository.ts';
import { changelogFailure } from './failure.ts';
import type { LinearRegExp } from './linear-regexp.ts';
import { compareVersions, parseVersion, type Version } from './version.ts';

/** Steps of a pattern over all tags, about five seconds; and between two breaths. */
const MAX_STEPS = 100_000_000;
const BREATH = 1_000_000;

/**
 * The commit of the last stable release before a version, by the names of tags. Of a pre-release it is the one before
 * what it leads to.
 *
 * @throws 422 when there is none
 */
export async function previousRelease(
  git: GitRepository,
  version: Version,
  pattern: LinearRegExp | undefined,
): Promise<Oid> {
  const wanted: Version = { ...version, pre: [] };
  const earlier: { readonly ref: Ref; readonly version: Version }[] = [];
  let [steps, since] = [0, 0];
  for (const ref of (await git.tags()).refs) {
    const name = shortName(ref.name);
    const cost = (pattern?.cost ?? 1) * (name.length + 1);
    steps += cost;
    since += cost;
    if (steps > MAX_STEPS) throw changelogFailure('the tags are too many for the regular expression');
    if (since > BREATH) {
      since = 0;
      await breathe();
    }
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
function versionBy(pattern: LinearRegExp, tag: string): Version | undefined {
  const groups = pattern.exec(tag);
  const [major, minor, patch] = ['major', 'minor', 'patch'].map((name) => groups?.get(name) ?? '');
  if (groups === undefined || groups.has('pre') || !major || !minor || !patch) return undefined;
  return { numbers: [major, minor, patch], pre: [], meta: groups.get('meta') ?? '' };
}
