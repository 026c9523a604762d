import { describe, expect, test } from 'vitest';
import { DomainError } from '../../../lib/domain/errors.ts';
import { mergeSettingsOf, squashes } from '../../../lib/domain/merge-requests/merge-settings.ts';
import {
  detailedMergeStatus,
  hasConflicts,
  type MergeSituation,
  mergeStatus,
  requireMergeable,
  requireReady,
} from '../../../lib/domain/merge-requests/merge-status.ts';

const HEAD = 'a'.repeat(40);
const TARGET = 'b'.repeat(40);
const OTHER = 'c'.repeat(40);
const verdict = { headSha: HEAD, targetSha: TARGET, mergeable: true, fastForward: true, conflicts: [] };
const ready: MergeSituation = {
  record: {
    state: 'opened',
    title: 'Add a door',
    diff: { headSha: HEAD },
    verdict,
    unresolvedCount: 0,
  },
  settings: mergeSettingsOf({ settings: {} }),
  targetSha: TARGET,
  sourceExists: true,
  rebasing: false,
  pipeline: undefined,
  approved: true,
  checking: false,
};
const withRecord = (more: Partial<MergeSituation['record']>): MergeSituation => ({
  ...ready,
  record: { ...ready.record, ...more },
});
const withSettings = (
  settings: Record<string, unknown>,
  more: Partial<MergeSituation> = {},
): MergeSituation => ({
  ...ready,
  ...more,
  settings: mergeSettingsOf({ settings }),
});
const MUST_PASS = { only_allow_merge_if_pipeline_succeeds: true };
const conflicts = { ...verdict, mergeable: false, conflicts: ['door.txt'] };
const diverged = { ...verdict, fastForward: false };

/** The status of the answer to a merge, as the endpoint checks it. */
function outcome(situation: MergeSituation, demand: Partial<Parameters<typeof requireReady>[1]> = {}) {
  const asked = { mayMerge: true, whenPipelineSucceeds: false, ...demand };
  try {
    const when = requireReady(situation, asked);
    requireMergeable(situation, asked);
    return when;
  } catch (error) {
    if (error instanceof DomainError) return error.code;
    throw error;
  }
}

type Row = [string, MergeSituation, string, string, string, boolean];
const ROWS: Row[] = [
  ['ready', ready, 'mergeable', 'can_be_merged', 'now', false],
  ['closed', withRecord({ state: 'closed' }), 'not_open', 'can_be_merged', 'method-not-allowed', false],
  [
    'merged',
    withRecord({ state: 'merged', verdict: null }),
    'not_open',
    'can_be_merged',
    'method-not-allowed',
    false,
  ],
  [
    'a draft',
    withRecord({ title: 'Draft: door' }),
    'draft_status',
    'can_be_merged',
    'method-not-allowed',
    false,
  ],
  [
    'without a target',
    { ...ready, targetSha: undefined },
    'broken_status',
    'cannot_be_merged',
    'method-not-allowed',
    false,
  ],
  [
    'without a source',
    { ...ready, sourceExists: false },
    'broken_status',
    'can_be_merged',
    'method-not-allowed',
    false,
  ],
  ['unchecked', withRecord({ verdict: null }), 'unchecked', 'unchecked', 'not-acceptable', false],
  [
    'being checked',
    { ...withRecord({ verdict: null }), checking: true },
    'checking',
    'checking',
    'not-acceptable',
    false,
  ],
  [
    'checked for another head',
    withRecord({ verdict: { ...conflicts, headSha: OTHER } }),
    'unchecked',
    'unchecked',
    'not-acceptable',
    false,
  ],
  [
    'checked for another target',
    withRecord({ verdict: { ...conflicts, targetSha: OTHER } }),
    'unchecked',
    'unchecked',
    'not-acceptable',
    false,
  ],
  ['in conflict', withRecord({ verdict: conflicts }), 'conflict', 'cannot_be_merged', 'not-acceptable', true],
  [
    'without commits',
    withRecord({ verdict: { ...verdict, mergeable: false } }),
    'broken_status',
    'cannot_be_merged',
    'not-acceptable',
    false,
  ],
  [
    'diverged, by merge commits',
    withRecord({ verdict: diverged }),
    'mergeable',
    'can_be_merged',
    'now',
    false,
  ],
  [
    'diverged, by fast-forward',
    { ...withRecord({ verdict: diverged }), settings: mergeSettingsOf({ settings: { merge_method: 'ff' } }) },
    'need_rebase',
    'can_be_merged',
    'not-acceptable',
    false,
  ],
  [
    'diverged, by half-linear history',
    {
      ...withRecord({ verdict: diverged }),
      settings: mergeSettingsOf({ settings: { merge_method: 'rebase_merge' } }),
    },
    'need_rebase',
    'can_be_merged',
    'not-acceptable',
    false,
  ],
  [
    'not diverged, by fast-forward',
    withSettings({ merge_method: 'ff' }),
    'mergeable',
    'can_be_merged',
    'now',
    false,
  ],
  ['with open discussions', withRecord({ unresolvedCount: 1 }), 'mergeable', 'can_be_merged', 'now', false],
  [
    'with open discussions that must be resolved',
    {
      ...withRecord({ unresolvedCount: 1 }),
      settings: mergeSettingsOf({ settings: { only_allow_merge_if_all_discussions_are_resolved: true } }),
    },
    'discussions_not_resolved',
    'can_be_merged',
    'method-not-allowed',
    false,
  ],
  ['with a failed pipeline', { ...ready, pipeline: 'failed' }, 'mergeable', 'can_be_merged', 'now', false],
  [
    'with a failed pipeline that must succeed',
    withSettings(MUST_PASS, { pipeline: 'failed' }),
    'ci_must_pass',
    'can_be_merged',
    'method-not-allowed',
    false,
  ],
  [
    'without the pipeline that must succeed',
    withSettings(MUST_PASS),
    'ci_must_pass',
    'can_be_merged',
    'method-not-allowed',
    false,
  ],
  [
    'with a running pipeline that must succeed',
    withSettings(MUST_PASS, { pipeline: 'running' }),
    'ci_still_running',
    'can_be_merged',
    'method-not-allowed',
    false,
  ],
  [
    'with a pipeline that succeeded',
    withSettings(MUST_PASS, { pipeline: 'success' }),
    'mergeable',
    'can_be_merged',
    'now',
    false,
  ],
  [
    'with a skipped pipeline',
    withSettings(MUST_PASS, { pipeline: 'skipped' }),
    'ci_must_pass',
    'can_be_merged',
    'method-not-allowed',
    false,
  ],
  [
    'with a skipped pipeline that suffices',
    withSettings({ ...MUST_PASS, allow_merge_on_skipped_pipeline: true }, { pipeline: 'skipped' }),
    'mergeable',
    'can_be_merged',
    'now',
    false,
  ],
  ['unapproved', { ...ready, approved: false }, 'not_approved', 'can_be_merged', 'method-not-allowed', false],
  ['during a rebase', { ...ready, rebasing: true }, 'checking', 'can_be_merged', 'not-acceptable', false],
];

