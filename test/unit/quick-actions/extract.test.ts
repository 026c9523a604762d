import { describe, expect, test } from 'vitest';
import {
  extractActions,
  MAX_ACTION_TEXT,
  MAX_ACTIONS,
  patternOf,
} from '../../../lib/domain/quick-actions/extract.ts';

const PATTERN = patternOf(['close', 'label', 'assign', 'due']);
const extract = (text: string) => extractActions(text, PATTERN, (problem) => new RangeError(problem));

/** What was found, as written in one line. */
const found = (text: string) =>
  extract(text)?.actions.map(({ name, argument }) => `${name} ${argument}`.trim());

describe('quick actions', () => {
  test.each([
    ['a line of its own', '/close', ['close'], ''],
    ['what stands behind the name', '/label ~a ~"b c"  ', ['label ~a ~"b c"'], ''],
    ['capital letters', '/CLOSE', ['close'], ''],
    ['between lines of text', 'one\n/close\ntwo', ['close'], 'one\ntwo'],
    ['and the blank lines behind them', 'one\n/close\n\n\ntwo', ['close'], 'one\ntwo'],
    ['lines that end in CR and LF', 'one\r\n/close \r\ntwo', ['close'], 'one\ntwo'],
    ['several', '/close\n/label ~a\n/due tomorrow', ['close', 'label ~a', 'due tomorrow'], ''],
    ['behind closed code', '```\n/due\n```\n/close', ['close'], '```\n/due\n```'],
    ['behind a fence without an end in its line', '```a``` b\n/close', ['close'], '```a``` b'],
    ['behind a stray backtick of another paragraph', 'a ` b\n\n/close\n\nc ` d', ['close'], 'a ` b\n\nc ` d'],
    ['behind `>>>` that nothing closes', '>>>\n/close', ['close'], '>>>'],
    ['behind a tag that nothing closes', '<p>\n/close', ['close'], '<p>'],
    ['behind a comment', '<!-- x\n/due\n-->\n/close', ['close'], '<!-- x\n/due\n-->'],
  ])('are found: %s', (_, text, actions, rest) => {
    expect([found(text), extract(text)?.text]).toEqual([actions, rest]);
  });

  test.each([
    ['in a line that begins otherwise', 'see /close'],
    ['behind a space', ' /close'],
    ['with another name', '/closed\n/nothing\n/usr/bin\n/'],
    ['in fenced code', '```\n/close\n```'],
    ['in fenced code that nothing closes', '~~~ sh\n/close\n```'],
    ['in a longer fence', '````\n```\n/close\n````'],
    ['in indented code', '    /close'],
    ['in a code span of several lines', 'run `\n/close\n` now'],
    ['in a quote', '> /close'],
    ['in a quote between `>>>`', '>>>\n/close\n>>>'],
    ['in HTML', '<details>\n\n/close\n\n</details>'],
    ['in a comment', '<!--\n/close\n-->'],
    ['in a comment that nothing closes', '<!-- x\n/close'],
    ['with something right behind the name', '/close, please\n/label: x'],
  ])('are none: %s', (_, text) => {
    expect(extract(text)).toBeUndefined();
  });

  test('leave their place to the text that some words stand for', () => {
    expect(extract('/shrug well')).toEqual({ text: 'well ¯\\＿(ツ)＿/¯', actions: [] });
    expect(extract('a\n/tableflip\nb\n/close')?.text).toBe('a\n(╯°□°)╯︵ ┻━┻\nb');
  });

  test(`are ${MAX_ACTIONS} of ${MAX_ACTION_TEXT} characters together at most`, () => {
    expect(found('/close\n'.repeat(MAX_ACTIONS))).toHaveLength(MAX_ACTIONS);
    expect(() => extract('/close\n'.repeat(MAX_ACTIONS + 1))).toThrow('too many');
    expect(() => extract(`/label ${'~a '.repeat(MAX_ACTION_TEXT / 3)}`)).toThrow('too long');
  });

  // A text of the longest is read in some ten milliseconds; what took the square of that would not end in the suite's time.
  test.each([
    ['unclosed fences', '````\n```\n', undefined],
    ['unclosed tags', '<p>\n/x\n', ['close']],
    ['quotes', '>>>\n/x\n', ['close']],
    ['code spans', '`` ` ', ['close']],
    ['lines of other names', '/x\n', ['close']],
    ['blank lines', '\n', ['close']],
    ['paragraphs of short lines', 'a\n', ['close']],
    ['fences', '```\n', ['close']],
    ['opened comments', '<!--\n', undefined],
  ])('are looked for once: %s', (_, part, actions) => {
    const text = part.repeat(1_000_000 / part.length);
    expect(found(`${text}\n/close`)).toEqual(actions);
  });
});
