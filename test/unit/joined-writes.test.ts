import { expect, test } from 'vitest';
import { ABSENT, joined, PRESENT, type Write } from '../../lib/store/table/write.ts';

const one = { pk: 'P', sk: 'one' };
const two = { pk: 'P', sk: 'two' };

test('additions to an item are added up, equal checks are one, and other writes stay as they are', () => {
  const check: Write = { check: one, if: PRESENT, reason: 'x' };
  const put: Write = { put: { ...one, a: 1 }, if: ABSENT, reason: 'new' };
  expect(
    joined([
      check,
      { update: two, add: { a: 1, b: 1 } },
      { ...check },
      { update: two, add: { a: 2, c: -1 } },
    ]),
  ).toEqual([check, { update: two, add: { a: 3, b: 1, c: -1 } }]);
  const separate: Write[] = [check, put, { update: two, add: { a: 1 }, if: PRESENT, reason: 'y' }];
  expect(joined(separate)).toEqual(separate);
  // DynamoDB refuses two different writes of an item: that is a mistake of the caller, and stays one.
  const different: Write[] = [
    { update: two, add: { a: 1 } },
    { update: two, set: { a: 1 } },
  ];
  expect(joined(different)).toEqual(different);
});
