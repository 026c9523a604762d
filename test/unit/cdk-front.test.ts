import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { beforeAll, expect, test } from 'vitest';
import { instance } from '../../cdk/app.ts';
import cdkJson from '../../cdk.json' with { type: 'json' };

const URL = 'https://git.example.com';
const CERTIFICATE = 'arn:aws:acm:us-east-1:123456789012:certificate/0';

function stacks(settings: Record<string, string>) {
  const app = new App({ context: { ...cdkJson.context, ...settings }, analyticsReporting: false });
  return { app, ...instance(app, () => Code.fromInline('exports.handler = async () => {};')) };
}

let front: Template;
let service: Template;
beforeAll(() => {
  const {
    app,
    front: stack,
    service: functions,
  } = stacks({
    gitFrontUrl: `${URL}/`,
    gitFrontCertificate: CERTIFICATE,
  });
  // With cdk-nag: a finding that is not acknowledged throws.
  app.synth();
  front = Template.fromStack(stack!);
  service = Template.fromStack(functions);
});

test('there is no Git front unless it is configured', () => {
  expect(stacks({}).front).toBeUndefined();
  const elsewhere = stacks({ gitFrontUrl: URL });
  expect(elsewhere.front).toBeUndefined();
  Template.fromStack(elsewhere.service).hasResourceProperties('AWS::Lambda::Function', {
    Environment: { Variables: { GIT_FRONT_URL: URL } },
  });
});

test.each([
  { gitFrontUrl: 'http://git.example.com' },
  { gitFrontUrl: 'https://git.example.com/path' },
  { gitFrontCertificate: CERTIFICATE },
])('refuses %o: credentials follow a push to where it is sent', (settings) => {
  expect(() => stacks(settings)).toThrow(RangeError);
});

test('functions redirect pushes to the Git front, which has the rights and settings of the Git function', () => {
  service.allResourcesProperties('AWS::Lambda::Function', {
    Environment: { Variables: { GIT_FRONT_URL: URL } },
  });
  const [task] = Object.values(front.findResources('AWS::ECS::TaskDefinition'));
  const [container] = task!['Properties'].ContainerDefinitions;
  const names = container.Environment.map(({ Name }: { Name: string }) => Name);
  for (const name of [
    'TABLE_NAME',
    'OBJECTS_BUCKET',
    'QUEUE_URL_MAINTENANCE',
    'QUEUE_URL_INGEST',
    'BASE_URL',
    'BEHIND_PROXY',
  ]) {
    expect(names).toContain(name);
  }
  const policies = JSON.stringify(front.findResources('AWS::IAM::Policy'));
  for (const action of ['dynamodb:PutItem', 's3:PutObject', 'sqs:SendMessage'])
    expect(policies).toContain(action);
  expect(policies).not.toContain('dynamodb:Scan');
});

test('the Git front is reachable by HTTPS only, and waits for clients that prepare a pack', () => {
  front.resourceCountIs('AWS::ElasticLoadBalancingV2::Listener', 1);
  front.hasResourceProperties('AWS::ElasticLoadBalancingV2::Listener', {
    Port: 443,
    Protocol: 'HTTPS',
    Certificates: [{ CertificateArn: CERTIFICATE }],
  });
  front.hasResourceProperties('AWS::ElasticLoadBalancingV2::TargetGroup', { HealthCheckPath: '/healthz' });
  expect(JSON.stringify(front.findResources('AWS::ElasticLoadBalancingV2::LoadBalancer'))).toContain(
    '"idle_timeout.timeout_seconds","Value":"3600"',
  );
});
