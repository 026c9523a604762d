import { expect, test } from 'vitest';
import { type DiscussionRecord, REPLIES_IN_ROW } from '../../../lib/records/notes.ts';
import { leftOf, repliedTo, rowOfReply } from '../../../lib/store/notes/discussions.ts';

const FIRST = 1_000;
const discussion: DiscussionRecord = {
  ...{ firstId: FIRST, projectId: 7, noteable: { kind: 'issue', id: 3 }, noteClass: 'comment' },
  ...{ individual: false, replies: [], version: 1 },
};
const after = (count: number): DiscussionRecord =>
  Array.from({ length: count }, (_, n) => FIRST + 1 + n).reduce(repliedTo, discussion);
const LAST_NAMED = FIRST + REPLIES_IN_ROW;

test('a discussion names so many replies, and counts those that have rows of their own', () => {
  const full = after(REPLIES_IN_ROW);
  expect([full.replies.length, full.further, rowOfReply(full, LAST_NAMED)]).toEqual([
    REPLIES_IN_ROW,
    undefined,
    [],
  ]);
  const more = after(REPLIES_IN_ROW + 2);
  expect([more.replies, more.further]).toEqual([full.replies, 2]);
  expect(rowOfReply(more, LAST_NAMED + 2)).toEqual([
    {
      put: {
        pk: 'NOTES#000000000007',
        sk: `REPLY#issue#000000000003#${String(FIRST).padStart(12, '0')}#${String(LAST_NAMED + 2).padStart(12, '0')}`,
      },
    },
  ]);
});

test('room that a deletion makes among the named ones is not taken by a later reply', () => {
  const left = leftOf(after(REPLIES_IN_ROW + 1), FIRST + 5)!;
  expect([left.replies.length, left.further]).toEqual([REPLIES_IN_ROW - 1, 1]);
  expect(repliedTo(left, FIRST + 500)).toMatchObject({ replies: left.replies, further: 2 });
  const none = leftOf(left, LAST_NAMED + 1)!;
  expect([none.replies.length, none.further]).toEqual([REPLIES_IN_ROW - 1, 0]);
  expect(repliedTo(none, FIRST + 501)).toMatchObject({ further: 0, replies: [...none.replies, FIRST + 501] });
});

test('a discussion goes with the last of its notes, whichever that is', () => {
  let left: DiscussionRecord | undefined = after(REPLIES_IN_ROW + 1);
  for (const id of [FIRST, ...left.replies]) left = leftOf(left!, id);
  expect(left).toMatchObject({ headless: true, replies: [], further: 1 });
  expect(leftOf(left!, LAST_NAMED + 1)).toBeUndefined();
});
