import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  ResourceInUseException,
  ResourceNotFoundException,
  type TableDescription,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';

/** The desired state of a table. */
export interface TableDefinition extends CreateTableCommandInput {
  TableName: string;
  /** The attribute with the time, in seconds since 1970, at which an item expires. */
  timeToLive?: string;
  pointInTimeRecovery?: boolean;
}

/**
 * Creates a table unless it exists, adds missing indexes and deletes those that are not defined (so that a data directory
 * follows a newer release), and enables time to live and point-in-time recovery. Idempotent.
 */
export async function ensureTable(client: DynamoDBClient, definition: TableDefinition): Promise<void> {
  const { timeToLive, pointInTimeRecovery, ...creation } = definition;
  const { TableName } = definition;
  const existing = await describe(client, TableName);
  if (existing) await matchIndexes(client, existing, creation);
  else {
    try {
      await client.send(new CreateTableCommand(creation));
    } catch (error) {
      if (!(error instanceof ResourceInUseException)) throw error;
    }
    await active(client, TableName);
  }
  if (timeToLive !== undefined) {
    const { TimeToLiveDescription: current } = await client.send(
      new DescribeTimeToLiveCommand({ TableName }),
    );
    if (current?.TimeToLiveStatus === 'DISABLED') {
      const TimeToLiveSpecification = { Enabled: true, AttributeName: timeToLive };
      await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
    }
  }
  if (pointInTimeRecovery) {
    const { ContinuousBackupsDescription: current } = await client.send(
      new DescribeContinuousBackupsCommand({ TableName }),
    );
    if (current?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus !== 'ENABLED') {
      const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
      await client.send(new UpdateContinuousBackupsCommand({ TableName, PointInTimeRecoverySpecification }));
    }
  }
}

/** One change of indexes at a time: the service accepts no more. */
async function matchIndexes(
  client: DynamoDBClient,
  existing: TableDescription,
  { TableName, AttributeDefinitions, GlobalSecondaryIndexes = [] }: CreateTableCommandInput,
): Promise<void> {
  const missing = new Map(GlobalSecondaryIndexes.map((index) => [index.IndexName, index]));
  for (const { IndexName } of existing.GlobalSecondaryIndexes ?? []) {
    if (missing.delete(IndexName)) continue;
    const GlobalSecondaryIndexUpdates = [{ Delete: { IndexName } }];
    await client.send(new UpdateTableCommand({ TableName, GlobalSecondaryIndexUpdates }));
    await active(client, TableName!);
  }
  for (const index of missing.values()) {
    const GlobalSecondaryIndexUpdates = [{ Create: index }];
    await client.send(
      new UpdateTableCommand({ TableName, AttributeDefinitions, GlobalSecondaryIndexUpdates }),
    );
    await active(client, TableName!);
  }
}

async function active(client: DynamoDBClient, TableName: string): Promise<void> {
  await waitUntilTableExists({ client, maxWaitTime: 600, minDelay: 1, maxDelay: 5 }, { TableName });
}

async function describe(client: DynamoDBClient, TableName: string): Promise<TableDescription | undefined> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName }))).Table;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
}
