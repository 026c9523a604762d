import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  type Attribute,
  AttributeType,
  BillingMode,
  type ITable,
  ProjectionType,
  Table,
} from 'aws-cdk-lib/aws-dynamodb';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  HttpMethods,
  type IBucket,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import {
  ARCHIVE_DAYS,
  ARCHIVES,
  indexes,
  STAGING,
  STAGING_DAYS,
  table as schema,
} from '../lib/store/table/schema.ts';
import type { StorageBucket } from './resources.ts';
import type { Settings } from './settings.ts';

const text = (name: string): Attribute => ({ name, type: AttributeType.STRING });

/**
 * The persistent data: the table and the objects. Deployments never delete any of it, and the stack changes about as
 * often as the schema does.
 */
export class DataStack extends Stack {
  /** The table in use. */
  readonly table: ITable;
  readonly indexes: readonly string[] = indexes.map((index) => index.name);
  readonly objects: Bucket;
  /** Storages of repositories beside `default`. */
  readonly storages: readonly StorageBucket[];
  /** Those of them whose buckets are this stack's. */
  readonly storageBuckets: readonly Bucket[];

  constructor(
    scope: Construct,
    id: string,
    { restoredTable, repositoryStorages }: Pick<Settings, 'restoredTable' | 'repositoryStorages'>,
  ) {
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
    // Exported whether or not they are in use: an export that another stack imports cannot be removed before that stack
    // is redeployed.
    for (const name of [own.tableName, own.tableArn]) this.exportValue(name);
    this.objects = this.#bucket('Objects');
    const made: Bucket[] = [];
    const bucketOf = (name: string, existing: string | undefined): IBucket => {
      const own = `Storage-${name}`;
      if (existing !== undefined) return Bucket.fromBucketName(this, own, existing);
      const bucket = this.#bucket(own);
      made.push(bucket);
      // As of the table: its import by another stack ends only when that one is deployed again.
      for (const value of [bucket.bucketName, bucket.bucketArn]) this.exportValue(value);
      return bucket as IBucket;
    };
    this.storages = repositoryStorages.map(({ name, bucket, prefix }) => ({
      name,
      bucket: bucketOf(name, bucket),
      prefix,
    }));
    this.storageBuckets = made;
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

  #bucket(id: string): Bucket {
    return new Bucket(this, id, {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      // Encrypted with S3's own key: a KMS key would cost a dollar a month and a call per object.
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      // Matches the table's point-in-time recovery: a deleted pack can be restored as long as its item can.
      versioned: true,
      removalPolicy: RemovalPolicy.RETAIN,
      // Pages of any origin may call the API with a token, and large downloads redirect to a presigned URL.
      cors: [
        {
          allowedMethods: [HttpMethods.GET, HttpMethods.HEAD],
          allowedOrigins: ['*'],
          allowedHeaders: ['*'],
          exposedHeaders: ['Content-Disposition', 'Content-Length', 'ETag'],
        },
      ],
      lifecycleRules: [
        { id: 'abandoned-uploads', abortIncompleteMultipartUploadAfter: Duration.days(7) },
        // A cache: old versions would only cost money.
        {
          id: 'kept-archives',
          prefix: ARCHIVES,
          expiration: Duration.days(ARCHIVE_DAYS),
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
          // Point-in-time recovery covers 35 days; versions expire slightly later, never earlier.
          noncurrentVersionExpiration: Duration.days(36),
          expiredObjectDeleteMarker: true,
        },
      ],
    });
  }
}
