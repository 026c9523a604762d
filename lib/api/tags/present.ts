import type { Grantees } from '../../domain/project-relations/grantees.ts';
import type { TagProtection } from '../../domain/refs/protection.ts';
import type { TagRecord } from '../../domain/tags/tags.ts';
import type { TagRule } from '../../records/refs.ts';
import { accessLevels } from '../branches/present.ts';
import { commitBasic } from '../commits/present.ts';

/** `release` is always null: releases do not exist yet. */
export function tag(record: TagRecord, projectUrl: string, protection: TagProtection) {
  return {
    name: record.name,
    message: record.message,
    target: record.target,
    commit: commitBasic(record.commit, projectUrl),
    release: null,
    protected: protection.isProtected(record.name),
  };
}

/** A rule that protects tags, as responses show it. */
export const protectedTag = (rule: TagRule, grantees: Grantees) => ({
  name: rule.name,
  create_access_levels: accessLevels(rule.create, grantees),
});
