/**
 * Schema of the table, as plain data: `cdk` makes the template from it, the embedded host and the tests the
 * `CreateTable` call. This is the only definition of indexes and their projections.
 */
export interface IndexDefinition {
  readonly name: string;
  readonly partitionKey: string;
  readonly sortKey: string;
  /** Projected attributes; absent: keys only. */
  readonly include?: readonly string[];
}

/** Items of these lists are spread over a fixed number of partitions per class and merged (`paging.ts`). */
const LIST = 'list';

export const indexes: readonly IndexDefinition[] = [
  // Projects, users and tokens in order of creation: ids rise with it. Also the order of keyset pages.
  { name: 'byId', partitionKey: LIST, sortKey: 'byId' },
  // Projects and users by name, case-insensitive; an author's events, by action.
  { name: 'byName', partitionKey: LIST, sortKey: 'byName' },
  // Projects by path, users by username, case-insensitive.
  { name: 'byPath', partitionKey: LIST, sortKey: 'byPath' },
  // Projects and users by time of their last change; an author's events.
  { name: 'byUpdated', partitionKey: LIST, sortKey: 'byUpdated' },
  // Projects by time of their last activity.
  { name: 'byActivity', partitionKey: LIST, sortKey: 'byActivity' },
  // Projects by the bytes of their repository.
  { name: 'bySize', partitionKey: LIST, sortKey: 'bySize' },
  // Rows of a user: memberships, owned projects, tokens. Projects the attributes that a list of memberships shows. Also
  // a project's events, by action.
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
  /** Seconds since 1970; from then on the item counts as deleted, and DynamoDB deletes it some time later. */
  ttl: 'ttl',
  billing: 'PAY_PER_REQUEST',
} as const;

/** Objects with this prefix can be regenerated: a lifecycle rule of the bucket deletes them after some days. */
export const ARCHIVES = 'archives/';
export const ARCHIVE_DAYS = 7;

/** Objects with this prefix wait for a worker; a lifecycle rule deletes what was not processed in two days. */
export const STAGING = 'staging/';
export const STAGING_DAYS = 2;

/** All attributes used in keys of the table or an index; all are strings. */
const keyAttributes: readonly string[] = [
  ...new Set([table.partitionKey, table.sortKey, ...indexes.flatMap((i) => [i.partitionKey, i.sortKey])]),
];

/** Time to live has to be enabled with a separate call. */
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
