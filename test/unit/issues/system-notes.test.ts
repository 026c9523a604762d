import { describe, expect, test } from 'vitest';
import { type Noted, systemNotesOf } from '../../../lib/domain/issues/system-notes.ts';

const BEFORE: Noted = {
  title: 'Old door',
  description: null,
  assigneeIds: [1],
  dueDate: '2030-01-31',
  confidential: false,
  discussionLocked: null,
  type: 'issue',
  severity: 'UNKNOWN',
  healthStatus: null,
  timeEstimate: 0,
  timeSpent: 7200,
  state: 'opened',
  labelIds: [7, 8],
  milestoneId: null,
  epicId: null,
  iterationId: null,
  weight: null,
};
/** More tasks than one note tells of. */
const TASKS = (mark: string) => Array.from({ length: 21 }, (_, n) => `- [${mark}] ${n}`).join('\n');
const usernames = new Map([1, 2, 3, 4].map((id) => [id, `u${id}`]));
const milestone = { iid: 3, title: 'June', container: { kind: 'project', id: 1 } } as const;
const told = (change: Partial<Noted>, from: Partial<Noted> = {}) => {
  const before = { ...BEFORE, ...from };
  return systemNotesOf(before, { ...before, ...change }, { usernames, milestone, epic: 'a/b&1' }).map(
    ({ text }) => text,
  );
};

describe('a change of an issue is noted', () => {
  test.each<[Partial<Noted>, string, Partial<Noted>?]>([
    [{ title: 'New door' }, 'changed title from **{-Old-} door** to **{+New+} door**'],
    [{ title: 'Old doors' }, 'changed title from **Old door** to **Old door{+s+}**'],
    [{ title: 'Olda' }, 'changed title from **Old{- door-}** to **Old{+a+}**'],
    [{ title: 'aa' }, 'changed title from **a** to **a{+a+}**', { title: 'a' }],
    [{ title: '😀b' }, 'changed title from **😀{-a-}** to **😀{+b+}**', { title: '😀a' }],
    [{ description: 'd' }, 'changed the description'],
    [
      { description: '- [x] Oil it' },
      'marked the task **Oil it** as completed',
      { description: '- [ ] Oil it' },
    ],
    [
      { description: 'Now:\n- [ ] a\n  1. [X] b\n- [ ] c' },
      'marked the task **a** as incomplete\n\nmarked the task **b** as completed',
      { description: '- [x] a\n  1. [ ] b\n- [ ] c' },
    ],
    [{ description: '- [x] b' }, 'changed the description', { description: '- [ ] a' }],
    [{ description: '- [ ] a\n- [x] b' }, 'changed the description', { description: '- [ ] a' }],
    [{ description: '- [x] ' }, 'changed the description', { description: '- [ ] ' }],
    [{ description: TASKS('x') }, 'changed the description', { description: TASKS(' ') }],
    [{ iterationId: 1 }, 'changed iteration to *iteration:1'],
    [{ iterationId: 2 }, 'changed iteration to *iteration:2', { iterationId: 1 }],
    [{ iterationId: null }, 'removed iteration *iteration:1', { iterationId: 1 }],
    [{ epicId: 1 }, 'added to epic a/b&1'],
    [{ epicId: 1 }, 'changed epic to a/b&1', { epicId: 2 }],
    [{ epicId: null }, 'removed from epic a/b&1', { epicId: 1 }],
    [{ assigneeIds: [] }, 'unassigned @u1'],
    [{ assigneeIds: [1, 2] }, 'assigned to @u2'],
    [{ assigneeIds: [2, 3] }, 'assigned to @u2 and @u3 and unassigned @u1'],
    [{ assigneeIds: [1, 2, 3, 4] }, 'assigned to @u2, @u3, and @u4'],
    [{ dueDate: '2031-02-01' }, 'changed due date to February 1, 2031'],
    [{ dueDate: null }, 'removed due date'],
    [{ confidential: true }, 'made the issue confidential'],
    [{ confidential: false }, 'made the issue visible to everyone', { confidential: true }],
    [{ discussionLocked: true }, 'locked this issue'],
    [{ discussionLocked: false }, 'unlocked this issue', { discussionLocked: true }],
    [{ type: 'test_case' }, 'changed issue type to test case'],
    [{ severity: 'HIGH' }, 'changed the severity to **High - S2**'],
    [{ healthStatus: 'needs_attention' }, 'changed health status to **needs attention**'],
    [{ healthStatus: null }, 'removed the health status', { healthStatus: 'at_risk' }],
    [{ timeEstimate: 9000 }, 'changed time estimate to 2h 30m'],
    [{ timeEstimate: 0 }, 'removed time estimate', { timeEstimate: 60 }],
    [{ timeSpent: 10_800 }, 'added 1h of time spent'],
    [{ timeSpent: 3600 }, 'subtracted 1h of time spent'],
    [{ timeSpent: 0 }, 'removed time spent'],
    [{ labelIds: [8, 7, 9] }, 'added ~9 label'],
    [{ labelIds: [9, 10] }, 'added ~9 ~10 labels and removed ~7 ~8 labels'],
    [{ labelIds: [8] }, 'removed ~7 label'],
    [{ milestoneId: 5 }, 'changed milestone to %3'],
    [{ milestoneId: null }, 'removed milestone %3', { milestoneId: 5 }],
    [{ weight: 3 }, 'changed weight to **3**'],
    [{ weight: null }, 'removed the weight', { weight: 0 }],
    [{ state: 'closed' }, 'closed'],
    [{ state: 'opened' }, 'reopened', { state: 'closed' }],
  ])('%o: %s', (change, text, from) => {
    expect(told(change, from)).toEqual([text]);
  });

  test('not where nothing differs, nor of an account that is gone', () => {
    expect(told({ discussionLocked: false, assigneeIds: [1] })).toEqual([]);
    expect(told({ assigneeIds: [1, 99], labelIds: [8, 7] })).toEqual([]);
  });
});
