import { DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { RowKindName } from '../../lib/store/row-keys/all.ts';
import { type IndexName, indexes } from '../../lib/store/table/schema.ts';
import type { Item } from '../../lib/store/table/write.ts';
import type { Data } from './data.ts';

export type Row = Item & { readonly pk: string; readonly sk: string };

/** Every item of the table and every row of its indexes. A tool of tests: the service never reads like this. */
export interface Rows {
  readonly items: readonly Row[];
  readonly byKey: ReadonlyMap<string, Row>;
  readonly indexes: ReadonlyMap<IndexName, readonly Row[]>;
  /** Items whose partition key begins so. */
  of(prefix: string): readonly Row[];
  get(key: { readonly pk: string; readonly sk: string }): Row | undefined;
}

/** A check of stored data, with the kinds of rows that it looks at. */
export interface RowCheck {
  readonly kinds: readonly RowKindName[];
  /**
   * @param settledAt milliseconds since 1970: until then the workers have done what fell due
   * @param now milliseconds since 1970, by the clock of the host that wrote the rows
   * @returns what is wrong, a line each
   */
  run(rows: Rows, settledAt: number, now: number): Iterable<string>;
}

export const rowCheck = (kinds: readonly RowKindName[], run: RowCheck['run']): RowCheck => ({ kinds, run });

export const keyText = ({ pk, sk }: { readonly pk: string; readonly sk: string }): string => `${pk} ${sk}`;

export async function readRows(data: Pick<Data, 'store' | 'clients'>): Promise<Rows> {
  const client = DynamoDBDocumentClient.from(data.clients.dynamodb);
  const TableName = data.store.environment.tableName;
  const scan = async (IndexName?: string): Promise<Row[]> => {
    const rows: Row[] = [];
    let ExclusiveStartKey: Item | undefined;
    do {
      const page = await client.send(
        new ScanCommand({
          TableName,
          ...(IndexName === undefined ? { ConsistentRead: true } : { IndexName }),
          ...(ExclusiveStartKey === undefined ? {} : { ExclusiveStartKey }),
        }),
      );
      rows.push(...((page.Items ?? []) as Row[]));
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey !== undefined);
    return rows;
  };
  const items = await scan();
  const indexRows = new Map<IndexName, readonly Row[]>();
  for (const { name } of indexes) indexRows.set(name as IndexName, await scan(name));
  return rowsOf(items, indexRows);
}

export function rowsOf(items: readonly Row[], indexRows: Rows['indexes'] = new Map()): Rows {
  const byKey = new Map(items.map((item) => [keyText(item), item]));
  const groups = Map.groupBy(items, ({ pk }) => pk.slice(0, pk.indexOf('#') + 1));
  return {
    items,
    byKey,
    indexes: indexRows,
    of: (prefix) => groups.get(prefix) ?? [],
    get: (key) => byKey.get(keyText(key)),
  };
}
