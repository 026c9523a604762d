import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { closesIssues } from '../../../lib/domain/markdown/closing.ts';
import {
  DEFAULT_MERGE_TEMPLATE,
  DEFAULT_SQUASH_TEMPLATE,
  type MessageFacts,
  messageOf,
  tells,
} from '../../../lib/domain/merge-requests/messages.ts';
import { cut, filled, MAX_MESSAGE_BYTES } from '../../../lib/domain/merge-requests/templates.ts';
import { atOnce } from '../../../lib/git/work.ts';

const ann = { name: 'Ann', email: 'ann@example.com' };
const bob = { name: 'Bob', email: 'bob@example.com' };
const commit = (message: string, author = ann) => ({
  message,
  author: { ...author, seconds: 0, timezone: '+0000' },
});
const facts: MessageFacts = {
  sourceBranch: 'topic/a',
  targetBranch: 'main',
  title: 'Add a door',
  description: 'It opens.\r\n\r\nAnd it shuts.',
  iid: 7,
  reference: 'group/house!7',
  url: 'https://example.com/group/house/-/merge_requests/7',
  sourceProjectId: 3,
  author: ann,
  merger: bob,
  issues: [],
  approvers: [],
  reviewers: [],
  commits: [],
};

describe('default messages', () => {
  test('a merge names branches, title and reference', () => {
    expect(messageOf(DEFAULT_MERGE_TEMPLATE, facts)).toBe(
      "Merge branch 'topic/a' into 'main'\n\nAdd a door\n\nSee merge request group/house!7",
    );
  });

  test('a merge that closes issues says so, in words that close them', () => {
    for (const issues of [['#1'], ['#1', '#2'], ['#1', 'other/house#2', '#3']]) {
      const message = messageOf(DEFAULT_MERGE_TEMPLATE, { ...facts, issues });
      expect(message).toContain('\n\nAdd a door\n\nCloses #1');
      expect(message).toMatch(/\n\nSee merge request group\/house!7$/);
      expect(atOnce(closesIssues(message)).map(({ number }) => number)).toEqual(
        [1, 2, 3].slice(0, issues.length),
      );
    }
  });

  test('a squash has the title', () => {
    expect(messageOf(DEFAULT_SQUASH_TEMPLATE, facts)).toBe('Add a door');
  });
});

describe('variables', () => {
  const commits = [
    commit('Third\n\nAt length.\n', bob),
    commit('Second\n\nWith a body.\n'),
    commit('First\n', { ...bob, name: 'Robert' }),
  ];
  const full = { ...facts, commits, issues: ['#1'], approvers: [bob], reviewers: [bob, ann] };
  test.each([
    ['%{source_branch} %{target_branch}', 'topic/a main'],
    ['%{description}', 'It opens.\n\nAnd it shuts.'],
    ['%{issues}', 'Closes #1'],
    ['%{reference} %{local_reference}', 'group/house!7 !7'],
    ['%{url}', facts.url],
    ['%{source_project_id}', '3'],
    ['%{first_commit}', 'First'],
    ['%{first_multiline_commit}', 'Second\n\nWith a body.'],
    ['%{first_multiline_commit_description}', 'With a body.'],
    ['%{merged_by}', 'Bob <bob@example.com>'],
    ['%{merge_request_author}', 'Ann <ann@example.com>'],
    ['%{approved_by}', 'Approved-by: Bob <bob@example.com>'],
    ['%{reviewed_by}', 'Reviewed-by: Bob <bob@example.com>\nReviewed-by: Ann <ann@example.com>'],
    ['%{co_authored_by}', 'Co-authored-by: Robert <bob@example.com>'],
    ['%{all_commits}', '* First\n\n* Second\n\nWith a body.\n\n* Third\n\nAt length.'],
    ['%{unknown} 100%{', '%{unknown} 100%{'],
    ['%{constructor}', '%{constructor}'],
  ])('%s stands for %j', (template, text) => {
    expect(messageOf(template, full)).toBe(text);
  });

  test('the title stands in for a commit of several lines', () => {
    expect(messageOf('%{first_multiline_commit}', { ...facts, commits: [commit('One')] })).toBe('Add a door');
  });

  test('what a value contains is no variable', () => {
    expect(messageOf('%{title}', { ...facts, title: '%{url} $& $1' })).toBe('%{url} $& $1');
  });

  test('trailers are what git reads as such', () => {
    const message = messageOf('%{title}\n\n%{description}\n\n%{approved_by}\n%{co_authored_by}', full);
    const read = execFileSync('git', ['interpret-trailers', '--parse'], { input: message, encoding: 'utf8' });
    expect(read).toBe('Approved-by: Bob <bob@example.com>\nCo-authored-by: Robert <bob@example.com>\n');
  });

  test('only what a template names has to be read', () => {
    expect(tells(DEFAULT_MERGE_TEMPLATE, 'issues')).toBe(true);
    expect(tells(DEFAULT_MERGE_TEMPLATE, 'commits')).toBe(false);
    expect(tells('%{all_commits}', 'commits')).toBe(true);
    expect(tells('{description}', 'description')).toBe(false);
  });
});

describe('lines without a value', () => {
  const empty = (name: string) => (name === 'none' ? '' : undefined);
  test.each([
    ['a\n\n%{none}\n\nb', 'a\n\nb'],
    ['a\n%{none}\nb', 'a\nb'],
    ['a\n\n%{none}\nb', 'a\n\nb'],
    ['a\n%{none}\n\nb', 'a\n\nb'],
    ['a\n\n%{none}', 'a'],
    ['%{none}\n\na', 'a'],
    ['%{none}', ''],
    ['a\n\n%{none}\n%{none}\n\nb', 'a\n\nb'],
    ['a\n\n%{none}\n\n%{none}\n\nb', 'a\n\nb'],
    ['a: %{none}.\nb', 'a: .\nb'],
    ['a\r\n\r\n%{none}\r\n\r\nb', 'a\n\nb'],
  ])('%j gives %j', (template, text) => {
    expect(filled(template, empty)).toBe(text);
  });

  test('a message of nothing is the title', () => {
    expect(messageOf('%{issues}', facts)).toBe('Add a door');
  });
});

describe('size', () => {
  test('a message has a megabyte at most, in whole characters', () => {
    const description = 'é€😀'.repeat(2 ** 17);
    const message = messageOf('%{description}\n'.repeat(30), { ...facts, description });
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(MAX_MESSAGE_BYTES);
    expect(Buffer.byteLength(message)).toBeGreaterThan(MAX_MESSAGE_BYTES - 8);
    expect(message.isWellFormed()).toBe(true);
    expect(message).not.toContain('\ufffd');
  });

  test('a cut text is the longest start of whole characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, bytes) => {
        const start = cut(text, bytes);
        expect(text.startsWith(start)).toBe(true);
        expect(Buffer.byteLength(start)).toBeLessThanOrEqual(bytes);
        const next = [...text.slice(start.length)][0];
        if (next !== undefined) expect(Buffer.byteLength(start + next)).toBeGreaterThan(bytes);
      }),
    );
  });
});
