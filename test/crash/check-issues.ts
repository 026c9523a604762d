import type { IssueLinkRecord, IssueReference } from '../../lib/records/issues.ts';
import { ISSUE_KIND } from '../../lib/store/issues/kind.ts';
import { OPPOSITE } from '../../lib/store/issues/links.ts';
import { ISSUE_LINKS, issueKey, issueLinkCountKey, issueLinkKey } from '../../lib/store/row-keys/issues.ts';
import { idOf } from '../../lib/store/row-keys/key.ts';
import { checkTracked } from './check-tracked.ts';
import { keyText, type Row, rowCheck } from './rows.ts';

/** Issues stand in the lists of exactly what their records say, and are counted. */
export const issues = rowCheck(
  [
    'issue',
    'issue-in-list',
    'issue-by',
    'issue-word',
    'issue-count',
    'issue-iid',
    'issue-copy',
    'issue-id',
    'issue-agent',
  ],
  function* (rows) {
    yield* checkTracked(rows, ISSUE_KIND);
    for (const row of rows.of('ISSUES#').filter(({ sk }) => sk.startsWith('COPY#'))) {
      const target = row['target'] as IssueReference;
      if (rows.get(issueKey(target))?.['id'] !== target.id) yield `${keyText(row)} copies to no issue`;
    }
    for (const row of rows.of('ISSUES#').filter(({ sk }) => sk.startsWith('AGENT#'))) {
      const address = { projectId: idOf(row.pk), iid: idOf(row.sk) };
      if (rows.get(issueKey(address)) === undefined) yield `${keyText(row)} is of no issue`;
    }
  },
);

/** Relations stand at both of their issues, of which at least the one is there, and are counted at each. */
export const issueLinks = rowCheck(['issue-link', 'issue-link-count'], function* (rows) {
  const isLink = ({ sk }: Row) => sk.startsWith(ISSUE_LINKS);
  const counts = new Map<string, number>();
  for (const row of rows.of('ISSUES#').filter(isLink)) {
    const link = row as unknown as IssueLinkRecord;
    const { issue, other } = link;
    if (keyText(issueLinkKey(issue.projectId, issue.id, other.id)) !== keyText(row))
      yield `relation ${link.id} stands at ${keyText(row)}`;
    const mirror = rows.get(issueLinkKey(other.projectId, other.id, issue.id));
    if (mirror?.['id'] !== link.id || mirror['type'] !== OPPOSITE[link.type])
      yield `relation ${link.id} is not at issue ${other.id}`;
    if (rows.get(issueKey(issue)) === undefined) yield `relation ${link.id} is of a deleted issue`;
    const counter = keyText(issueLinkCountKey(issue.projectId, issue.id));
    counts.set(counter, (counts.get(counter) ?? 0) + 1);
  }
  for (const row of rows.of('ISSUES#').filter(({ sk }) => sk.startsWith('LINKS#')))
    if (row['count'] !== (counts.get(keyText(row)) ?? 0))
      yield `${keyText(row)} counts ${row['count']} relations of ${counts.get(keyText(row)) ?? 0}`;
});
