import { expect, test } from 'vitest';
import type { Actor } from '../../../lib/domain/actor.ts';
import type { Deps } from '../../../lib/domain/deps.ts';
import { type DueDate, matcherOf } from '../../../lib/domain/issues/conditions.ts';
import { classOf, type IssueRecord } from '../../../lib/records/issues.ts';

/** A Wednesday. */
const NOW = new Date('2026-11-25T23:30:00Z');

async function isDue(wanted: DueDate, dueDate: string | null, now = NOW) {
  const issue = { dueDate, state: 'opened', confidential: false } as IssueRecord;
  const deps = { now: () => now } as Deps;
  const matches = matcherOf(deps, { kind: 'anonymous' } as Actor, { dueDate: wanted }, [classOf(issue)]);
  return (await matches([issue]))[0];
}

test.each<[DueDate, readonly string[], readonly (string | null)[]]>([
  ['0', [], ['2026-11-25']],
  ['any', ['2026-11-25', '1999-01-01'], [null]],
  ['today', ['2026-11-25'], ['2026-11-24', '2026-11-26', null]],
  ['tomorrow', ['2026-11-26'], ['2026-11-25', '2026-11-27', null]],
  ['overdue', ['2026-11-24', '1999-01-01'], ['2026-11-25', null]],
  ['week', ['2026-11-23', '2026-11-29'], ['2026-11-22', '2026-11-30', null]],
  ['month', ['2026-11-01', '2026-11-30'], ['2026-10-31', '2026-12-01', '2025-11-25', null]],
  ['next_month_and_previous_two_weeks', ['2026-11-11', '2026-12-31'], ['2026-11-10', '2027-01-01', null]],
])('%s: %j and not %j', async (wanted, due, others) => {
  for (const day of due) expect(await isDue(wanted, day), day).toBe(true);
  for (const day of others) expect(await isDue(wanted, day), String(day)).toBe(false);
});

test('without a date is only what has none', async () => {
  expect(await isDue('0', null)).toBe(true);
});

test('a week ends on Sunday, and a year in December', async () => {
  const sunday = new Date('2026-11-29T00:00:00Z');
  expect(await isDue('week', '2026-11-23', sunday)).toBe(true);
  expect(await isDue('week', '2026-11-30', sunday)).toBe(false);
  const december = new Date('2026-12-15T00:00:00Z');
  expect(await isDue('next_month_and_previous_two_weeks', '2027-01-31', december)).toBe(true);
  expect(await isDue('next_month_and_previous_two_weeks', '2027-02-01', december)).toBe(false);
});
