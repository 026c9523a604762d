import type { TrackedRecord } from '../../lib/records/tracked.ts';
import type { TrackedKind } from '../../lib/store/tracked/kind.ts';
import { countName, fromItem } from '../../lib/store/tracked/records.ts';
import { livingOf } from './records.ts';
import { keyText, type Row, type Rows } from './rows.ts';

/** Titles and the root of a project follow by jobs. */
const LATER = { rootId: 0, labelTitles: new Map() };

/** Finds records of a kind that do not stand in the lists of exactly what they say, or are not counted. */
export function* checkTracked<R extends TrackedRecord, Facet extends string, Class extends string>(
  rows: Rows,
  kind: TrackedKind<R, Facet, Class>,
): Iterable<string> {
  const beginning = (pk: string) => pk.slice(0, pk.indexOf('#') + 1);
  const byProject = Map.groupBy(rows.of(beginning(kind.keys.partition(0))), ({ pk }) => pk);
  const ids = Map.groupBy(rows.of(beginning(kind.keys.id(0).pk)), ({ projectId }) => projectId);
  for (const { id } of livingOf(rows)) {
    const own = byProject.get(kind.keys.partition(id)) ?? [];
    if (own.length > 0) yield* ofProject(rows, kind, id, [...own, ...(ids.get(id) ?? [])]);
  }
}

function* ofProject<R extends TrackedRecord, Facet extends string, Class extends string>(
  rows: Rows,
  kind: TrackedKind<R, Facet, Class>,
  projectId: number,
  own: readonly Row[],
): Iterable<string> {
  const { keys, classOf } = kind;
  const counts = new Map<Class, number>();
  const wanted = new Set<string>();
  const last = (rows.get(keys.iid(projectId))?.['n'] as number | undefined) ?? 0;
  const idRow = keys.id(0).sk;
  for (const row of own.filter(({ sk }) => sk.startsWith(keys.recordPrefix))) {
    const record = fromItem<R & { readonly obsolete?: readonly string[] }>(row)!;
    const what = `${kind.name} ${record.iid} of project ${projectId}`;
    counts.set(classOf(record), (counts.get(classOf(record)) ?? 0) + 1);
    if (record.iid > last) yield `${what} is above the last number given, ${last}`;
    const index = kind.recordIndex(record);
    for (const name of Object.keys(index))
      if (row[name] !== index[name]) yield `${what} stands in ${name} as ${row[name]}`;
    for (const { put } of kind.claims?.(record) ?? [])
      if (rows.get(put)?.['iid'] !== record.iid) yield `${what} does not hold ${keyText(put)}`;
    for (const listed of kind.rows(record, LATER)) {
      wanted.add(keyText(listed));
      const found = rows.get(listed);
      if (record.obsolete !== undefined) continue;
      if (found === undefined) yield `${what} has no row ${listed.sk}`;
      else if (listed.sk === idRow && found['list'] !== listed['list'])
        yield `${what} is listed in ${found['list']}`;
      else if (found['byUpdated'] !== listed['byUpdated'])
        yield `${what} stands at ${listed.sk} as changed ${found['byUpdated']}`;
    }
    for (const sk of record.obsolete ?? []) wanted.add(keyText({ pk: row.pk, sk }));
  }
  for (const row of own)
    if ((/^(LIST#|BY#|WORD#|COMMIT#)/.test(row.sk) || row.sk === idRow) && !wanted.has(keyText(row)))
      yield `${keyText(row)} leads nowhere`;
  const stored = rows.get(keys.count(projectId));
  for (const listClass of kind.classes) {
    const name = countName(listClass);
    if ((stored?.[name] ?? 0) !== (counts.get(listClass) ?? 0))
      yield `project ${projectId} counts ${stored?.[name]} ${kind.name}s as ${listClass} and has ${counts.get(listClass) ?? 0}`;
  }
}
