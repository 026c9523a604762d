/**
 * What the service noted on objects about the places that name or close them, each once: a row for each pair. Only
 * workers write it.
 */
import type { MentionSource, NoteRecord } from '../../records/notes.ts';
import { TransactionRefused } from '../errors.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import { PIN_REFUSED } from '../repository/pinned-commits.ts';
import { epicKey } from '../row-keys/epics.ts';
import { issueKey } from '../row-keys/issues.ts';
import { mergeRequestKeys } from '../row-keys/merge-requests.ts';
import { mentionKey } from '../row-keys/notes.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Check, PRESENT, type Put, type Write } from '../table/write.ts';
import type { MentionedPlace } from './mentions.ts';
import { noteWrites } from './notes.ts';

type What = 'closed' | 'mentioned';

export class MentionNotes {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** Returns for each place whether this was noted there before. */
  async known(places: readonly MentionedPlace[], what: What, source: MentionSource): Promise<boolean[]> {
    const rows = await this.#table.batchGet(places.map((place) => keyOf(place, what, source)));
    return rows.map((row) => row !== undefined);
  }

  /** The row, for the transaction of what happens once: refused as `mention` if it has happened. */
  once(place: MentionedPlace, what: What, source: MentionSource): Put {
    return { put: { ...keyOf(place, what, source) }, if: ABSENT, reason: 'mention' };
  }

  /**
   * Stores the note that a place is mentioned.
   * @param pins of a commit: what keeps it. @returns whether it is new; not if the place is gone
   * @throws TransactionRefused as `keep` by the pins
   */
  async add(
    note: NoteRecord,
    place: MentionedPlace,
    source: MentionSource,
    pins: readonly Write[] = [],
  ): Promise<boolean> {
    try {
      await this.#table.transact([
        ...noteWrites(note),
        this.once(place, 'mentioned', source),
        ...staysOf(place),
        ...pins,
      ]);
      return true;
    } catch (error) {
      if (error instanceof TransactionRefused && !error.has(PIN_REFUSED)) return false;
      throw error;
    }
  }
}

const keyOf = ({ projectId, noteable }: MentionedPlace, what: What, source: MentionSource) =>
  mentionKey(projectId, noteable, what, source);

/** Checks that a place is there. */
function staysOf({ projectId, iid, noteable }: MentionedPlace): Check[] {
  if (noteable.kind === 'epic') return [{ check: epicKey(noteable.id), if: PRESENT, reason: 'place' }];
  const project = checkProjectExists(projectId);
  if (noteable.kind === 'commit') return [project];
  const address = { projectId, iid: iid! };
  const record = noteable.kind === 'issue' ? issueKey(address) : mergeRequestKeys.record(address);
  return [{ check: record, if: PRESENT, reason: 'place' }, project];
}
