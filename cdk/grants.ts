import { Stack } from 'aws-cdk-lib';
import { type IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Rights } from '../functions/areas.ts';
import { RATE_LIMITS } from '../lib/store/row-keys/rate-limits.ts';
import type { Resources } from './resources.ts';

/**
 * Grants a function the actions its manifest entry names, by name: no `dynamodb:*`, no Scan, no bucket-wide `s3:*`.
 * CDK's own `grantReadWriteData` gives Scan, streams and DescribeTable besides, so it is not used.
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
    // TransactWriteItems has no action of its own: it needs those of the parts it is made of.
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
    // Without ListBucket a GET of a key that does not exist answers 403, and could not be told from a missing right.
    allow(['s3:ListBucket'], [resources.objects.bucketArn]);
    allow(['s3:GetObject'], [resources.objects.arnForObjects('*')]);
    // PutObject also starts, feeds and completes multipart uploads.
    if (rights.objects === 'write') {
      allow(
        ['s3:PutObject', 's3:DeleteObject', 's3:AbortMultipartUpload', 's3:ListMultipartUploadParts'],
        [resources.objects.arnForObjects('*')],
      );
    }
  }

  if (rights.mail === true && resources.mailFrom !== undefined) {
    role.addToPrincipalPolicy(
      new PolicyStatement({
        actions: ['ses:SendEmail', 'ses:SendRawEmail'],
        // Which identity answers for an address, its domain or itself, is the account's to decide.
        resources: [Stack.of(role).formatArn({ service: 'ses', resource: 'identity', resourceName: '*' })],
        conditions: { StringEquals: { 'ses:FromAddress': addressOf(resources.mailFrom) } },
      }),
    );
  }

  if (rights.masterKey !== undefined) {
    const parameter = Stack.of(role).formatArn({
      service: 'ssm',
      resource: 'parameter',
      resourceName: resources.masterKeyParameter.replace(/^\//, ''),
    });
    // The account's own key of the Parameter Store lets whoever may read a parameter decrypt it.
    allow(['ssm:GetParameter'], [parameter]);
    role.addToPrincipalPolicy(
      new PolicyStatement({
        actions: ['ssm:PutParameter'],
        resources: [parameter],
        // It makes the key where there is none, and can replace none.
        ...(rights.masterKey === 'use' ? { conditions: { StringEquals: { 'ssm:Overwrite': 'false' } } } : {}),
      }),
    );
  }

  for (const name of rights.sends ?? []) {
    allow(['sqs:SendMessage'], [resources.queues[name].queueArn]);
  }
}

/** `Name <address>` without the name. */
const addressOf = (sender: string): string => /<([^<>]+)>$/.exec(sender)?.[1] ?? sender;
