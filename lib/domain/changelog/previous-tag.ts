import { setImmediate as breathe } from 'node:timers/promises';
import type { Oid } from '../../git/oid.ts';
import type { Ref } from '../../git/ports.ts';
import { shortName } from '../../git/refname.ts';
import type { GitRepository } from '../../git/repository.ts';
import { changelogFailure } from './failure.ts';
import type { Effort, LinearRegExp } from './linear-regexp.ts';
import { compareVersions, parseVersion, type Version } from './version.ts';

/** Steps of a pattern over all tags, some ten seconds; and tags between two breaths. */
const MAX_STEPS = 20_000_000;
const BREATH = 256;

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
  const effort = { steps: MAX_STEPS };
  for (const [i, ref] of (await git.tags()).refs.entries()) {
    if (i % BREATH === BREATH - 1) await breathe();
    if (effort.steps < 0) throw changelogFailure('the tags are too many for the regular expression');
    const name = shortName(ref.name);
    const released = pattern === undefined ? stable(parseVersion(name)) : versionBy(pattern, name, effort);
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
function versionBy(pattern: LinearRegExp, tag: string, effort: Effort): Version | undefined {
  const groups = pattern.exec(tag, effort);
  const [major, minor, patch] = ['major', 'minor', 'patch'].map((name) => groups?.get(name) ?? '');
  if (groups === undefined || groups.has('pre') || !major || !minor || !patch) return undefined;
  return { numbers: [major, minor, patch], pre: [], meta: groups.get('meta') ?? '' };
}
