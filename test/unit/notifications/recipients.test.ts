/**
 * Who is sent mail, as the product documents it ("Notification emails", levels and events): each line an event and what
 * somebody is to it, and for each level whether they are sent mail, and why. Custom is told twice: with nothing chosen
 * that is not chosen by itself, and with this event alone.
 */
import { describe, expect, test } from 'vitest';
import {
  MAIL_EVENTS,
  type MailEvent,
  type Relation,
  reasonToMail,
} from '../../../lib/domain/notifications/decide.ts';
import { type EffectiveLevel, eventsOf } from '../../../lib/domain/notifications/levels.ts';

const ISSUE = 'reopen_issue close_issue';
const REQUEST = 'reopen_merge_request close_merge_request merge_merge_request merge_when_pipeline_succeeds';
const BEGUN = 'new_issue new_merge_request new_epic';
const SPOKEN = `${BEGUN} new_note`;
const REASSIGNED = 'reassign_issue reassign_merge_request';
const THREAD = `${SPOKEN} ${ISSUE} ${REQUEST} ${REASSIGNED} change_reviewer_merge_request`;
// Nobody chooses these.
const UNCHOSEN =
  'change_milestone_of_issue move_issue change_milestone_of_merge_request approve_merge_request unapprove_merge_request resolve_all_discussions close_epic reopen_epic';
const MENTION = 'mention_in_issue mention_in_merge_request';
const RELABEL = 'relabel_issue relabel_merge_request';
const INVOLVED = 'issue_due push_to_merge_request';
const ENDED = 'failed_pipeline fixed_pipeline';

// `-`: none. Otherwise the reason.
const TABLE = `
events              | relations               | disabled | mention          | participating    | custom none      | custom this      | watch
THREAD              | -                       | -        | -                | -                | -                | custom           | watching
THREAD              | author                  | -        | -                | author           | author           | author           | author
THREAD              | participant             | -        | -                | participating    | participating    | participating    | participating
SPOKEN              | mentioned               | -        | mentioned        | mentioned        | mentioned        | mentioned        | mentioned
ISSUE               | mentioned               | -        | -                | mentioned        | mentioned        | mentioned        | mentioned
REQUEST             | mentioned               | -        | -                | mentioned        | mentioned        | mentioned        | mentioned
BEGUN               | assignee                | -        | -                | assigned         | assigned         | assigned         | assigned
ISSUE               | assignee                | -        | -                | assigned         | assigned         | assigned         | assigned
new_note            | assignee                | -        | -                | assigned         | assigned         | assigned         | assigned
REASSIGNED          | assignee                | -        | assigned         | assigned         | assigned         | assigned         | assigned
REASSIGNED          | former_assignee         | -        | participating    | participating    | participating    | participating    | participating
change_reviewer_merge_request | reviewer      | -        | review_requested | review_requested | review_requested | review_requested | review_requested
change_reviewer_merge_request | former_reviewer | -      | participating    | participating    | participating    | participating    | participating
merge_merge_request | reviewer                | -        | -                | review_requested | review_requested | review_requested | review_requested
THREAD              | subscribed              | -        | subscribed       | subscribed       | subscribed       | subscribed       | subscribed
THREAD              | author subscribed       | -        | subscribed       | subscribed       | subscribed       | subscribed       | subscribed
THREAD              | unsubscribed            | -        | -                | -                | -                | -                | -
THREAD              | author unsubscribed     | -        | -                | -                | -                | -                | -
THREAD              | participant unsubscribed | -       | -                | -                | -                | -                | -
SPOKEN              | mentioned unsubscribed  | -        | mentioned        | mentioned        | mentioned        | mentioned        | mentioned
ISSUE               | mentioned unsubscribed  | -        | -                | -                | -                | -                | -
REASSIGNED          | assignee unsubscribed   | -        | assigned         | assigned         | assigned         | assigned         | assigned
THREAD              | actor                   | -        | -                | -                | -                | -                | -
THREAD              | actor author            | -        | -                | -                | -                | -                | -
SPOKEN              | actor mentioned         | -        | -                | -                | -                | -                | -
THREAD              | actor subscribed        | -        | -                | -                | -                | -                | -
INVOLVED            | -                       | -        | -                | -                | -                | custom           | -
INVOLVED            | participant             | -        | -                | participating    | participating    | participating    | participating
INVOLVED            | author                  | -        | -                | author           | author           | author           | author
INVOLVED            | assignee                | -        | -                | assigned         | assigned         | assigned         | assigned
INVOLVED            | unsubscribed            | -        | -                | -                | -                | -                | -
issue_due           | actor author            | -        | -                | author           | author           | author           | author
push_to_merge_request | actor author          | -        | -                | -                | -                | -                | -
UNCHOSEN            | -                       | -        | -                | -                | -                | -                | watching
UNCHOSEN            | author                  | -        | -                | author           | author           | author           | author
UNCHOSEN            | assignee                | -        | -                | assigned         | assigned         | assigned         | assigned
UNCHOSEN            | participant             | -        | -                | participating    | participating    | participating    | participating
UNCHOSEN            | subscribed              | -        | subscribed       | subscribed       | subscribed       | subscribed       | subscribed
UNCHOSEN            | author unsubscribed     | -        | -                | -                | -                | -                | -
UNCHOSEN            | actor author            | -        | -                | -                | -                | -                | -
MENTION             | mentioned               | -        | mentioned        | mentioned        | mentioned        | mentioned        | mentioned
MENTION             | mentioned unsubscribed  | -        | mentioned        | mentioned        | mentioned        | mentioned        | mentioned
MENTION             | author                  | -        | -                | -                | -                | -                | -
MENTION             | actor mentioned         | -        | -                | -                | -                | -                | -
RELABEL             | subscribed              | -        | subscribed       | subscribed       | subscribed       | subscribed       | subscribed
RELABEL             | subscribed unsubscribed | -        | -                | -                | -                | -                | -
RELABEL             | author                  | -        | -                | -                | -                | -                | -
RELABEL             | actor subscribed        | -        | -                | -                | -                | -                | -
ENDED               | author                  | -        | -                | author           | author           | author           | author
ENDED               | -                       | -        | -                | -                | -                | -                | -
success_pipeline    | author                  | -        | -                | -                | -                | author           | -
success_pipeline    | -                       | -        | -                | -                | -                | -                | -
moved_project       | member                  | -        | member           | member           | -                | member           | member
moved_project       | -                       | -        | -                | -                | -                | -                | -
moved_project       | actor member            | -        | -                | -                | -                | -                | -
alert               | member                  | -        | member           | member           | -                | -                | member
alert               | -                       | -        | -                | -                | -                | -                | -
alert               | actor member            | -        | -                | -                | -                | -                | -
new_release         | member                  | -        | -                | -                | -                | custom           | watching
new_release         | -                       | -        | -                | -                | -                | -                | -
`;

