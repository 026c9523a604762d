import {
  classOf,
  ISSUE_CLASSES,
  type IssueClass,
  type IssueLinkRecord,
  type IssueRecord,
  type IssueReference,
} from '../../lib/records/issues.ts';
import { fromItem } from '../../lib/store/issues/issues.ts';
import { OPPOSITE } from '../../lib/store/issues/links.ts';
import { issueRows, recordIndex } from '../../lib/store/issues/rows.ts';
import {
  ISSUE,
  ISSUE_LINKS,
  issueCountKey,
  issueIidKey,
  issueKey,
  issueLinkCountKey,
  issueLinkKey,
  issuesPartition,
} from '../../lib/store/row-keys/issues.ts';
import { livingOf } from './records.ts';
import { keyText, type Row, type Rows, rowCheck } from './rows.ts';

/** Issues stand in the lists of exactly what their records say, and are counted. */
export const issues = rowCheck(
  ['issue', 'issue-in-list', 'issue-by', 'issue-word', 'issue-count', 'issue-iid', 'issue-copy', 'issue-id'],
  function* (rows) {
    const byProject = Map.groupBy(rows.of('ISSUES#'), ({ pk }) => pk);
    const ids = Map.groupBy(rows.of('ISSUEID#'), ({ projectId }) => projectId);
    for (const { id } of livingOf(rows)) {
      const own = byProject.get(issuesPartition(id)) ?? [];
      if (own.length > 0) yield* ofProject(rows, id, [...own, ...(ids.get(id) ?? [])]);
    }
  },
);

/** Titles and the root of a project follow by jobs. */
const LATER = { rootId: 0, labelTitles: new Map() };

function* ofProject(rows: Rows, projectId: number, own: readonly Row[]): Iterable<string> {
  const counts = new Map<IssueClass, number>();
  const wanted = new Set<string>();
  const last = (rows.get(issueIidKey(projectId))?.['n'] as number | undefined) ?? 0;
  const records = own.filter(({ sk }) => sk.startsWith(ISSUE));
  for (const row of records) {
    const issue = fromItem(row) as IssueRecord & { readonly obsolete?: readonly string[] };
    const what = `issue ${issue.iid} of project ${projectId}`;
    counts.set(classOf(issue), (counts.get(classOf(issue)) ?? 0) + 1);
    if (issue.iid > last) yield `${what} is above the last number given, ${last}`;
    const index = recordIndex(issue);
    for (const name of Object.keys(index))
      if (row[name] !== index[name]) yield `${what} stands in ${name} as ${row[name]}`;
    for (const listed of issueRows(issue, LATER)) {
      wanted.add(keyText(listed));
      const found = rows.get(listed);
      if (issue.obsolete !== undefined) continue;
      if (found === undefined) yield `${what} has no row ${listed.sk}`;
      else if (listed.sk === 'ISSUEID' && found['list'] !== listed['list'])
        yield `${what} is due in ${found['list']}`;
      else if (found['byUpdated'] !== listed['byUpdated'])
        yield `${what} stands at ${listed.sk} as changed ${found['byUpdated']}`;
    }
    for (const sk of issue.obsolete ?? []) wanted.add(keyText({ pk: row.pk, sk }));
  }
  for (const row of own) {
    if (/^(LIST#|BY#|WORD#|ISSUEID)/.test(row.sk) && !wanted.has(keyText(row)))
      yield `${keyText(row)} leads nowhere`;
  }
  for (const row of own.filter(({ sk }) => sk.startsWith('COPY#'))) {
    const target = row['target'] as IssueReference;
    if (rows.get(issueKey(target))?.['id'] !== target.id) yield `${keyText(row)} copies to no issue`;
  }
  const stored = rows.get(issueCountKey(projectId));
  for (const listClass of ISSUE_CLASSES) {
    const name = listClass.replace('-confidential', 'Confidential');
    if ((stored?.[name] ?? 0) !== (counts.get(listClass) ?? 0))
      yield `project ${projectId} counts ${stored?.[name]} issues as ${listClass} and has ${counts.get(listClass) ?? 0}`;
  }
}

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
