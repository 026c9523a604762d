/** Quick actions for their user alone: to-dos, subscriptions, emoji. */

import { toggleAward } from '../award-emoji/awards.ts';
import { isEmoji } from '../markdown/known-emoji.ts';
import { isSubscribed, setSubscription } from '../notes/subscriptions.ts';
import { targetOf } from '../todos/todos.ts';
import { all, nameOf, stored, type TrackedAction, type TrackedContext } from './tracked-action.ts';

const pendingTodo = async ({ deps, actor, kind, stored: before }: TrackedContext) =>
  before === undefined ? undefined : deps.store.todos.about(actor.user.id, targetOf(kind, before));

/** Subscribes, or unsubscribes. */
const subscribing = (subscribed: boolean, name: string, verb: string): TrackedAction => ({
  names: [name],
  applies: all(
    stored(),
    async ({ deps, actor, conversation }) => (await isSubscribed(deps, actor, conversation())) !== subscribed,
  ),
  effect: (context) => ({
    summary: `${verb} this ${nameOf(context)}.`,
    changes: () => ({ subscription_event: name }),
    finish: async () => {
      await setSubscription(context.deps, context.actor, context.conversation(), subscribed);
    },
  }),
});

export const USER_ACTIONS: readonly TrackedAction[] = [
  {
    names: ['todo'],
    applies: all(stored(), async (context) => (await pendingTodo(context)) === undefined),
    effect: ({ deps, actor, kind }) => ({
      summary: 'Added a to-do item.',
      changes: () => ({ todo_event: 'add' }),
      finish: async (record) => {
        const { id } = actor.user;
        const createdAt = deps.now().toISOString();
        const target = targetOf(kind, record);
        await deps.store.todos.add({ userId: id, authorId: id, action: 'marked', target, createdAt });
      },
    }),
  },
  {
    names: ['done'],
    applies: async (context) => (await pendingTodo(context)) !== undefined,
    effect: (context) => ({
      summary: 'Marked to-do item as done.',
      changes: () => ({ todo_event: 'done' }),
      finish: async () => {
        const todo = await pendingTodo(context);
        if (todo !== undefined) await context.deps.store.todos.finish([todo], context.deps.now());
      },
    }),
  },
  subscribing(true, 'subscribe', 'Subscribed to'),
  subscribing(false, 'unsubscribe', 'Unsubscribed from'),
  {
    names: ['award', 'react'],
    argument: 'needed',
    applies: all(stored(), ({ may }) => may.comment),
    effect: async ({ deps, actor, noted }, argument) => {
      const name = /^:([\w+-]{1,60}):$/.exec(argument)?.[1];
      if (name === undefined || !(await isEmoji(name))) return undefined;
      return {
        summary: `Toggled :${name}: emoji award.`,
        changes: () => ({ emoji_award: name }),
        finish: async () => {
          await toggleAward(deps, actor, await noted(), name);
        },
      };
    },
  },
];
