import { expect, test } from 'vitest';
import { effectiveSetting } from '../../../lib/domain/notifications/levels.ts';
import type { NotificationLevel } from '../../../lib/records/notifications.ts';

/** A project, the group it is in, the one above that, and everything. */
const TABLE: readonly [...levels: (NotificationLevel | undefined)[], is: NotificationLevel][] = [
  [undefined, undefined, undefined, undefined, 'participating'],
  [undefined, undefined, undefined, 'watch', 'watch'],
  [undefined, undefined, undefined, 'global', 'participating'],
  [undefined, undefined, 'mention', 'watch', 'mention'],
  [undefined, 'disabled', 'mention', 'watch', 'disabled'],
  ['watch', 'disabled', 'mention', 'disabled', 'watch'],
  ['global', 'disabled', 'mention', 'watch', 'disabled'],
  ['global', 'global', 'mention', 'watch', 'mention'],
  ['global', 'global', 'global', 'custom', 'custom'],
  ['custom', 'disabled', 'disabled', 'disabled', 'custom'],
];

test.each(TABLE.map((row) => ({ levels: row.slice(0, -1), is: row.at(-1) })))(
  '$levels: $is',
  ({ levels, is }) => {
    const choices = levels.map((level) => ({ ...(level === undefined ? {} : { level }), events: {} }));
    expect(effectiveSetting(choices).level).toBe(is);
  },
);

test('the events are those of the setting that applies', () => {
  const inner = { events: { new_note: false, failed_pipeline: false } };
  const outer = { level: 'custom', events: { new_note: true } } as const;
  expect(effectiveSetting([inner, outer]).events).toMatchObject({ new_note: true, failed_pipeline: true });
  expect(effectiveSetting([{ ...inner, level: 'custom' }, outer]).events).toMatchObject({
    new_note: false,
    failed_pipeline: false,
    fixed_pipeline: true,
  });
});
