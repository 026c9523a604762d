import { Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import type { DataStack } from './data-stack.ts';
import type { FrontStack } from './front-stack.ts';
import type { ServiceStack } from './service-stack.ts';

/** Accepted findings of cdk-nag's AwsSolutions pack, with reasons. A new finding fails `npm run synth`. */
export function acknowledgeFindings(
  data: DataStack,
  service: ServiceStack,
  front: FrontStack | undefined,
): void {
  for (const bucket of [data.objects, ...data.storageBuckets])
    acknowledge(bucket, {
      'AwsSolutions-S1':
        'Only the functions of this service and presigned URLs that they make reach the bucket; the gateway logs those requests. A log bucket would cost more than the idle instance.',
    });
  acknowledge(service.gateway, {
    'AwsSolutions-APIG2':
      'Requests are validated by the endpoints themselves, whose error texts are part of the contract; the gateway’s are not.',
    'AwsSolutions-APIG3':
      'A web ACL costs 6 $ a month, more than the whole idle instance. `wafRateLimit` makes one.',
    'AwsSolutions-APIG4':
      'Public projects are read without credentials. Tokens are checked by the functions, before anything else, because refusals differ by endpoint; Git has a REQUEST authorizer.',
    'AwsSolutions-COG4':
      'Accounts and tokens are the service’s own, as its API defines them; there is no user pool.',
    'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
      'The role with which API Gateway writes logs is the account’s, and this policy is the one AWS documents for it.',
  });
  acknowledge(service, {
    'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]':
      'The policy that AWS documents for shifts between versions; a list of its own would go stale with CodeDeploy.',
  });
  // cdk-nag names a finding after the resource in the template, here an import of the data stack's export.
  const imported = (value: string) => service.resolve(data.exportValue(value))['Fn::ImportValue'];
  const made = new Set(data.storageBuckets.map((bucket) => bucket as unknown));
  const keys = [
    `${imported(data.objects.bucketArn)}/*`,
    ...data.storages.map(({ bucket, prefix }) =>
      made.has(bucket)
        ? `${imported(bucket.bucketArn)}/${prefix}*`
        : `arn:<AWS::Partition>:s3:::${bucket.bucketName}/${prefix}*`,
    ),
  ];
  const objects = Object.fromEntries(
    keys.map((resource) => [
      `AwsSolutions-IAM5[Resource::${resource}]`,
      'Packs and blobs have names made at run time: rights to objects are for every key of a bucket, or of a storage in it. Actions, table, indexes and queues are named.',
    ]),
  );
  acknowledge(service, {
    ...objects,
    'AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ses:<AWS::Region>:<AWS::AccountId>:identity/*]':
      'Which identity answers for the sender, its domain or the address, is the account’s to decide; a condition names the one address that mail may come from.',
    'AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ses:<AWS::Region>:<AWS::AccountId>:configuration-set/*]':
      'The identity may have a default configuration set of any name; the same condition names the sender.',
  });
  if (front === undefined) return;
  acknowledge(front, {
    ...objects,
    'AwsSolutions-IAM5[Resource::*]':
      'Fetching an image begins with ecr:GetAuthorizationToken, which knows no resources.',
    'AwsSolutions-ECS2':
      'The variables are names of resources and the public address; no secret is among them.',
    'AwsSolutions-ECS4': 'Container Insights costs more than its metrics of one small service are worth.',
    'AwsSolutions-EC23': 'Clients push from anywhere; only HTTPS is open, and only at the load balancer.',
    'AwsSolutions-VPC7':
      'The network holds the load balancer and the front, and nothing that either could reach.',
    'AwsSolutions-ELB2':
      'Its log would need a bucket that outlives it; an operator who wants one gives the load balancer a name of it.',
  });
}

function acknowledge(construct: IConstruct, reasons: Readonly<Record<string, string>>): void {
  Validations.of(construct).acknowledge(...Object.entries(reasons).map(([id, reason]) => ({ id, reason })));
}