const GROUPS: Readonly<Record<string, string>> = {
  ISSUE,
  REQUEST,
  BEGUN,
  SPOKEN,
  REASSIGNED,
  THREAD,
  UNCHOSEN,
  MENTION,
  RELABEL,
  INVOLVED,
  ENDED,
};
const [head, ...lines] = TABLE.trim()
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()));
const levels = head!.slice(2);
const rows = lines.flatMap(([events, relations, ...reasons]) =>
  (GROUPS[events!] ?? events!).split(' ').map((event) => ({ event, relations: relations!, reasons })),
);

const setting = (level: string, event: MailEvent) => {
  const events = level === 'custom this' ? { [event]: true } : {};
  return { level: level.split(' ')[0] as EffectiveLevel, events: eventsOf({ events }) };
};
const asked = (text: string): Set<Relation> => new Set(text === '-' ? [] : (text.split(' ') as Relation[]));

test('the table of recipients has every event', () => {
  expect(new Set(rows.map(({ event }) => event))).toEqual(new Set(MAIL_EVENTS));
});

describe.each(rows)('$event, $relations', ({ event, relations, reasons }) => {
  test.each(levels.map((level, i) => [level, reasons[i]!] as const))('%s: %s', (level, reason) => {
    const known = event as MailEvent;
    const candidate = { relations: asked(relations), setting: setting(level, known) };
    expect(reasonToMail(known, candidate) ?? '-').toBe(reason);
  });
});

test('users who enabled mail about their own activity get the mail that others would, with that reason', () => {
  const of = (level: string, relations: string) =>
    reasonToMail('new_note', {
      relations: asked(relations),
      setting: setting(level, 'new_note'),
      ownActivity: true,
    });
  expect(of('participating', 'actor author')).toBe('own_activity');
  expect(of('participating', 'actor')).toBeUndefined();
  expect(of('watch', 'actor')).toBe('own_activity');
  expect(of('disabled', 'actor author')).toBeUndefined();
});
