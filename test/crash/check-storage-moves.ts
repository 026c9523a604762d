import { MOVED_KINDS, type MovedKind, type StorageMoveRecord } from '../../lib/records/storage-moves.ts';
import { groupKey } from '../../lib/store/row-keys/groups.ts';
import { leaseKey } from '../../lib/store/row-keys/maintenance.ts';
import { projectKey } from '../../lib/store/row-keys/projects.ts';
import { guardKey } from '../../lib/store/row-keys/repository.ts';
import { snippetKey } from '../../lib/store/row-keys/snippets.ts';
import { moveOfKey, storageMoveIdOf, storageMoveKey } from '../../lib/store/row-keys/storage-moves.ts';
import { keyText, type Row, rowCheck } from './rows.ts';

const KEYS = { project: projectKey, group: groupKey, snippet: snippetKey } as const;
const UNDER_WAY: readonly string[] = ['initial', 'scheduled', 'started'];

/** Each move stands in the list of its subject, which names the one that is under way; new packs go where the record says. */
export const storageMoves = rowCheck(['storage-move', 'storage-move-of-subject'], function* (rows) {
  const moves = rows.of('STORAGEMOVES#') as unknown as readonly (Row & StorageMoveRecord)[];
  const listed = new Set<string>();
  for (const move of moves) {
    const { kind, id, subjectId, state } = move;
    const name = `move ${id} of ${kind} ${subjectId}`;
    if (keyText(storageMoveKey(kind, id)) !== keyText(move)) yield `${name} stands at ${keyText(move)}`;
    const place = moveOfKey({ kind, id: subjectId }, id);
    listed.add(keyText(place));
    if (rows.get(place) === undefined) yield `${name} is not in its list`;
    const subject = rows.get(KEYS[kind](subjectId));
    if (subject === undefined || subject['deletedAt']) continue;
    if (UNDER_WAY.includes(state) !== (subject['storageMove'] === id))
      yield `${name} is ${state}, and its subject names ${subject['storageMove']}`;
  }
  for (const row of rows.of('MOVESOF#'))
    if (!listed.has(keyText(row)))
      yield `${keyText(row)} names move ${storageMoveIdOf(row.sk)}, which does not exist`;
  for (const kind of MOVED_KINDS) yield* subjectsOf(kind);

  function* subjectsOf(kind: MovedKind): Generator<string> {
    const sort = kind.toUpperCase();
    for (const row of rows.of(`${sort}#`)) {
      if (row.sk !== sort || row['deletedAt']) continue;
      const {
        id,
        storageMove,
        storagePrefix = '',
      } = row as unknown as {
        readonly id: number;
        readonly storageMove?: number;
        readonly storagePrefix?: string;
      };
      if (storageMove !== undefined && rows.get(storageMoveKey(kind, storageMove)) === undefined)
        yield `${kind} ${id} names move ${storageMove}, which does not exist`;
      const code = row['repositoryId'] as string | undefined;
      if (code === undefined || rows.get(guardKey(code, 0)) === undefined) continue;
      const written = (rows.get(leaseKey(code))?.['storagePrefix'] as string | undefined) ?? '';
      if (written !== storagePrefix)
        yield `maintenance of ${kind} ${id} writes to ${written}, and others to ${storagePrefix}`;
    }
  }
});
