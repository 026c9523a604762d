/** Quick actions about title, milestone and discussion. */

import { MAX_TITLE } from '../tracked/input.ts';
import { milestoneIn, milestoneReference } from './arguments.ts';
import { notApplied } from './interpret.ts';
import { all, mayOrganize, setting, stored, type TrackedAction } from './tracked-action.ts';

export const TRACKED_FIELD_ACTIONS: readonly TrackedAction[] = [
  {
    names: ['title'],
    argument: 'needed',
    applies: all(stored(), ({ may }) => may.write),
    effect: (_, title) =>
      [...title].length > MAX_TITLE
        ? { summary: notApplied('title') }
        : setting(['title', 'title'], title, `Changed the title to "${title}".`),
  },
  {
    names: ['lock'],
    applies: all(
      mayOrganize,
      stored(({ discussionLocked }) => discussionLocked !== true),
    ),
    effect: () => setting(['discussionLocked', 'discussion_locked'], true, 'Locked the discussion.'),
  },
  {
    names: ['unlock'],
    applies: all(
      mayOrganize,
      stored(({ discussionLocked }) => discussionLocked === true),
    ),
    effect: () => setting(['discussionLocked', 'discussion_locked'], false, 'Unlocked the discussion.'),
  },
  {
    names: ['milestone'],
    argument: 'needed',
    applies: mayOrganize,
    effect: async ({ deps, access }, argument) => {
      const milestone = await milestoneIn(deps, access, argument);
      return (
        milestone &&
        setting(
          ['milestoneId', 'milestone_id'],
          milestone.id,
          `Set the milestone to ${milestoneReference(milestone)}.`,
        )
      );
    },
  },
  {
    names: ['remove_milestone'],
    applies: all(
      mayOrganize,
      stored(({ milestoneId }) => milestoneId !== null),
    ),
    effect: async ({ deps, stored: before }) => {
      const milestone = await deps.store.milestones.get(before!.milestoneId!);
      const name = milestone === undefined ? '' : `${milestoneReference(milestone)} `;
      return setting(['milestoneId', 'milestone_id'], null, `Removed ${name}milestone.`);
    },
  },
];
