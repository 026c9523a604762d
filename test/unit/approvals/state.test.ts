import { describe, expect, test } from 'vitest';
import type { ApprovalSettings } from '../../../lib/domain/approvals/settings.ts';
import {
  type ApprovalInput,
  approvalState,
  approvalsAfterPush,
  type Candidate,
} from '../../../lib/domain/approvals/state.ts';
import type { ApprovalRule } from '../../../lib/records/approvals.ts';

const [AUTHOR, DEV, REPORTER, GUEST, COMMITTER, BLOCKED, GONE] = [1, 2, 3, 4, 5, 6, 7];
const GROUP = 50;
const AT = '2026-01-01T00:00:00.000Z';

const candidate = (userId: number, more: Partial<Candidate> = {}): [number, Candidate] => [
  userId,
  { userId, level: 30, active: true, groupIds: new Set(), committed: false, ...more },
];
const CANDIDATES = new Map([
  candidate(AUTHOR, { level: 50 }),
  candidate(DEV),
  candidate(REPORTER, { level: 20, groupIds: new Set([GROUP]) }),
  candidate(GUEST, { level: 10, groupIds: new Set([GROUP]) }),
  candidate(COMMITTER, { committed: true }),
  candidate(BLOCKED, { active: false }),
]);
const EVERYBODY = [AUTHOR, DEV, REPORTER, GUEST, COMMITTER, BLOCKED, GONE];

const SETTINGS: ApprovalSettings = {
  allow_author_approval: false,
  allow_committer_approval: true,
  allow_overrides_to_approver_list_per_merge_request: true,
  retain_approvals_on_push: false,
  require_password_to_approve: false,
  selective_code_owner_removals: false,
  approvals_before_merge: 0,
};
const rule = (id: number, more: Partial<ApprovalRule>): ApprovalRule => ({
  id,
  name: `rule ${id}`,
  type: 'regular',
  approvalsRequired: 1,
  userIds: [],
  groupIds: [],
  protectedBranchIds: [],
  allProtectedBranches: false,
  sourceRuleId: null,
  createdAt: AT,
  updatedAt: AT,
  ...more,
});
const anybody = (approvalsRequired: number, more: Partial<ApprovalRule> = {}) =>
  rule(9, { type: 'any_approver', approvalsRequired, ...more });

interface Given {
  readonly settings?: Partial<ApprovalSettings>;
  readonly rules?: readonly ApprovalRule[];
  readonly own?: readonly ApprovalRule[];
  readonly owners?: readonly ApprovalRule[];
  readonly by?: readonly number[];
  readonly before?: number | null;
  readonly matching?: readonly number[];
}
const stateOf = ({
  settings,
  rules = [],
  own = [],
  owners = [],
  by = [],
  before = null,
  matching = [],
}: Given) => {
  const input: ApprovalInput = {
    settings: { ...SETTINGS, ...settings },
    rules,
    ownRules: own,
    ownerRules: owners,
    record: {
      author: { id: AUTHOR, username: 'a', name: 'A' },
      approvals: by.map((userId) => ({ userId, at: AT })),
      approvalsBeforeMerge: before,
    },
    target: { matchingIds: new Set(matching), allIds: new Set([71, 72]) },
    candidates: CANDIDATES,
  };
  return approvalState(input);
};
const countsOf = (given: Given) => {
  const { approvalsRequired, approvalsLeft, approved } = stateOf(given);
  return [approvalsRequired, approvalsLeft, approved];
};
const mayApprove = (given: Given) => EVERYBODY.filter((id) => stateOf(given).mayApprove(id));

describe('without rules', () => {
  test('a merge request needs no approval, and Developers may approve it, but its author', () => {
    expect(countsOf({})).toEqual([0, 0, true]);
    expect(stateOf({}).rules).toEqual([]);
    expect(mayApprove({})).toEqual([DEV, COMMITTER]);
  });

  test.each<[string, Given, readonly unknown[]]>([
    [
      'the project asks for two, of anybody',
      { settings: { approvals_before_merge: 2 }, by: [DEV] },
      [2, 1, false],
    ],
    ['both are there', { settings: { approvals_before_merge: 2 }, by: [DEV, COMMITTER] }, [2, 0, true]],
    [
      'more of the merge request count',
      { settings: { approvals_before_merge: 1 }, before: 3 },
      [3, 3, false],
    ],
    ['fewer do not', { settings: { approvals_before_merge: 2 }, before: 1 }, [2, 2, false]],
    ['nor any where the project asks for none', { before: 3 }, [0, 0, true]],
  ])('%s', (_, given, expected) => {
    expect(countsOf(given)).toEqual(expected);
  });
});

describe('whose approval counts', () => {
  test.each<[string, Given, readonly number[]]>([
    ['of anybody: that of Developers', {}, [DEV, COMMITTER]],
    [
      'of the author: by the setting',
      { settings: { allow_author_approval: true } },
      [AUTHOR, DEV, COMMITTER],
    ],
    ['of those who committed: not by the setting', { settings: { allow_committer_approval: false } }, [DEV]],
  ])('%s', (_, given, expected) => {
    const state = stateOf({ ...given, rules: [anybody(1)], by: EVERYBODY });
    expect(state.rules[0]?.approvedBy).toEqual(expected);
    expect(mayApprove({ ...given, rules: [anybody(1)] })).toEqual(expected);
  });

  test('of a rule: that of its users and the members of its groups, from Reporters on', () => {
    const rules = [
      rule(1, { approvalsRequired: 2, userIds: [DEV, BLOCKED, GONE, AUTHOR], groupIds: [GROUP] }),
    ];
    const state = stateOf({ rules, by: EVERYBODY });
    expect(state.rules[0]?.approvedBy).toEqual([DEV, REPORTER]);
    expect(state.approved).toBe(true);
    expect(mayApprove({ rules })).toEqual([DEV, REPORTER, COMMITTER]);
  });

  test('nobody approves twice', () => {
    expect(mayApprove({ by: [DEV] })).toEqual([COMMITTER]);
  });

  test('a rule that nobody can satisfy is not satisfied', () => {
    expect(countsOf({ rules: [rule(1, { userIds: [GONE] })], by: [DEV] })).toEqual([1, 1, false]);
  });

  test('one approval counts for each rule that it fits', () => {
    const rules = [anybody(1), rule(1, { userIds: [DEV] }), rule(2, { userIds: [COMMITTER] })];
    expect(countsOf({ rules, by: [DEV] })).toEqual([3, 1, false]);
  });
});

