/** Quick actions about an issue for their user alone: to-dos, subscriptions, emoji. */

import { toggleAward } from '../award-emoji/awards.ts';
import { conversationOf } from '../issues/conversation.ts';
import { issueWithNotes } from '../issues/noted.ts';
import { isEmoji } from '../markdown/known-emoji.ts';
import { isSubscribed, setSubscription } from '../notes/subscriptions.ts';
import { targetOf } from '../todos/todos.ts';
import { all, type IssueAction, type IssueContext, mayComment, stored } from './issue-action.ts';

const pendingTodo = ({ deps, actor, issue }: IssueContext) =>
  issue.stored === undefined
    ? undefined
    : deps.store.todos.about(actor.user.id, targetOf('issue', issue.stored));

const subscription = ({ deps, actor, access, issue }: IssueContext) =>
  isSubscribed(deps, actor, conversationOf({ issue: issue.stored!, access }));

/** Subscribes, or unsubscribes. */
const subscribing = (subscribed: boolean, name: string, summary: string): IssueAction => ({
  names: [name],
  applies: all(stored(), async (context) => (await subscription(context)) !== subscribed),
  effect: ({ deps, actor, access }) => ({
    summary,
    changes: () => ({ subscription_event: name }),
    finish: async (issue) => {
      await setSubscription(deps, actor, conversationOf({ issue, access }), subscribed);
    },
  }),
});

export const USER_ACTIONS: readonly IssueAction[] = [
  {
    names: ['todo'],
    applies: async (context) =>
      context.issue.stored !== undefined && (await pendingTodo(context)) === undefined,
    effect: ({ deps, actor }) => ({
      summary: 'Added a to-do item.',
      changes: () => ({ todo_event: 'add' }),
      finish: async (issue) => {
        const { id } = actor.user;
        const createdAt = deps.now().toISOString();
        const target = targetOf('issue', issue);
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
  subscribing(true, 'subscribe', 'Subscribed to this issue.'),
  subscribing(false, 'unsubscribe', 'Unsubscribed from this issue.'),
  {
    names: ['award', 'react'],
    argument: 'needed',
    applies: all(stored(), mayComment),
    effect: async ({ deps, actor, access }, argument) => {
      const name = /^:([\w+-]{1,60}):$/.exec(argument)?.[1];
      if (name === undefined || !(await isEmoji(name))) return undefined;
      return {
        summary: `Toggled :${name}: emoji award.`,
        changes: () => ({ emoji_award: name }),
        finish: async ({ iid }) => {
          await toggleAward(deps, actor, await issueWithNotes(deps, actor, access, iid), name);
        },
      };
    },
  },
];
