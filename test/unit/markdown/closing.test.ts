import { expect, test } from 'vitest';
import { closesIssues } from '../../../lib/domain/markdown/closing.ts';
import { atOnce } from '../../../lib/git/work.ts';

const BASE = 'https://forge.example';
const closed = (text: string) => atOnce(closesIssues(text, BASE)).map(({ source }) => source);

test.each([
  ...['Close', 'Closes', 'Closed', 'Closing', 'close', 'closes', 'closed', 'closing'],
  ...['Fix', 'Fixes', 'Fixed', 'Fixing', 'fix', 'fixes', 'fixed', 'fixing'],
  ...['Resolve', 'Resolves', 'Resolved', 'Resolving', 'resolve', 'resolves', 'resolved', 'resolving'],
  ...['Implement', 'Implements', 'Implemented', 'Implementing', 'implement', 'implements'],
])('%s closes an issue', (word) => {
  expect(closed(`${word} #1`)).toEqual(['#1']);
  expect(closed(`So this (${word}: issue #1).`)).toEqual(['#1']);
});

test.each([
  ['several issues', 'Closes #1, #2 and group/project#3', ['#1', '#2', 'group/project#3']],
  ['a list without commas', 'fixes #1 #2, and #3', ['#1', '#2', '#3']],
  ['named issues', 'Resolves issues #1, issue #2', ['#1', '#2']],
  ['a URL', `Closes ${BASE}/a/b/-/issues/7`, [`${BASE}/a/b/-/issues/7`]],
  ['several words', 'Fixes #1. Relates to #2 and closes #3', ['#1', '#3']],
  ['an issue twice', 'Fixes #1, closes #1', ['#1']],
])('%s', (_, text, expected) => {
  expect(closed(text)).toEqual(expected);
});

test.each([
  ['a mere reference', 'see #1'],
  ['another word', 'encloses #1, prefix #2, CLOSES #3, fixer #4'],
  ['a word on the line before', 'Closes\n#1'],
  ['no space', 'Closes#1'],
  ['a merge request', 'Closes !1'],
  ['code', '`Closes #1`\n```\nCloses #2\n```'],
  ['a quote', '> Closes #1'],
  ['a URL elsewhere', 'Closes https://elsewhere.example/a/b/-/issues/7'],
])('%s closes nothing', (_, text) => {
  expect(closed(text)).toEqual([]);
});

test('a text made to be slow is read once', () => {
  for (const part of ['Closes ', 'Closes #', 'closes #1 ', '#1,', ' '.repeat(50), 'issues ', 'and '])
    expect(closed(part.repeat(100_000)).length).toBeLessThan(2);
  expect(closed(`Closes ${' '.repeat(1_000_000)}#1`)).toEqual([]);
});
