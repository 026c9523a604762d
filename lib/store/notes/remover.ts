import type { Remover } from '../deletion/remover.ts';
import { Missing, Stale } from '../errors.ts';
import type { Key } from '../row-keys/key.ts';
import { deleteRow, untilNoneLeft } from '../table/delete-page.ts';
import type { Table } from '../table/table.ts';
import type { Texts } from '../texts/texts.ts';
import { anonymize } from './anonymize.ts';
import type { NoteRecord, Notes } from './notes.ts';
import type { Threads } from './participants.ts';

interface Stores {
  readonly table: Table;
  readonly notes: Notes;
  readonly texts: Texts;
  readonly threads: Threads;
}

export const remover: Remover<Stores> = {
  ofProject: {
    rows: ['note', 'listed-note', 'discussion', 'note-count', 'participant'],
    run: async ({ notes, threads }, { id }, deadline) =>
      (await untilNoneLeft(() => notes.removeOfProject(id), deadline)) &&
      untilNoneLeft(() => threads.removeOfProject(id), deadline),
  },
  ofUserRows: {
    rows: ['note', 'listed-note', 'discussion', 'participant'],
    byRow: {
      NOTE: (stores, row, { hard, ghost }) =>
        hard ? removeNote(stores, row) : anonymize(stores.table, row, ghost),
      THREAD: deleteRow,
    },
  },
};

/** Attempts against others who change the same discussion; the job is repeated after the last. */
const ATTEMPTS = 10;

async function removeNote({ table, notes, texts }: Stores, key: Key): Promise<void> {
  const note = (await table.get({ pk: key.pk, sk: key.sk })) as unknown as NoteRecord | undefined;
  if (note === undefined) return;
  for (let attempt = 1; ; attempt++) {
    try {
      await notes.remove(note);
      break;
    } catch (error) {
      if (error instanceof Missing) break;
      if (!(error instanceof Stale) || attempt >= ATTEMPTS) throw error;
    }
  }
  await texts.drop(note.body);
}
