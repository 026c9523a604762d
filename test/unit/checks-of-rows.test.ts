/** The checks of stored data find rows that are wrong. */
import { expect, test } from 'vitest';
import { labelKey, labelPrioritiesOf, labelPriorityKey } from '../../lib/store/row-keys/labels.ts';
import { discussionKey, furtherReplyKey, noteKey } from '../../lib/store/row-keys/notes.ts';
import { projectKey } from '../../lib/store/row-keys/projects.ts';
import { labelPriorities } from '../crash/check-labels.ts';
import { furtherReplies } from '../crash/check-notes.ts';
import { keyText, type Row, type RowCheck, rowsOf } from '../crash/rows.ts';

const problems = (check: RowCheck, rows: readonly object[]): string[] => [
  ...check.run(rowsOf(rows as Row[]), 0, 0),
];

const PROJECT = 7;
const project = { ...projectKey(PROJECT), id: PROJECT, type: 'project', deletedAt: null };

const LABEL = 3;
const label = { ...labelKey(LABEL), id: LABEL, prioritized: true };
const priorityKey = labelPriorityKey(LABEL, PROJECT);
const priority = { ...priorityKey, priority: 1, list: labelPrioritiesOf(PROJECT) };

test.each([
  ['is as it should be', [project, label, priority], []],
  ['has no label', [project, priority], ['is of no label']],
  [
    'has a label that says it has none',
    [project, { ...label, prioritized: undefined }, priority],
    ['is of a label that knows of no priority'],
  ],
  ['has no project', [label, priority], ['is of no project']],
  [
    'is listed elsewhere',
    [project, label, { ...priority, list: labelPrioritiesOf(8) }],
    ['is not found by its project'],
  ],
] as const)('a priority of a label that %s', (_, rows, found) => {
  expect(problems(labelPriorities, rows)).toEqual(found.map((text) => `${keyText(priorityKey)} ${text}`));
});

const issue = { kind: 'issue', id: 5 } as const;
const FIRST = 100;
const discussion = {
  ...discussionKey(PROJECT, issue, 'comment', FIRST),
  ...{
    projectId: PROJECT,
    noteable: issue,
    firstId: FIRST,
    noteClass: 'comment',
    replies: [101],
    further: 1,
  },
};
const reply = (id: number) => furtherReplyKey(PROJECT, issue, FIRST, id);
const note = (id: number) => ({ ...noteKey(PROJECT, issue, id), id });

test.each([
  ['are as they should be', [discussion, reply(102), note(102)], []],
  [
    'are counted wrong',
    [{ ...discussion, further: 2 }, reply(102), note(102)],
    ['discussion 100 counts 2 of 1 further replies'],
  ],
  ['are no notes', [discussion, reply(102)], ['discussion 100 has reply 102, which does not exist']],
  ['are named beside', [discussion, reply(101), note(101)], ['discussion 100 has note 101 twice']],
  ['are of nothing', [reply(102), note(102)], [`${keyText(reply(102)).slice(0, -12)} is of no discussion`]],
] as const)('further replies that %s', (_, rows, found) => {
  expect(problems(furtherReplies, rows)).toEqual(found);
});
