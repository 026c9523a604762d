/** Quick actions that give labels and people, and take them. */

import { assignable } from '../tracked/input.ts';
import { sentence } from '../tracked/system-notes.ts';
import { labelReference, labelsIn, usersIn } from './arguments.ts';
import type { Changes, Effect, QuickAction } from './interpret.ts';
import {
  all,
  mayOrganize,
  setting,
  stored,
  type TrackedAction,
  type TrackedContext,
  type TrackedFields,
} from './tracked-action.ts';

const idsIn = (changes: Changes, name: string, otherwise: readonly number[] = []): readonly number[] =>
  (changes[name] as readonly number[] | undefined) ?? otherwise;
const union = (...ids: readonly (readonly number[])[]): number[] => [...new Set(ids.flat())];

const labelled = (labels: Parameters<typeof labelReference>[0][]): string =>
  `${labels.map(labelReference).join(' ')} ${labels.length === 1 ? 'label' : 'labels'}`;

export const LABEL_ACTIONS: readonly TrackedAction[] = [
  {
    names: ['label', 'labels'],
    argument: 'needed',
    applies: mayOrganize,
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
      mayOrganize,
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
      mayOrganize,
      stored(({ labelIds }) => labelIds.length > 0),
    ),
    effect: async ({ deps, access }, argument) => {
      const labels = await labelsIn(deps, access, argument);
      const ids = labels.map(({ id }) => id);
      if (ids.length === 0) return undefined;
      return setting(['labelIds', 'label_ids'], ids, `Replaced all labels with ${labelled(labels)}.`);
    },
  },
];

/** The people of one kind that an object has. */
interface People<Context extends TrackedContext, Fields> {
  readonly one: string;
  readonly names: Readonly<Record<'add' | 'replace' | 'remove', readonly [string, ...string[]]>>;
  /** As answers name them. */
  readonly field: string;
  before(context: Context): readonly number[];
  of(record: Fields): readonly number[];
  as(ids: readonly number[]): Partial<Fields>;
  /** What is said of those who were added. */
  added(names: string, count: number): string;
}

/** The quick actions that give an object people of one kind, in addition to others or in their place, and take them. */
export function peopleActions<Context extends TrackedContext, Fields extends object>({
  one,
  names,
  field,
  before,
  ...people
}: People<Context, Fields>): readonly QuickAction<Context, Fields>[] {
  const adding =
    (
      summaryOf: (names: string, count: number) => string,
      kept: (ids: readonly number[]) => readonly number[],
    ) =>
    async (context: Context, argument: string): Promise<Effect<Fields>> => {
      const { deps, actor, access } = context;
      const named = await usersIn(deps, actor, argument);
      const ids = named.map(({ id }) => id);
      const users = await assignable(deps, access, ids, context.assignees);
      if (users.length === 0)
        return {
          summary: `Failed to assign a ${one === 'assignee' ? 'user' : one} because no user was found.`,
        };
      const added = users.map(({ id }) => id);
      return {
        summary: summaryOf(sentence(users.map(({ username }) => `@${username}`)), users.length),
        changes: (soFar) => ({ [field]: union(kept(idsIn(soFar, field, before(context))), added) }),
        fields: (record) => people.as(union(kept(people.of(record)), added)),
      };
    };
  return [
    {
      names: names.add,
      applies: mayOrganize,
      effect: adding(people.added, (ids) => ids),
    },
    {
      names: names.replace,
      argument: 'needed',
      applies: all<Context>(mayOrganize, stored()),
      effect: adding(
        () => `Changed ${one}(s).`,
        () => [],
      ),
    },
    {
      names: names.remove,
      applies: all<Context>(mayOrganize, (context) => before(context).length > 0),
      effect: async (context, argument) => {
        const { deps, actor } = context;
        const named = await usersIn(deps, actor, argument);
        if (argument !== '' && named.length === 0) return undefined;
        const users = (named.length > 0 ? named : await deps.store.users.getMany(before(context))).filter(
          (user) => user !== undefined,
        );
        const ids = users.map(({ id }) => id);
        const left = (held: readonly number[]) =>
          named.length === 0 ? [] : held.filter((id) => !ids.includes(id));
        return {
          summary: `Removed ${one}${users.length === 1 ? '' : 's'} ${sentence(users.map(({ username }) => `@${username}`))}.`,
          changes: (soFar) => ({ [field]: left(idsIn(soFar, field, before(context))) }),
          fields: (record) => people.as(left(people.of(record))),
        };
      },
    },
  ];
}

export const ASSIGNMENT_ACTIONS: readonly TrackedAction[] = peopleActions<TrackedContext, TrackedFields>({
  one: 'assignee',
  names: { add: ['assign'], replace: ['reassign'], remove: ['unassign', 'remove_assignee'] },
  field: 'assignee_ids',
  of: ({ assigneeIds }) => assigneeIds,
  as: (assigneeIds) => ({ assigneeIds }),
  before: (context) => context.stored?.assigneeIds ?? [],
  added: (names) => `Assigned ${names}.`,
});
