import type { Grantees } from '../../domain/project-relations/grantees.ts';
import type { TagProtection } from '../../domain/refs/protection.ts';
import type { TagRecord } from '../../domain/tags/tags.ts';
import type { TagRule } from '../../records/refs.ts';
import type { ReleaseRecord } from '../../records/releases.ts';
import { accessLevels } from '../branches/present.ts';
import { commitBasic } from '../commits/present.ts';

/** @param release that of the tag, if it has one */
export function tag(
  record: TagRecord,
  projectUrl: string,
  protection: TagProtection,
  release: ReleaseRecord | undefined,
) {
  return {
    name: record.name,
    message: record.message,
    target: record.target,
    commit: commitBasic(record.commit, projectUrl),
    release: release === undefined ? null : tagRelease(release),
    protected: protection.isProtected(record.name),
  };
}

export const tagRelease = ({ tag, description }: ReleaseRecord) => ({ tag_name: tag, description });

/** A rule that protects tags, as responses show it. */
export const protectedTag = (rule: TagRule, grantees: Grantees) => ({
  name: rule.name,
  create_access_levels: accessLevels(rule.create, grantees),
});
