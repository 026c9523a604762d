import type { IssueRecord } from '../../lib/records/issues.ts';
import type { NoteRecord } from '../../lib/records/notes.ts';
import { ISSUE } from '../../lib/store/row-keys/issues.ts';
import type { ExpectedState } from './expected-state.ts';
import type { Row, Rows } from './rows.ts';

/** Where an issue is that was never filed. */
export const NO_ISSUE = '(none)';

type IssueRow = Row & IssueRecord;
type NoteRow = Row & NoteRecord;

/** The issues of the writers by title; the copy of one that moved follows it. */
const issuesOf = (rows: Rows): Map<string, IssueRow[]> =>
  Map.groupBy(
    (rows.of('ISSUES#') as unknown as IssueRow[])
      .filter(({ sk, title }) => sk.startsWith(ISSUE) && title.startsWith('issue-of-'))
      .sort((a, b) => a.id - b.id),
    ({ title }) => title,
  );

/** What became of the issue that was filed with a title: its state, or that it moved. */
export function issueState(rows: Rows, title: string): string {
  const issue = issuesOf(rows).get(title)?.[0];
  if (issue === undefined) return NO_ISSUE;
  return issue.movedTo === null ? issue.state : 'moved';
}

/**
 * Compares the issues of the writers with what they asked for: each is there once, and once more where it moved; of each
 * change one note of the service and one event tell; each note that was answered is there, and in the copy when the
 * workers have run.
 */
export function* issueWorkProblems(
  rows: Rows,
  { states, remarks }: ExpectedState,
  settled: boolean,
): Iterable<string> {
  const events = Map.groupBy(rows.of('EVENTS#'), (row) => {
    const { type, id } = (row['target'] ?? {}) as { readonly type?: string; readonly id?: number };
    return `${type} ${id}`;
  });
  const told = (what: string, action: string): number =>
    (events.get(what) ?? []).filter((event) => event['action'] === action).length;
  const notes = Map.groupBy(
    (rows.of('NOTES#') as unknown as NoteRow[]).filter((row) => row.sk.startsWith('issue#')),
    ({ noteable }) => noteable.id,
  );
  const expected = function* (what: string, is: number, wanted: number) {
    if (is !== wanted) yield `${what}: ${is} and not ${wanted}`;
  };
  const there = new Set<string>();
  for (const [title, issues] of issuesOf(rows)) {
    const [source, ...copies] = issues as [IssueRow, ...IssueRow[]];
    if (!states.has(`issue ${title}`)) yield `nobody asked for ${title}`;
    const hasMoved = source.movedTo !== null;
    yield* expected(`copies of ${title}`, copies.length, hasMoved ? 1 : 0);
    if (hasMoved && copies[0]?.id !== source.movedTo.id)
      yield `${title} moved to another issue than its copy`;
    for (const issue of issues) {
      const what = `${issue === source ? '' : 'the copy of '}${title}`;
      const closed = issue.state === 'closed' ? 1 : 0;
      yield* expected(`events that ${what} was created`, told(`Issue ${issue.id}`, 'created'), 1);
      yield* expected(`events that ${what} was closed`, told(`Issue ${issue.id}`, 'closed'), closed);
      const own = notes.get(issue.id) ?? [];
      const ofService = (begin: string) =>
        own.filter(({ system, body }) => system !== undefined && String(body).startsWith(begin)).length;
      yield* expected(`notes that ${what} moved there`, ofService('moved from'), issue === source ? 0 : 1);
      yield* expected(
        `notes that ${what} moved away`,
        ofService('moved to'),
        issue === source && hasMoved ? 1 : 0,
      );
      if (!hasMoved) yield* expected(`notes that ${what} was closed`, ofService('closed'), closed);
    }
    const remark = title.replace('issue-', 'remark-');
    const written = (issue: IssueRow) => (notes.get(issue.id) ?? []).filter(({ body }) => body === remark);
    const [note, again] = written(source);
    if (again !== undefined) yield `${remark} is there twice`;
    if (note === undefined) continue;
    there.add(remark);
    const kind = note.discussed === true ? 'DiscussionNote' : 'Note';
    yield* expected(`events of ${remark}`, told(`${kind} ${note.id}`, 'commented'), 1);
    for (const copy of copies) {
      const { length } = written(copy);
      if (settled || length > 1) yield* expected(`copies of ${remark}`, length, 1);
    }
  }
  for (const remark of remarks) if (!there.has(remark)) yield `${remark} was answered and is not there`;
}
