/** Quick actions that give an issue a Zoom meeting, and take it. */

import { type IssueAction, maySet, stored } from './issue-action.ts';
import { all } from './tracked-action.ts';

/** The address of a meeting, a personal room or a page to join, as Zoom writes it. */
const MEETING = /^https:\/\/(?:[\w-]{1,63}\.)?zoom\.us\/(?:s|j|my)\/\S+$/;
const MAX_LENGTH = 255;

const hasMeeting = stored(({ zoomUrl }) => zoomUrl != null);

export const ZOOM_ACTIONS: readonly IssueAction[] = [
  {
    names: ['zoom'],
    argument: 'needed',
    applies: (context) => maySet(context) && !hasMeeting(context),
    effect: (_, argument) => {
      const url = argument.split(/\s+/).findLast((word) => MEETING.test(word));
      if (url === undefined || url.length > MAX_LENGTH) return { summary: 'Failed to add a Zoom meeting' };
      return { summary: 'Zoom meeting added', fields: () => ({ zoomUrl: url }) };
    },
  },
  {
    names: ['remove_zoom'],
    applies: all(maySet, hasMeeting),
    effect: () => ({ summary: 'Zoom meeting removed', fields: () => ({ zoomUrl: null }) }),
  },
];
