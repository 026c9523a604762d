import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { QueueName } from '../functions/areas.ts';

/** What functions are given rights to. */
export interface Resources {
  readonly table: ITable;
  /** Names of the table's global indexes. */
  readonly indexes: readonly string[];
  readonly objects: Bucket;
  readonly queues: Readonly<Record<QueueName, Queue>>;
  /** Whom mail comes from. */
  readonly mailFrom: string | undefined;
  /** Of the Parameter Store: made by the service itself, so that no template and no stack has it. */
  readonly masterKeyParameter: string;
}
