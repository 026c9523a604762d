/** Quick actions about the state and the nature of an issue. */

import { SEVERITIES, type Severity } from '../../records/issues.ts';
import { stateAfter } from '../issues/issues.ts';
import { type IssueAction, maySet, mayWrite, setting, stored } from './issue-action.ts';
import { all } from './tracked-action.ts';

const moving =
  (event: 'close' | 'reopen', summary: string): IssueAction['effect'] =>
  ({ deps, actor }) => ({
    summary,
    changes: () => ({ state_event: event }),
    fields: (before) => stateAfter(before, event, actor.user.id, deps.now()),
  });

/** By severity: its name and its numbers, as people write them. */
const SEVERITY_WORDS: Readonly<Record<Severity, readonly string[]>> = {
  UNKNOWN: ['unknown', '0'],
  LOW: ['low', '4', 's4'],
  MEDIUM: ['medium', '3', 's3'],
  HIGH: ['high', '2', 's2'],
  CRITICAL: ['critical', '1', 's1'],
};

export const FIELD_ACTIONS: readonly IssueAction[] = [
  {
    names: ['close'],
    applies: all(
      mayWrite,
      stored(({ state }) => state === 'opened'),
    ),
    effect: moving('close', 'Closed this issue.'),
  },
  {
    names: ['reopen'],
    applies: all(
      mayWrite,
      stored(({ state }) => state === 'closed'),
    ),
    effect: moving('reopen', 'Reopened this issue.'),
  },
  {
    names: ['confidential'],
    // Whoever creates an issue decides whether it is confidential.
    applies: (context) => !context.issue.confidential && (context.stored === undefined || maySet(context)),
    effect: () => setting(['confidential', 'confidential'], true, 'Made this issue confidential.'),
  },
  {
    names: ['severity'],
    argument: 'needed',
    applies: (context) => maySet(context) && context.issue.type === 'incident',
    effect: (_, argument) => {
      const severity = SEVERITIES.find((each) => SEVERITY_WORDS[each].includes(argument.toLowerCase()));
      if (severity === undefined) return { summary: 'No severity matches the provided parameter' };
      const name = severity[0] + severity.slice(1).toLowerCase();
      return {
        summary: `Severity updated to ${name}.`,
        fields: () => ({ severity }),
      };
    },
  },
  {
    names: ['promote_to_incident'],
    applies: all(
      maySet,
      stored(({ type }) => type !== 'incident'),
    ),
    effect: () => setting(['type', 'issue_type'], 'incident', 'Issue has been promoted to incident'),
  },
];