describe('which rules are in force', () => {
  test.each<[string, Partial<ApprovalRule>, readonly number[], boolean]>([
    ['without branches: everywhere', {}, [], true],
    ['of a protected branch: there', { protectedBranchIds: [71] }, [71], true],
    ['and not on others', { protectedBranchIds: [71] }, [72], false],
    ['of one that is unprotected: everywhere', { protectedBranchIds: [73] }, [], true],
    [
      'of all protected branches: on these',
      { allProtectedBranches: true, protectedBranchIds: [71] },
      [72],
      true,
    ],
    ['and not on others', { allProtectedBranches: true }, [], false],
  ])('a rule %s', (_, more, matching, applies) => {
    const state = stateOf({ rules: [rule(1, { userIds: [DEV], ...more })], matching });
    expect(state.rules).toHaveLength(applies ? 1 : 0);
  });

  test('the rule of a merge request has other approvers than the one that it stands for, and asks for no fewer', () => {
    const rules = [rule(1, { approvalsRequired: 2, userIds: [DEV], protectedBranchIds: [71] })];
    const own = [rule(2, { sourceRuleId: 1, approvalsRequired: 0, userIds: [COMMITTER] })];
    const state = stateOf({ rules, own, by: [DEV, COMMITTER], matching: [71] });
    expect(state).toMatchObject({ overwritten: true, approvalsRequired: 2, approvalsLeft: 1 });
    expect(state.rules[0]?.approvedBy).toEqual([COMMITTER]);
    expect(stateOf({ rules, own, matching: [72] }).rules).toEqual([]);
  });

  test('a rule of its own is one more, also where it stood for one that is deleted', () => {
    const own = [rule(2, { userIds: [DEV] }), rule(3, { sourceRuleId: 99, userIds: [DEV] })];
    expect(countsOf({ rules: [rule(1, { userIds: [COMMITTER] })], own })).toEqual([3, 3, false]);
  });

  test('of two rules for anybody the stricter counts', () => {
    expect(countsOf({ rules: [anybody(2)], own: [{ ...anybody(1), id: 10 }] })).toEqual([2, 2, false]);
    expect(countsOf({ rules: [anybody(2)], settings: { approvals_before_merge: 3 } })).toEqual([3, 3, false]);
  });

  test('rules of merge requests count for nothing where the project does not let them have any', () => {
    const settings = { allow_overrides_to_approver_list_per_merge_request: false };
    const rules = [rule(1, { userIds: [DEV] })];
    const own = [rule(2, { sourceRuleId: 1, userIds: [COMMITTER] }), rule(3, { userIds: [COMMITTER] })];
    const state = stateOf({ settings, rules, own, by: [DEV] });
    expect(state).toMatchObject({ overwritten: false, approvalsRequired: 1, approved: true });
  });
});

describe('rules of code owners', () => {
  const owners = [
    rule(20, { type: 'code_owner', name: 'docs/', section: 'codeowners', userIds: [REPORTER] }),
    rule(21, { type: 'code_owner', name: '*.css', section: 'Style', userIds: [DEV], approvalsRequired: 0 }),
  ];

  test('count beside all others, after them, also where merge requests may have no rules', () => {
    const settings = { allow_overrides_to_approver_list_per_merge_request: false, approvals_before_merge: 1 };
    const given = { settings, owners, rules: [rule(1, { userIds: [DEV] })] };
    expect(countsOf(given)).toEqual([3, 3, false]);
    expect(stateOf(given).rules.map((each) => each.rule?.id ?? null)).toEqual([null, 1, 20, 21]);
    expect(countsOf({ ...given, by: [DEV] })).toEqual([3, 1, false]);
    expect(countsOf({ ...given, by: [DEV, REPORTER] })).toEqual([3, 0, true]);
    expect(stateOf(given).overwritten).toBe(false);
  });

  test('let those approve whom they name, as others do', () => {
    expect(mayApprove({ owners })).toEqual([DEV, REPORTER, COMMITTER]);
    const named = [rule(20, { type: 'code_owner', userIds: [AUTHOR, GUEST, BLOCKED] })];
    expect(mayApprove({ owners: named })).toEqual([DEV, COMMITTER]);
    expect(countsOf({ owners: named, by: [AUTHOR, GUEST, BLOCKED] })).toEqual([1, 1, false]);
  });
});

test('a push removes approvals, or keeps them by the setting', () => {
  const approvals = [{ userId: DEV, at: AT }];
  expect(approvalsAfterPush({ retain_approvals_on_push: false }, { approvals })).toEqual([]);
  expect(approvalsAfterPush({ retain_approvals_on_push: true }, { approvals })).toEqual(approvals);
});
