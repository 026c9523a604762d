/** Quick actions that give an issue labels and assignees, and take them. */

import type { IssueRecord } from '../../records/issues.ts';
import { assignable } from '../tracked/input.ts';
import { sentence } from '../tracked/system-notes.ts';
import { labelReference, labelsIn, usersIn } from './arguments.ts';
import type { Changes } from './interpret.ts';
import {
  all,
  type IssueAction,
  type IssueContext,
  type IssueEffect,
  maySet,
  setting,
  stored,
} from './issue-action.ts';

const idsIn = (changes: Changes, name: string, otherwise: readonly number[] = []): readonly number[] =>
  (changes[name] as readonly number[] | undefined) ?? otherwise;
const union = (...ids: readonly (readonly number[])[]): number[] => [...new Set(ids.flat())];

const labelled = (labels: Parameters<typeof labelReference>[0][]): string =>
  `${labels.map(labelReference).join(' ')} ${labels.length === 1 ? 'label' : 'labels'}`;

const assigned = (before: IssueRecord | undefined): readonly number[] => before?.assigneeIds ?? [];

/** Assigns users to an issue, in addition to others or in their place. */
const assigning =
  (summaryOf: (names: string) => string, kept: (ids: readonly number[]) => readonly number[]) =>
  async ({ deps, actor, access, issue }: IssueContext, argument: string): Promise<IssueEffect> => {
    const named = await usersIn(deps, actor, argument);
    const users = await assignable(
      deps,
      access,
      named.map(({ id }) => id),
      'read_issues',
    );
    if (users.length === 0) return { summary: 'Failed to assign a user because no user was found.' };
    const ids = users.map(({ id }) => id);
    return {
      summary: summaryOf(sentence(users.map(({ username }) => `@${username}`))),
      changes: (soFar) => ({
        assignee_ids: union(kept(idsIn(soFar, 'assignee_ids', assigned(issue.stored))), ids),
      }),
      fields: ({ assigneeIds }) => ({ assigneeIds: union(kept(assigneeIds), ids) }),
    };
  };

export const ASSIGNMENT_ACTIONS: readonly IssueAction[] = [
  {
    names: ['label', 'labels'],
    argument: 'needed',
    applies: maySet,
    effect: async ({ deps, access }, argument) => {
      const labels = await labelsIn(deps, access, argument);
      const ids = labels.map(({ id }) => id);
      if (ids.length === 0) return undefined;
      return {
        summary: `Added ${labelled(labels)}.`,
        changes: (soFar) => ({ add_label_ids: union(idsIn(soFar, 'add_label_ids'), ids) }),
        fields: ({ labelIds }) => ({ labelIds: union(labelIds, ids) }),
      };
    },
  },
  {
    names: ['unlabel', 'remove_label', 'remove_labels'],
    applies: all(
      maySet,
      stored(({ labelIds }) => labelIds.length > 0),
    ),
    effect: async ({ deps, access }, argument) => {
      if (argument === '') return setting(['labelIds', 'label_ids'], [], 'Removed all labels.');
      const labels = await labelsIn(deps, access, argument);
      const ids = labels.map(({ id }) => id);
      if (ids.length === 0) return undefined;
      return {
        summary: `Removed ${labelled(labels)}.`,
        changes: (soFar) => ({ remove_label_ids: union(idsIn(soFar, 'remove_label_ids'), ids) }),
        fields: ({ labelIds }) => ({ labelIds: labelIds.filter((id) => !ids.includes(id)) }),
      };
    },
  },
  {
    names: ['relabel'],
    argument: 'needed',
    applies: all(
      maySet,
      stored(({ labelIds }) => labelIds.length > 0),
    ),
    effect: async ({ deps, access }, argument) => {
      const labels = await labelsIn(deps, access, argument);
      const ids = labels.map(({ id }) => id);
      if (ids.length === 0) return undefined;
      return setting(['labelIds', 'label_ids'], ids, `Replaced all labels with ${labelled(labels)}.`);
    },
  },
  {
    names: ['assign'],
    argument: 'needed',
    applies: maySet,
    effect: assigning(
      (names) => `Assigned ${names}.`,
      (ids) => ids,
    ),
  },
  {
    names: ['reassign'],
    argument: 'needed',
    applies: all(maySet, stored()),
    effect: assigning(
      () => 'Changed assignee(s).',
      () => [],
    ),
  },
  {
    names: ['unassign', 'remove_assignee'],
    applies: all(
      maySet,
      stored(({ assigneeIds }) => assigneeIds.length > 0),
    ),
    effect: async ({ deps, actor, issue }, argument) => {
      const named = await usersIn(deps, actor, argument);
      const users = (
        named.length > 0 ? named : await deps.store.users.getMany(assigned(issue.stored))
      ).filter((user) => user !== undefined);
      const ids = users.map(({ id }) => id);
      const names = sentence(users.map(({ username }) => `@${username}`));
      const left = (before: readonly number[]) =>
        named.length === 0 ? [] : before.filter((id) => !ids.includes(id));
      return {
        summary: `Removed ${users.length === 1 ? 'assignee' : 'assignees'} ${names}.`,
        changes: (soFar) => ({ assignee_ids: left(idsIn(soFar, 'assignee_ids', assigned(issue.stored))) }),
        fields: ({ assigneeIds }) => ({ assigneeIds: left(assigneeIds) }),
      };
    },
  },
];
