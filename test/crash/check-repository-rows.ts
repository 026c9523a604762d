import { parseOid } from '../../lib/git/oid.ts';
import { idOf } from '../../lib/store/row-keys/key.ts';
import {
  guardKey,
  PINNED,
  RECENT_TIP,
  REF,
  REF_TABLES,
  refSort,
  refTableKey,
  refTablePartition,
} from '../../lib/store/row-keys/repository.ts';
import { livingOf } from './records.ts';
import { keyText, type Row, rowCheck } from './rows.ts';

const repositoryOf = ({ pk }: Row): string => pk.slice('REPO#'.length);

/** Rows of refs stand under their names; those of pinned commits and recent tips name commits. */
export const refRows = rowCheck(['ref', 'pinned-commit', 'recent-tip'], function* (rows) {
  for (const row of rows.of('REPO#')) {
    const { sk } = row;
    if (sk.startsWith(REF) && refSort(row['name'] as string) !== sk)
      yield `the ref ${row['name']} stands at ${keyText(row)}`;
    if (sk.startsWith(PINNED) && !/^[0-9a-f]{40}(?:#MR#\d+)?$/.test(sk.slice(PINNED.length)))
      yield `${keyText(row)} pins no commit`;
    const tips = (row['tips'] ?? []) as { name: string; oid: string }[];
    if (
      sk.startsWith(RECENT_TIP) &&
      (tips.length === 0 || tips.some(({ oid }) => parseOid(oid) === undefined))
    )
      yield `${keyText(row)} tells of no tip`;
  }
});

/** Every ref table is registered; in one that is in force each run of refs leads to the next, and ranks to runs. */
export const refTables = rowCheck(['ref-table', 'ref-table-chunk', 'ref-table-rank'], function* (rows) {
  const tables = Map.groupBy(rows.of('REFTABLE#'), ({ pk }) => pk);
  const registered = new Set(
    rows
      .of('REPO#')
      .filter(({ sk }) => sk.startsWith(REF_TABLES))
      .map((row) => refTablePartition(repositoryOf(row), row.sk.slice(REF_TABLES.length))),
  );
  for (const pk of tables.keys()) if (!registered.has(pk)) yield `${pk} is registered nowhere`;
  for (const { id, row } of livingOf(rows)) {
    const repositoryId = row['repositoryId'] as string;
    const tableId = rows.get(guardKey(repositoryId, 0))?.['refTable'] as string | undefined;
    if (!tableId) continue;
    const what = `the ref table of project ${id}`;
    if (rows.get(refTableKey(repositoryId, tableId)) === undefined) yield `${what} is registered nowhere`;
    const all = tables.get(refTablePartition(repositoryId, tableId)) ?? [];
    const bySort = (a: Row, b: Row) => Buffer.compare(Buffer.from(a.sk), Buffer.from(b.sk));
    const runs = all.filter(({ sk }) => sk.startsWith(REF)).sort(bySort);
    for (const [i, run] of runs.entries())
      if (run['next'] !== runs[i + 1]?.sk) yield `${what} ends at ${run.sk}, which leads to ${run['next']}`;
    const starts = new Set(runs.map(({ sk }) => sk));
    for (const rank of all.filter(({ sk }) => sk.startsWith('RANK#')))
      if (!starts.has(rank['chunk'] as string) || Number.isNaN(idOf(rank.sk)))
        yield `${what}: ${rank.sk} leads to ${rank['chunk']}, which does not exist`;
  }
});
