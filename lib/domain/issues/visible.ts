export { isOwn, maySeeIssue } from '../access/visible-issues.ts';
