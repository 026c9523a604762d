/** Quick actions that plan an issue: epic, iteration, due date, weight, health. */

import { HEALTH_STATUSES } from '../../records/issues.ts';
import { MAX_WEIGHT } from '../issues/input.ts';
import { epicsOf } from '../issues/related.ts';
import { epicIn, iterationIn } from './arguments.ts';
import { dayFrom } from './days.ts';
import { type IssueAction, maySet, setting, stored } from './issue-action.ts';
import { all } from './tracked-action.ts';

const DAY = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' });

export const PLANNING_ACTIONS: readonly IssueAction[] = [
  {
    names: ['epic'],
    argument: 'needed',
    applies: maySet,
    effect: async ({ deps, actor, access, stored: issue }, argument) => {
      const epic = await epicIn(deps, actor, access, argument);
      if (epic === undefined)
        return { summary: "This epic does not exist or you don't have sufficient permission." };
      if (issue?.epicId === epic.id)
        return { summary: `Issue #${issue.iid} has already been added to epic &${epic.iid}.` };
      return setting(['epicId', 'epic_id'], epic.id, 'Added an issue to an epic.');
    },
  },
  {
    names: ['remove_epic'],
    applies: all(
      maySet,
      // Of a hidden epic the actor is not to know.
      async ({ deps, actor, stored: before }) =>
        before !== undefined && (await epicsOf(deps, actor, [before])).size > 0,
    ),
    effect: () => setting(['epicId', 'epic_id'], null, 'Removed an issue from an epic.'),
  },
  {
    names: ['iteration'],
    argument: 'needed',
    applies: maySet,
    effect: async ({ deps, access }, argument) => {
      const id = await iterationIn(deps, access, argument);
      return id === undefined
        ? undefined
        : setting(['iterationId', 'iteration_id'], id, `Set the iteration to *iteration:${id}.`);
    },
  },
  {
    names: ['remove_iteration'],
    applies: all(
      maySet,
      stored(({ iterationId }) => iterationId !== null),
    ),
    effect: ({ stored: issue }) =>
      setting(['iterationId', 'iteration_id'], null, `Removed *iteration:${issue!.iterationId} iteration.`),
  },
  {
    names: ['due'],
    argument: 'needed',
    applies: maySet,
    effect: ({ deps }, argument) => {
      const day = dayFrom(argument, deps.now());
      return day === undefined
        ? { summary: 'Failed to set due date because the date format is invalid.' }
        : setting(['dueDate', 'due_date'], day, `Set the due date to ${DAY.format(new Date(day))}.`);
    },
  },
  {
    names: ['remove_due_date'],
    applies: all(
      maySet,
      stored(({ dueDate }) => dueDate !== null),
    ),
    effect: () => setting(['dueDate', 'due_date'], null, 'Removed the due date.'),
  },
  {
    names: ['weight'],
    argument: 'needed',
    applies: maySet,
    effect: (_, argument) =>
      /^\d{1,10}$/.test(argument) && Number(argument) <= MAX_WEIGHT
        ? setting(['weight', 'weight'], Number(argument), `Set weight to ${Number(argument)}.`)
        : undefined,
  },
  {
    names: ['clear_weight'],
    applies: all(
      maySet,
      stored(({ weight }) => weight !== null),
    ),
    effect: () => setting(['weight', 'weight'], null, 'Cleared weight.'),
  },
  {
    names: ['health_status'],
    argument: 'needed',
    applies: maySet,
    effect: (_, argument) => {
      const status = HEALTH_STATUSES.find((each) => each === argument.toLowerCase().replaceAll(/[ -]/g, '_'));
      return status && setting(['healthStatus', 'health_status'], status, `Set health status to ${status}.`);
    },
  },
  {
    names: ['clear_health_status'],
    applies: all(
      maySet,
      stored(({ healthStatus }) => healthStatus !== null),
    ),
    effect: () => setting(['healthStatus', 'health_status'], null, 'Cleared health status.'),
  },
];