test.each(ROWS)('a merge request %s is %s', (_, situation, detailed, status, merging, conflicting) => {
  expect(detailedMergeStatus(situation)).toBe(detailed);
  expect(mergeStatus(situation)).toBe(status);
  expect(outcome(situation)).toBe(merging);
  expect(hasConflicts(situation)).toBe(conflicting);
});

describe('the order of checks', () => {
  const worst: MergeSituation = {
    ...withRecord({ title: 'Draft: door', verdict: conflicts }),
    approved: false,
  };
  test('who may not merge is told nothing else', () => {
    expect(outcome(worst, { mayMerge: false, sha: OTHER })).toBe('unauthorized');
  });
  test('one that is not ready is not looked into', () => {
    expect(outcome(worst, { sha: OTHER })).toBe('method-not-allowed');
  });
  test('conflicts come before another head', () => {
    expect(outcome(withRecord({ verdict: conflicts }), { sha: OTHER })).toBe('not-acceptable');
  });
  test('another head is a conflict that names the head', () => {
    expect(() => requireMergeable(ready, { sha: OTHER })).toThrow(
      `SHA does not match HEAD of source branch: ${HEAD}`,
    );
    expect(outcome(ready, { sha: HEAD })).toBe('now');
  });
});

describe('merging when the pipeline succeeds', () => {
  test.each([
    [undefined, 'method-not-allowed'],
    ['pending', 'later'],
    ['running', 'later'],
    ['success', 'now'],
    ['failed', 'method-not-allowed'],
    ['canceled', 'method-not-allowed'],
    ['skipped', 'method-not-allowed'],
  ] as const)('with a pipeline that is %s: %s', (pipeline, expected) => {
    for (const settings of [{}, MUST_PASS])
      expect(outcome(withSettings(settings, { pipeline }), { whenPipelineSucceeds: true })).toBe(expected);
  });
  test('all else is required as for merging at once', () => {
    const asked = { whenPipelineSucceeds: true };
    expect(outcome({ ...ready, pipeline: 'running', approved: false }, asked)).toBe('method-not-allowed');
    expect(outcome({ ...withRecord({ verdict: conflicts }), pipeline: 'running' }, asked)).toBe(
      'not-acceptable',
    );
  });
});

test.each([
  ['never', true, true, false],
  ['always', false, false, true],
  ['default_on', false, null, false],
  ['default_on', false, true, true],
  ['default_off', true, null, true],
  ['default_off', true, false, false],
] as const)('squash_option %s, author %s, merger %s: %s', (squash_option, author, merger, expected) => {
  const settings = mergeSettingsOf({ settings: { squash_option } });
  expect(squashes(settings, { squash: author }, merger)).toBe(expected);
});
