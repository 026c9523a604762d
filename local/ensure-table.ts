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

/** A table as it should be. */
export interface TableDefinition extends CreateTableCommandInput {
  TableName: string;
  /** The attribute with the second, since 1970, at which an item's time is over. */
  timeToLive?: string;
  pointInTimeRecovery?: boolean;
}

/**
 * Makes a table if it is not there; gives it the indexes it lacks and takes away those not defined (which is how
 * a data directory follows a newer release); turns on time to live and recovery. May be repeated.
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
    const { TimeToLiveDescription: now } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
    if (now?.TimeToLiveStatus === 'DISABLED') {
      const TimeToLiveSpecification = { Enabled: true, AttributeName: timeToLive };
      await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
    }
  }
  if (pointInTimeRecovery) {
    const { ContinuousBackupsDescription: now } = await client.send(
      new DescribeContinuousBackupsCommand({ TableName }),
    );
    if (now?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus !== 'ENABLED') {
      const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
      await client.send(new UpdateContinuousBackupsCommand({ TableName, PointInTimeRecoverySpecification }));
    }
  }
}

/** One change of indexes at a time: the service takes no more. */
async function matchIndexes(
  client: DynamoDBClient,
  existing: TableDescription,
  { TableName, AttributeDefinitions, GlobalSecondaryIndexes = [] }: CreateTableCommandInput,
): Promise<void> {
  const wanted = new Map(GlobalSecondaryIndexes.map((index) => [index.IndexName, index]));
  for (const { IndexName } of existing.GlobalSecondaryIndexes ?? []) {
    if (wanted.delete(IndexName)) continue;
    const GlobalSecondaryIndexUpdates = [{ Delete: { IndexName } }];
    await client.send(new UpdateTableCommand({ TableName, GlobalSecondaryIndexUpdates }));
    await active(client, TableName!);
  }
  for (const index of wanted.values()) {
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
