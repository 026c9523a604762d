import type { MergeRequestRecord } from '../../lib/records/merge-requests.ts';
import type { NoteRecord } from '../../lib/records/notes.ts';
import { mergeRequestKeys } from '../../lib/store/row-keys/merge-requests.ts';
import { fromItem } from '../../lib/store/tracked/records.ts';
import type { ExpectedState } from './expected-state.ts';
import type { Row, Rows } from './rows.ts';

/** Where a merge request is that was never made. */
export const NOT_PROPOSED = '(none)';

/** What the writers know of a merge request, by its title: its state, its approvals, or notes of theirs on it. */
export const proposalKey = (what: 'proposal' | 'approvals' | 'opinion', title: string): string =>
  `${what} ${title}`;

export const mergeRequestsOf = (rows: Rows): MergeRequestRecord[] =>
  rows
    .of('MRS#')
    .filter(({ sk }) => sk.startsWith(mergeRequestKeys.recordPrefix))
    .map((row) => fromItem<MergeRequestRecord>(row)!);

const titled = (rows: Rows, title: string) => mergeRequestsOf(rows).find((each) => each.title === title);

type NoteRow = Row & NoteRecord;

const notesOn = (rows: Rows, { id }: MergeRequestRecord): NoteRow[] =>
  (rows.of('NOTES#') as unknown as NoteRow[]).filter(
    ({ noteable }) => noteable?.kind === 'merge-request' && noteable.id === id,
  );

/** What has become of that by now, as the writers of `proposal-writers.ts` write it down. */
export const PROPOSAL_READERS: Readonly<Record<string, (rows: Rows, title: string) => string>> = {
  proposal: (rows, title) => titled(rows, title)?.state ?? NOT_PROPOSED,
  approvals: (rows, title) => String(titled(rows, title)?.approvals.length ?? 0),
  opinion: (rows, title) => {
    const proposal = titled(rows, title);
    const opinion = title.replace('proposal', 'opinion');
    const notes = proposal === undefined ? [] : notesOn(rows, proposal);
    return String(notes.filter(({ body }) => body === opinion).length);
  },
};

/** The merge requests of the writers were asked for, once each, and each change is told once: in a feed and by a note. */
export function* proposalProblems(rows: Rows, { states }: ExpectedState): Iterable<string> {
  const own = mergeRequestsOf(rows).filter(({ title }) => title.startsWith('proposal-of-'));
  const events = Map.groupBy(rows.of('EVENTS#'), (row) => {
    const { type, id } = (row['target'] ?? {}) as { readonly type?: string; readonly id?: number };
    return `${type} ${id}`;
  });
  const titles = new Set<string>();
  for (const proposal of own) {
    const { title, id, state, approvals } = proposal;
    if (titles.has(title)) yield `${title} is there twice`;
    titles.add(title);
    if (!states.has(proposalKey('proposal', title))) yield `nobody asked for ${title}`;
    const told = (action: string) =>
      (events.get(`MergeRequest ${id}`) ?? []).filter((event) => event['action'] === action).length;
    const noted = (kind: string) => notesOn(rows, proposal).filter(({ system }) => system === kind).length;
    for (const [action, wanted] of [
      ['created', 1],
      ['approved', approvals.length],
      ['closed', Number(state === 'closed')],
      ['merged', Number(state === 'merged')],
    ] as const)
      if (told(action) !== wanted)
        yield `${title} is ${state} and ${told(action)} times told to be ${action}`;
    for (const kind of ['closed', 'merged'])
      if (noted(kind) !== Number(state === kind))
        yield `${title} is ${state} and ${noted(kind)} times noted to be ${kind}`;
  }
}
