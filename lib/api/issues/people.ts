import { conversationOf } from '../../domain/issues/conversation.ts';
import { getIssue } from '../../domain/issues/issues.ts';
import { project } from '../../http/access.ts';
import { conversationEndpoints } from '../notes/subscriptions.ts';
import { onIssue } from './notes.ts';
import { presentedIssue } from './presented.ts';
import * as shapes from './shapes.ts';

export const issuePeopleEndpoints = conversationEndpoints({
  ...onIssue,
  readers: project('read_issues', { anonymous: true }),
  shape: shapes.issue,
  open: (deps, actor, access, { issue_iid }) => getIssue(deps, actor, access, Number(issue_iid)),
  conversation: conversationOf,
  present: presentedIssue,
});
