import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { beforeAll, expect, test } from 'vitest';
import { instance } from '../../cdk/app.ts';
import cdkJson from '../../cdk.json' with { type: 'json' };
import { KEEP_ALIVE_MS, REQUEST_MS } from '../../local/front.ts';

const URL = 'https://git.example.com';
const CERTIFICATE = 'arn:aws:acm:us-east-1:123456789012:certificate/0';

function stacks(settings: Record<string, string>) {
  const app = new App({ context: { ...cdkJson.context, ...settings }, analyticsReporting: false });
  return { app, ...instance(app, () => Code.fromInline('exports.handler = async () => {};')) };
}

let front: Template;
let service: Template;
/** Docker images of the deployment, as its manifest of assets names them. */
let images: Record<string, unknown>;
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
  const { directory } = app.synth();
  const assets = readFileSync(join(directory, `${stack!.artifactId}.assets.json`), 'utf8');
  images = JSON.parse(assets).dockerImages;
  front = Template.fromStack(stack!);
  service = Template.fromStack(functions);
  // Every file of the image is hashed.
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

interface Attribute {
  readonly Key: string;
  readonly Value: string;
}

/** The value of an attribute of the one resource of this type. */
function attribute(type: string, list: string, key: string): number {
  const [found] = Object.values(front.findResources(`AWS::ElasticLoadBalancingV2::${type}`));
  const attributes: Attribute[] = found!['Properties'][list];
  return Number(attributes.find(({ Key }) => Key === key)?.Value);
}

test('the load balancer closes idle connections before the front does', () => {
  const idle = attribute('LoadBalancer', 'LoadBalancerAttributes', 'idle_timeout.timeout_seconds');
  // "The target closes the connection ... with the keep-alive duration shorter than the idle timeout": HTTP 502
  // (Elastic Load Balancing, "Troubleshoot your Application Load Balancers").
  expect(KEEP_ALIVE_MS / 1000).toBeGreaterThan(idle);
});

test('a push that began before its front is replaced has time to end', () => {
  const drain = attribute('TargetGroup', 'TargetGroupAttributes', 'deregistration_delay.timeout_seconds');
  expect(drain).toBeGreaterThanOrEqual(REQUEST_MS / 1000 + 600);
  // The longest that there is.
  expect(drain).toBeLessThanOrEqual(3600);
});

test('a front that is busy with a pack for a minute stays in service', () => {
  const [group] = Object.values(front.findResources('AWS::ElasticLoadBalancingV2::TargetGroup'));
  const { HealthCheckIntervalSeconds, HealthCheckTimeoutSeconds, UnhealthyThresholdCount } =
    group!['Properties'];
  expect(HealthCheckTimeoutSeconds).toBeLessThan(HealthCheckIntervalSeconds);
  expect(HealthCheckIntervalSeconds * (UnhealthyThresholdCount - 1)).toBeGreaterThan(60);
});

test('the image is built for the architecture of the task', () => {
  const [task] = Object.values(front.findResources('AWS::ECS::TaskDefinition'));
  expect(task!['Properties'].RuntimePlatform).toEqual({
    CpuArchitecture: 'ARM64',
    OperatingSystemFamily: 'LINUX',
  });
  const [image] = Object.values(images);
  expect(image).toMatchObject({ source: { platform: 'linux/arm64' } });
});
