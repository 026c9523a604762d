import type { Container } from '../../records/labels.ts';
import { type DiscussionRecord, unresolvedBy } from '../../records/notes.ts';
import type { Remover } from '../deletion/remover.ts';
import { Missing, Stale, TransactionRefused } from '../errors.ts';
import { outboxWrites } from '../outbox/outbox.ts';
import type { Key } from '../row-keys/key.ts';
import { countingKey } from '../row-keys/noteables.ts';
import { deleteRow, untilNoneLeft } from '../table/delete-page.ts';
import type { Table } from '../table/table.ts';
import { PRESENT, type Update } from '../table/write.ts';
import type { Texts } from '../texts/texts.ts';
import { anonymize } from './anonymize.ts';
import { type Discussions, leftOf } from './discussions.ts';
import { type NoteRecord, type Notes, noteRemovedMessages } from './notes.ts';
import type { Threads } from './participants.ts';

interface Stores {
  readonly table: Table;
  readonly notes: Notes;
  readonly discussions: Discussions;
  readonly texts: Texts;
  readonly threads: Threads;
}

const rows = [
  ...(['note', 'listed-note', 'discussion', 'further-reply'] as const),
  ...(['note-count', 'mention', 'participant'] as const),
] as const;

const removeOf = async ({ notes, threads }: Stores, holder: Container, deadline: number): Promise<boolean> =>
  (await untilNoneLeft(() => notes.removeOf(holder), deadline)) &&
  untilNoneLeft(() => threads.removeOf(holder), deadline);

export const remover: Remover<Stores> = {
  ofProject: {
    rows: [...rows, 'note-word'],
    run: (stores, { id }, deadline) => removeOf(stores, { kind: 'project', id }, deadline),
  },
  ofGroup: { rows, run: (stores, { id }, deadline) => removeOf(stores, { kind: 'group', id }, deadline) },
  ofUserRows: {
    rows: ['note', 'listed-note', 'note-word', 'discussion', 'further-reply', 'participant'],
    byRow: {
      NOTE: (stores, row, { hard, ghost }) =>
        hard ? removeNote(stores, row) : anonymize(stores.table, row, ghost),
      THREAD: deleteRow,
    },
  },
};

/** Attempts against others who change the same discussion; the job is repeated after the last. */
const ATTEMPTS = 10;

async function removeNote({ table, notes, discussions, texts }: Stores, key: Key): Promise<void> {
  const note = (await table.get({ pk: key.pk, sk: key.sk })) as unknown as NoteRecord | undefined;
  if (note === undefined) return;
  for (let attempt = 1; ; attempt++) {
    try {
      const messages = outboxWrites(noteRemovedMessages(note));
      const discussion = await discussions.ofNote(note);
      await notes.remove(note, discussion, [...(await uncounted(table, note, discussion)), ...messages]);
      break;
    } catch (error) {
      if (error instanceof Missing) break;
      const isLost = error instanceof Stale || error instanceof TransactionRefused;
      if (!isLost || attempt >= ATTEMPTS) throw error;
    }
  }
  await texts.drop(note.body);
}

/** What takes a note off the counts of what it is on, if that is there. */
async function uncounted(
  table: Table,
  note: NoteRecord,
  discussion: DiscussionRecord | undefined,
): Promise<Update[]> {
  const key = countingKey(note);
  if (key === undefined || note.system !== undefined) return [];
  if ((await table.get(key)) === undefined) return [];
  const unresolved = unresolvedBy(discussion, discussion && leftOf(discussion, note.id));
  const add = { userNotesCount: -1, ...(unresolved === 0 ? {} : { unresolvedCount: unresolved }) };
  return [{ update: key, add, if: PRESENT, reason: note.noteable.kind }];
}
