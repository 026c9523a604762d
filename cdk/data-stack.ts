import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  type Attribute,
  AttributeType,
  BillingMode,
  type ITable,
  ProjectionType,
  Table,
} from 'aws-cdk-lib/aws-dynamodb';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { ARCHIVES, indexes, STAGING, STAGING_DAYS, table as schema } from '../lib/store/table/schema.ts';
import type { Settings } from './settings.ts';

const text = (name: string): Attribute => ({ name, type: AttributeType.STRING });

/**
 * What would be lost: the table and the objects. Nothing here is ever deleted by deploying, and the stack changes
 * about as often as the schema does.
 */
export class DataStack extends Stack {
  /** The one in use. */
  readonly table: ITable;
  readonly indexes: readonly string[] = indexes.map((index) => index.name);
  readonly objects: Bucket;

  constructor(scope: Construct, id: string, { restoredTable }: Pick<Settings, 'restoredTable'>) {
    super(scope, id, {
      description: 'Lemnos: source hosting without servers (data)',
      terminationProtection: true,
    });
    const own = this.#table();
    this.table =
      restoredTable === undefined
        ? // The interface declares optional properties without `undefined`, the class with it.
          (own as ITable)
        : Table.fromTableName(this, 'Restored', restoredTable);
    // Told whether or not they are in use: what another stack imports cannot be taken away before it is deployed anew.
    for (const name of [own.tableName, own.tableArn]) this.exportValue(name);
    this.objects = this.#objects();
  }

  #table(): Table {
    const table = new Table(this, 'Table', {
      partitionKey: text(schema.partitionKey),
      sortKey: text(schema.sortKey),
      timeToLiveAttribute: schema.ttl,
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
    for (const index of indexes) {
      table.addGlobalSecondaryIndex({
        indexName: index.name,
        partitionKey: text(index.partitionKey),
        sortKey: text(index.sortKey),
        ...(index.include === undefined
          ? { projectionType: ProjectionType.KEYS_ONLY }
          : { projectionType: ProjectionType.INCLUDE, nonKeyAttributes: [...index.include] }),
      });
    }
    return table;
  }

  #objects(): Bucket {
    return new Bucket(this, 'Objects', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      // S3's own key: one in KMS would cost a dollar a month and a call per object.
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      // With the table's point-in-time recovery: a deleted pack can be brought back for as long as its item can.
      versioned: true,
      removalPolicy: RemovalPolicy.RETAIN,
      lifecycleRules: [
        { id: 'abandoned-uploads', abortIncompleteMultipartUploadAfter: Duration.days(7) },
        // Made again when asked for; as old versions they would only cost.
        {
          id: 'kept-archives',
          prefix: ARCHIVES,
          expiration: Duration.days(7),
          noncurrentVersionExpiration: Duration.days(1),
        },
        {
          id: 'staged-uploads',
          prefix: STAGING,
          expiration: Duration.days(STAGING_DAYS),
          noncurrentVersionExpiration: Duration.days(1),
          abortIncompleteMultipartUploadAfter: Duration.days(STAGING_DAYS),
        },
        {
          id: 'deleted-objects',
          // PITR reaches back 35 days; versions go a little later, never sooner.
          noncurrentVersionExpiration: Duration.days(36),
          expiredObjectDeleteMarker: true,
        },
      ],
    });
  }
}
