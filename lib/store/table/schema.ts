/**
 * The one table, as plain data: `cdk` makes the template from it, the embedded host and the tests the
 * `CreateTable` call. Nothing else states an index or its projection.
 */
export interface IndexDefinition {
  readonly name: string;
  readonly partitionKey: string;
  readonly sortKey: string;
  /** Keys only when absent. */
  readonly include?: readonly string[];
}

/** Items of these lists are spread over a fixed number of partitions per class and merged (`paging.ts`). */
const LIST = 'list';

export const indexes: readonly IndexDefinition[] = [
  // Projects, users and tokens in order of creation: ids rise with it. Also the order of keyset pages.
  { name: 'byId', partitionKey: LIST, sortKey: 'byId' },
  // Projects and users by name, case-insensitive; what an author did, by what it was.
  { name: 'byName', partitionKey: LIST, sortKey: 'byName' },
  // Projects by path, users by username, case-insensitive.
  { name: 'byPath', partitionKey: LIST, sortKey: 'byPath' },
  // Projects and users by time of their last change; what an author did.
  { name: 'byUpdated', partitionKey: LIST, sortKey: 'byUpdated' },
  // Projects by time of their last activity.
  { name: 'byActivity', partitionKey: LIST, sortKey: 'byActivity' },
  // Projects by the bytes of their repository.
  { name: 'bySize', partitionKey: LIST, sortKey: 'bySize' },
  // What a user has: memberships, owned projects, tokens. Rows carry what a list of memberships shows. What was done in a
  // project, by what it was.
  {
    name: 'byUser',
    partitionKey: 'who',
    sortKey: 'what',
    include: ['accessLevel', 'expiresAt', 'visibility'],
  },
];

export type IndexName = 'byId' | 'byName' | 'byPath' | 'byUpdated' | 'byActivity' | 'bySize' | 'byUser';

export const table = {
  partitionKey: 'pk',
  sortKey: 'sk',
  /** Seconds since 1970; the item may be deleted any time after, and counts as gone from then on. */
  ttl: 'ttl',
  billing: 'PAY_PER_REQUEST',
} as const;

/** Objects below this prefix can be made again: a rule of the bucket takes them away after some days. */
export const ARCHIVES = 'archives/';

/** Objects below this prefix wait for a worker; what nobody fetched is taken away after two days. */
export const STAGING = 'staging/';
export const STAGING_DAYS = 2;

/** Every attribute that is a key anywhere; all are strings. */
const keyAttributes: readonly string[] = [
  ...new Set([table.partitionKey, table.sortKey, ...indexes.flatMap((i) => [i.partitionKey, i.sortKey])]),
];

/** Time to live is switched on by a call of its own. */
export const TABLE_TTL_ATTRIBUTE = table.ttl;

/** The input of `CreateTableCommand`. */
export function tableDefinition(tableName: string) {
  return {
    TableName: tableName,
    BillingMode: table.billing,
    AttributeDefinitions: keyAttributes.map((name) => ({ AttributeName: name, AttributeType: 'S' as const })),
    KeySchema: keySchema(table.partitionKey, table.sortKey),
    GlobalSecondaryIndexes: indexes.map((index) => ({
      IndexName: index.name,
      KeySchema: keySchema(index.partitionKey, index.sortKey),
      Projection:
        index.include === undefined
          ? { ProjectionType: 'KEYS_ONLY' as const }
          : { ProjectionType: 'INCLUDE' as const, NonKeyAttributes: [...index.include] },
    })),
  };
}

function keySchema(partitionKey: string, sortKey: string) {
  return [
    { AttributeName: partitionKey, KeyType: 'HASH' as const },
    { AttributeName: sortKey, KeyType: 'RANGE' as const },
  ];
}
