import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { Bucket, IBucket } from 'aws-cdk-lib/aws-s3';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { QueueName } from '../functions/areas.ts';

export interface StorageBucket {
  readonly name: string;
  readonly bucket: IBucket;
  /** What keys in the bucket begin with. */
  readonly prefix: string;
}

/** The resources that functions get rights to. */
export interface Resources {
  readonly table: ITable;
  /** Names of the table's global indexes. */
  readonly indexes: readonly string[];
  readonly objects: Bucket;
  /** Storages of repositories beside `default`. */
  readonly storages: readonly StorageBucket[];
  readonly queues: Readonly<Record<QueueName, Queue>>;
  /** The dead letters of all queues. */
  readonly deadLetters: Queue;
  /** Sender address of mails. */
  readonly mailFrom: string | undefined;
  /** Name in the Parameter Store; created by the service itself, so that no template contains it. */
  readonly masterKeyParameter: string;
}
