import { Stack } from 'aws-cdk-lib';
import { type IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Rights } from '../functions/areas.ts';
import { RATE_LIMITS } from '../lib/store/row-keys/rate-limits.ts';
import type { Resources } from './resources.ts';

/**
 * Grants a function the rights of its manifest entry as single actions: no `dynamodb:*`, no Scan, no bucket-wide `s3:*`.
 * CDK's `grantReadWriteData` is not used, as it also grants Scan, streams and DescribeTable.
 */
export function grantRights(role: IRole, rights: Rights, resources: Resources): void {
  const allow = (actions: string[], targets: string[]) =>
    role.addToPrincipalPolicy(new PolicyStatement({ actions, resources: targets }));

  if (rights.table !== undefined) {
    const { tableArn } = resources.table;
    allow(['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query'], [tableArn]);
    if (resources.indexes.length > 0) {
      allow(
        ['dynamodb:Query'],
        resources.indexes.map((index) => `${tableArn}/index/${index}`),
      );
    }
    // TransactWriteItems has no action of its own: it needs those of its parts.
    if (rights.table === 'write') {
      allow(
        [
          'dynamodb:PutItem',
          'dynamodb:UpdateItem',
          'dynamodb:DeleteItem',
          'dynamodb:BatchWriteItem',
          'dynamodb:ConditionCheckItem',
        ],
        [tableArn],
      );
    } else if (rights.counts === true) {
      role.addToPrincipalPolicy(
        new PolicyStatement({
          actions: ['dynamodb:UpdateItem'],
          resources: [tableArn],
          conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [`${RATE_LIMITS}*`] } },
        }),
      );
    }
  }

  if (rights.objects !== undefined) {
    const { objects, storages } = resources;
    const buckets = [objects.bucketArn, ...storages.map(({ bucket }) => bucket.bucketArn)];
    const keys = [
      objects.arnForObjects('*'),
      ...storages.map(({ bucket, prefix }) => bucket.arnForObjects(`${prefix}*`)),
    ];
    // Without ListBucket a GET of a missing key returns 403, like a missing right.
    allow(['s3:ListBucket'], [...new Set(buckets)]);
    allow(['s3:GetObject'], keys);
    // PutObject also starts, feeds and completes multipart uploads.
    if (rights.objects === 'write') {
      allow(
        ['s3:PutObject', 's3:DeleteObject', 's3:AbortMultipartUpload', 's3:ListMultipartUploadParts'],
        keys,
      );
    }
  }

  if (rights.mail === true && resources.mailFrom !== undefined) {
    role.addToPrincipalPolicy(
      new PolicyStatement({
        actions: ['ses:SendEmail', 'ses:SendRawEmail'],
        // Whether the address or its domain is the verified identity depends on the account. SES checks the right to
        // the identity's default configuration set too, if it has one (Service Authorization Reference, Amazon SES v2).
        resources: ['identity', 'configuration-set'].map((resource) =>
          Stack.of(role).formatArn({ service: 'ses', resource, resourceName: '*' }),
        ),
        // Some mail is sent from the address of its author, in the same domain.
        conditions: { StringLike: { 'ses:FromAddress': `*@${domainOf(resources.mailFrom)}` } },
      }),
    );
  }

  if (rights.masterKey !== undefined) {
    const parameter = Stack.of(role).formatArn({
      service: 'ssm',
      resource: 'parameter',
      resourceName: resources.masterKeyParameter.replace(/^\//, ''),
    });
    // The account's default key of the Parameter Store lets every reader of a parameter decrypt it.
    allow(['ssm:GetParameter'], [parameter]);
    role.addToPrincipalPolicy(
      new PolicyStatement({
        actions: ['ssm:PutParameter'],
        resources: [parameter],
        // May create the key, but not replace it.
        ...(rights.masterKey === 'use' ? { conditions: { StringEquals: { 'ssm:Overwrite': 'false' } } } : {}),
      }),
    );
  }

  if (rights.countsMessages === true) {
    const queues = [...Object.values(resources.queues), resources.deadLetters];
    allow(
      ['sqs:GetQueueAttributes'],
      queues.map(({ queueArn }) => queueArn),
    );
  }

  for (const name of rights.sends ?? []) {
    allow(['sqs:SendMessage'], [resources.queues[name].queueArn]);
  }
}

/** Of an address, or of `Name <address>`. */
const domainOf = (sender: string): string => /@([^<>@]+)>?$/.exec(sender)![1]!;
