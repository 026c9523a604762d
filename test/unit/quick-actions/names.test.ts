import { expect, test } from 'vitest';
import { ACTION_NAMES } from '../../../lib/domain/quick-actions/names.ts';
import { ISSUE_ACTIONS } from '../../../lib/domain/quick-actions/of-issues.ts';
import { MERGE_REQUEST_ACTIONS } from '../../../lib/domain/quick-actions/of-merge-requests.ts';

test.each([
  ['issues', ISSUE_ACTIONS],
  ['merge requests', MERGE_REQUEST_ACTIONS],
])('every quick action of %s is found in texts, by one name only', (_, actions) => {
  const names = actions.flatMap((action) => action.names);
  expect(names.filter((name) => !ACTION_NAMES.includes(name))).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
});
