import { readFileSync } from 'node:fs';
import { App, type Stack } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { instance } from '../../cdk/app.ts';
import { type Template as IdleTemplate, idleCost, metricsOf } from '../../cdk/idle-cost.ts';
import cdkJson from '../../cdk.json' with { type: 'json' };
import { areas, areasOf } from '../../functions/areas.ts';
import { MALLOC } from '../../lib/store/malloc.ts';
import { ARCHIVES, indexes, STAGING, STAGING_DAYS } from '../../lib/store/table/schema.ts';

const code = () => Code.fromInline('exports.handler = async () => {};');

interface Resource {
  Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a template is whatever CloudFormation takes
  Properties: any;
}

/** The stacks as they are deployed with these settings, with functions that do nothing. */
function synthesize(settings: Record<string, string> = {}) {
  const app = new App({ context: { ...cdkJson.context, ...settings }, analyticsReporting: false });
  const { data, service } = instance(app, code);
  return { app, data: Template.fromStack(data), service: Template.fromStack(service) };
}

let data: Template;
let service: Template;
beforeAll(() => {
  ({ data, service } = synthesize());
});

const resourcesOf = (template: Template, type: string): [string, Resource][] =>
  Object.entries(template.findResources(type) as Record<string, Resource>);

/** The OpenAPI document that the API is made from. */
function documentOf(template: Template): Resource['Properties'] {
  const [[, api]] = resourcesOf(template, 'AWS::ApiGateway::RestApi') as [[string, Resource]];
  return api.Properties.Body;
}

interface UpdatePolicy {
  readonly CodeDeployLambdaAliasUpdate: {
    readonly ApplicationName: unknown;
    readonly DeploymentGroupName: { readonly Ref: string };
  };
}

interface Operation {
  readonly security?: readonly Record<string, readonly string[]>[];
  // biome-ignore lint/suspicious/noExplicitAny: a template is whatever CloudFormation takes
  readonly 'x-amazon-apigateway-integration': any;
}

/** Every method of the API with its path. */
function methods(template: Template) {
  const paths = Object.entries<Record<string, Operation>>(documentOf(template).paths);
  return paths.flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      path,
      method: method.replace(/^x-amazon-apigateway-(any)-method$/, 'any').toUpperCase(),
      security: operation.security,
      integration: operation['x-amazon-apigateway-integration'],
    })),
  );
}

/** The function behind a method, by its area's name. */
function areaOf(template: Template, integration: { uri: unknown }): string {
  const uri = JSON.stringify(integration.uri);
  return [...liveAliases(template)].find(([, id]) => uri.includes(`"${id}"`))?.[0] ?? uri;
}

/** The aliases that calls go to, by area. */
function liveAliases(template: Template): Map<string, string> {
  const functions = new Map(resourcesOf(template, 'AWS::Lambda::Function'));
  return new Map(
    resourcesOf(template, 'AWS::Lambda::Alias').map(([id, { Properties }]) => [
      String(functions.get(Properties.FunctionName.Ref)!.Properties.Description).split(' ').at(-1)!,
      id,
    ]),
  );
}

/** The statements of each function's role, by area. */
function statements(
  template: Template,
): Map<string, { Action: string | string[]; Resource: unknown; Effect: string }[]> {
  const policies = resourcesOf(template, 'AWS::IAM::Policy');
  return new Map(
    resourcesOf(template, 'AWS::Lambda::Function').map(([, { Properties }]) => {
      const role = Properties.Role['Fn::GetAtt'][0];
      const own = policies.filter(([, policy]) => policy.Properties.Roles[0].Ref === role);
      return [
        String(Properties.Description).split(' ').at(-1)!,
        own.flatMap(([, policy]) => policy.Properties.PolicyDocument.Statement),
      ];
    }),
  );
}

const actionsOf = (area: string): string[] =>
  (statements(service).get(area) ?? []).flatMap(({ Action }) => Action);

const gatewayResponse = (type: string) => documentOf(service)['x-amazon-apigateway-gateway-responses'][type];

describe('the gateway', () => {
  test('serves every path of the manifest, for every method, with the function it names', () => {
    const served = methods(service).map(({ path, method, integration }) => [
      path,
      method,
      areaOf(service, integration),
    ]);
    const wanted = areasOf('api').flatMap((area) => area.resources.map((path) => [path, 'ANY', area.name]));
    expect(served.sort()).toEqual(wanted.sort());
  });

  test('streams answers, for as long as the function may run', () => {
    for (const { integration } of methods(service)) {
      const name = areaOf(service, integration);
      expect(integration).toMatchObject({
        type: 'aws_proxy',
        httpMethod: 'POST',
        responseTransferMode: 'STREAM',
        timeoutInMillis: areasOf('api').find((area) => area.name === name)!.timeout * 1000,
      });
      expect(JSON.stringify(integration.uri)).toMatch(/2021-11-15.*\/response-streaming-invocations/);
    }
    for (const [, { Properties }] of resourcesOf(service, 'AWS::Lambda::Function')) {
      const isApi = String(Properties.Description).includes(' api ');
      expect(Properties.Environment.Variables.STREAM).toBe(isApi ? '1' : undefined);
    }
  });

  test('buffers answers with stream=false, within 29 s', () => {
    const buffered = synthesize({ stream: 'false' }).service;
    for (const { integration } of methods(buffered)) {
      expect(integration.responseTransferMode).toBe('BUFFERED');
      expect(integration.timeoutInMillis).toBeLessThanOrEqual(29_000);
      expect(JSON.stringify(integration.uri)).toMatch(/2015-03-31.*\/invocations/);
      expect(JSON.stringify(integration.uri)).not.toContain('streaming');
    }
    expect(JSON.stringify(buffered.toJSON())).not.toContain('"STREAM"');
  });

  test('passes request and response bodies as bytes', () => {
    expect(documentOf(service)['x-amazon-apigateway-binary-media-types']).toEqual(['*/*']);
    service.hasResourceProperties('AWS::ApiGateway::RestApi', {
      BinaryMediaTypes: ['*/*'],
      EndpointConfiguration: { Types: ['REGIONAL'] },
    });
  });

  test('calls the authorizer for every Git request, with no header required', () => {
    const scheme = documentOf(service).components.securitySchemes.git;
    const authorizer = scheme['x-amazon-apigateway-authorizer'];
    expect(authorizer).toMatchObject({ type: 'request', authorizerResultTtlInSeconds: 0 });
    expect(authorizer).not.toHaveProperty('identitySource');
    expect(areaOf(service, { uri: authorizer.authorizerUri })).toBe('git-authorizer');
    for (const { path, security } of methods(service)) {
      expect([path, security]).toEqual([path, path === '/{proxy+}' ? [{ git: [] }] : undefined]);
    }
  });

  test('asks Git clients for credentials', () => {
    expect(gatewayResponse('UNAUTHORIZED')).toEqual({
      statusCode: '401',
      responseParameters: {
        'gatewayresponse.header.WWW-Authenticate': `'Basic realm="Lemnos"'`,
        'gatewayresponse.header.LFS-Authenticate': `'Basic realm="Lemnos"'`,
        'gatewayresponse.header.Access-Control-Allow-Origin': "'*'",
      },
      responseTemplates: { 'application/json': '{"message":"401 Unauthorized"}' },
    });
  });

  test.each([
    ['MISSING_AUTHENTICATION_TOKEN', '404', { error: '404 Not Found' }],
    ['ACCESS_DENIED', '403', { message: '403 Forbidden' }],
    ['REQUEST_TOO_LARGE', '413', { message: '413 Request Entity Too Large' }],
    ['THROTTLED', '429', { message: '429 Too Many Requests' }],
    ['INTEGRATION_TIMEOUT', '504', { message: '504 Gateway Timeout' }],
    ['INTEGRATION_FAILURE', '503', { message: '503 Service Unavailable' }],
    ['DEFAULT_5XX', undefined, { message: '500 Internal Server Error' }],
  ])('answers %s in the words of the API', (type, status, body) => {
    const found = gatewayResponse(type);
    expect(found.statusCode).toBe(status);
    expect(JSON.parse(found.responseTemplates['application/json'])).toEqual(body);
  });

  test('throttles the stage and logs caller and path, without tokens', () => {
    const [[, stage]] = resourcesOf(service, 'AWS::ApiGateway::Stage') as [[string, Resource]];
    expect(stage.Properties.StageName).toBe('prod');
    const [settings] = stage.Properties.MethodSettings;
    expect(settings).toMatchObject({
      DataTraceEnabled: false,
      ThrottlingRateLimit: 500,
      ThrottlingBurstLimit: 1000,
    });
    expect(stage.Properties.AccessLogSetting.DestinationArn).toBeDefined();
    const format: string = stage.Properties.AccessLogSetting.Format;
    expect(format).toContain('$context.requestId');
    expect(format).not.toMatch(/\$input|querystring|header/i);
  });

  test('stays within the limits of a REST API and of a function’s policy', () => {
    const ends = methods(service).map(({ path }) => path);
    const resources = new Set(
      ends.flatMap((path) => path.split('/').map((_, i, all) => all.slice(0, i + 1).join('/'))),
    );
    expect(resources.size).toBeLessThan(300);
    const grants = resourcesOf(service, 'AWS::Lambda::Permission').map(([, { Properties }]) =>
      JSON.stringify(Properties.FunctionName),
    );
    expect(new Set(grants).size).toBe(grants.length);
  });
});

describe('releases', () => {
  const called = areas.filter(({ kind }) => kind === 'api' || kind === 'authorizer').map(({ name }) => name);
  let shifted: Template;
  beforeAll(() => {
    shifted = synthesize({ shiftMinutes: '10' }).service;
  });

  test('publish a version of each function that the gateway calls, which an alias names', () => {
    const versions = new Map(resourcesOf(service, 'AWS::Lambda::Version'));
    const aliases = resourcesOf(service, 'AWS::Lambda::Alias');
    expect([...liveAliases(service).keys()].sort()).toEqual([...called].sort());
    for (const [, { Properties }] of aliases) {
      const [version] = Properties.FunctionVersion['Fn::GetAtt'];
      expect(versions.get(version)!.Properties.FunctionName).toEqual(Properties.FunctionName);
    }
    expect(versions.size).toBe(aliases.length);
  });

  test('let the gateway call the aliases, and nothing but them', () => {
    const permitted = resourcesOf(service, 'AWS::Lambda::Permission')
      .filter(([, { Properties }]) => Properties.Principal === 'apigateway.amazonaws.com')
      .map(([, { Properties }]) => Properties.FunctionName.Ref);
    expect(permitted.sort()).toEqual([...liveAliases(service).values()].sort());
  });

  test('keep the versions before, for answers under way and to go back to', () => {
    for (const [, version] of resourcesOf(service, 'AWS::Lambda::Version')) {
      expect(version).toMatchObject({
        UpdateReplacePolicy: 'Retain',
        // A version that a failed update made is deleted: published again, it would be the same one, which is refused.
        DeletionPolicy: 'RetainExceptOnCreate',
      });
    }
  });

  test('reach the workers first, which run their latest code: a new message finds a worker that knows it', () => {
    const workers = areasOf('worker').map(
      ({ name }) =>
        resourcesOf(service, 'AWS::Lambda::Function').find(([, { Properties }]) =>
          Properties.Description.endsWith(` ${name}`),
        )![0],
    );
    for (const template of [service, shifted]) {
      for (const [, alias] of resourcesOf(template, 'AWS::Lambda::Alias'))
        expect(alias).toMatchObject({ DependsOn: expect.arrayContaining(workers) });
      for (const [, { Properties }] of resourcesOf(template, 'AWS::Lambda::EventSourceMapping'))
        expect(workers).toContain(Properties.FunctionName.Ref);
    }
  });

  test('take all calls at once by default, without CodeDeploy', () => {
    expect(resourcesOf(service, 'AWS::CodeDeploy::DeploymentGroup')).toEqual([]);
    for (const [, alias] of resourcesOf(service, 'AWS::Lambda::Alias'))
      expect(alias).not.toHaveProperty('UpdatePolicy');
  });

  test.each(['5', '10', '15', '30'])(
    'take a tenth of the calls for %s minutes where configured',
    (minutes) => {
      const template = minutes === '10' ? shifted : synthesize({ shiftMinutes: minutes }).service;
      const groups = new Map(resourcesOf(template, 'AWS::CodeDeploy::DeploymentGroup'));
      const aliases = resourcesOf(template, 'AWS::Lambda::Alias');
      const used = aliases.map(([, alias]) => {
        const { CodeDeployLambdaAliasUpdate: update } = (alias as unknown as { UpdatePolicy: UpdatePolicy })
          .UpdatePolicy;
        const group = groups.get(update.DeploymentGroupName.Ref)!;
        expect(group.Properties.ApplicationName).toEqual(update.ApplicationName);
        expect(group.Properties).toMatchObject({
          // The names of the configurations that every account has (CodeDeploy user guide, "Deployment configurations").
          DeploymentConfigName: `CodeDeployDefault.LambdaCanary10Percent${minutes}Minutes`,
          DeploymentStyle: { DeploymentOption: 'WITH_TRAFFIC_CONTROL', DeploymentType: 'BLUE_GREEN' },
        });
        return update.DeploymentGroupName.Ref;
      });
      expect(new Set(used).size).toBe(called.length);
      expect(groups.size).toBe(called.length);
    },
  );

  test('are taken back when the API fails or answers are cut, when a deployment fails, and when it is stopped', () => {
    const alarms = new Map(resourcesOf(shifted, 'AWS::CloudWatch::Alarm'));
    for (const [, { Properties }] of resourcesOf(shifted, 'AWS::CodeDeploy::DeploymentGroup')) {
      const watched = Properties.AlarmConfiguration.Alarms.map(
        ({ Name }: { Name: { Ref: string } }) => alarms.get(Name.Ref)!.Properties.MetricName,
      );
      expect(watched).toEqual(['5XXError', 'AnswersCut']);
      expect(Properties.AlarmConfiguration.Enabled).toBe(true);
      expect(Properties.AutoRollbackConfiguration).toEqual({
        Enabled: true,
        Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST', 'DEPLOYMENT_STOP_ON_ALARM'],
      });
    }
    // A shift that ended before its alarm has looked would take nothing back.
    for (const { MetricName, Period } of [...alarms.values()].map(({ Properties }) => Properties))
      if (MetricName === '5XXError') expect(Period).toBeLessThanOrEqual(300);
  });

  test('begin their shifts some at a time, and by one role, which is CodeDeploy’s', () => {
    const roles = resourcesOf(shifted, 'AWS::CodeDeploy::DeploymentGroup').map(
      ([, { Properties }]) => Properties.ServiceRoleArn['Fn::GetAtt'][0],
    );
    expect(new Set(roles).size).toBe(1);
    const versions = resourcesOf(shifted, 'AWS::Lambda::Version') as [string, { DependsOn?: string[] }][];
    expect(versions.filter(([, { DependsOn }]) => DependsOn === undefined)).toHaveLength(5);
    const followers = versions.flatMap(([, { DependsOn = [] }]) => DependsOn);
    expect(new Set(followers).size).toBe(versions.length - 5);
  });

  test('stay within the quotas of a stack and of CodeDeploy with every option, and with the areas to come', () => {
    const all = synthesize({
      shiftMinutes: '30',
      wafRateLimit: '2000',
      mailFrom: 'git@example.com',
      alarmEmail: 'operator@example.com',
      domain: 'git.example.com',
      domainCertificate: 'arn:aws:acm:us-east-1:123456789012:certificate/0',
    }).service;
    const count = Object.keys(all.toJSON()['Resources']).length;
    const ofAnArea = 8; // function, role, policy, log group, version, alias, permission, deployment group
    const toCome = 2; // docs/architecture.md, "Resources of the gateway"
    // "Resources" and "Template body size in an S3 object" (CloudFormation user guide, "quotas").
    expect(count + toCome * ofAnArea).toBeLessThanOrEqual(500);
    const size = JSON.stringify(all.toJSON(), null, 1).length;
    expect(size + toCome * (size / called.length)).toBeLessThanOrEqual(1024 * 1024);
    // "Deployment groups associated with a single application", "Associated alarms per deployment group" (ten may be
    // given at once), "Concurrent deployments per account" (CodeDeploy user guide, "CodeDeploy quotas").
    expect(called.length + toCome).toBeLessThanOrEqual(1000);
    for (const [, { Properties }] of resourcesOf(all, 'AWS::CodeDeploy::DeploymentGroup'))
      expect(Properties.AlarmConfiguration.Alarms.length).toBeLessThanOrEqual(10);
  });
});

describe('the limit of addresses', () => {
  test('is off by default', () => {
    expect(resourcesOf(service, 'AWS::WAFv2::WebACL')).toEqual([]);
    expect(gatewayResponse('WAF_FILTERED')).toBeUndefined();
  });

  test('refuses an address above the limit with 429 at the gateway’s stage, and lets everything else pass', () => {
    const limited = synthesize({ wafRateLimit: '2000' }).service;
    const [[id, acl]] = resourcesOf(limited, 'AWS::WAFv2::WebACL') as [[string, Resource]];
    expect(acl.Properties).toMatchObject({ Scope: 'REGIONAL', DefaultAction: { Allow: {} } });
    expect(acl.Properties.Rules).toEqual([
      expect.objectContaining({
        Action: { Block: {} },
        Statement: {
          RateBasedStatement: { AggregateKeyType: 'IP', Limit: 2000, EvaluationWindowSec: 300 },
        },
      }),
    ]);
    // Samples would hold tokens.
    expect(JSON.stringify(acl)).not.toContain('"SampledRequestsEnabled":true');
    const [[stage]] = resourcesOf(limited, 'AWS::ApiGateway::Stage') as [[string, Resource]];
    const [[, association]] = resourcesOf(limited, 'AWS::WAFv2::WebACLAssociation') as [[string, Resource]];
    expect(association.Properties.WebACLArn).toEqual({ 'Fn::GetAtt': [id, 'Arn'] });
    expect(JSON.stringify(association.Properties.ResourceArn)).toMatch(
      new RegExp(`:apigateway:.*::/restapis/.*/stages/.*"${stage}"`),
    );
    expect(documentOf(limited)['x-amazon-apigateway-gateway-responses'].WAF_FILTERED).toMatchObject({
      statusCode: '429',
      responseParameters: { 'gatewayresponse.header.Retry-After': "'60'" },
      responseTemplates: { 'application/json': '{"message":"429 Too Many Requests"}' },
    });
  });

  test('costs 6 $ a month', () => {
    const monthly = (template: Template) =>
      idleCost([template.toJSON() as IdleTemplate]).reduce((sum, { dollars }) => sum + dollars, 0);
    const limited = synthesize({ wafRateLimit: '2000', shiftMinutes: '5' }).service;
    expect(monthly(limited) - monthly(service)).toBeCloseTo(6, 6);
  });
});

describe('functions', () => {
  test('have the manifest’s size and time, one runtime, and a log that ends', () => {
    const functions = resourcesOf(service, 'AWS::Lambda::Function');
    expect(functions.length).toBe(areas.length);
    const logs = new Map(resourcesOf(service, 'AWS::Logs::LogGroup'));
    for (const [, { Properties }] of functions) {
      const area = areas.find(({ name }) => Properties.Description.endsWith(` ${name}`))!;
      expect(Properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        MemorySize: area.memory,
        Timeout: area.timeout,
      });
      const log = logs.get(Properties.LoggingConfig.LogGroup.Ref)!;
      expect(log.Properties.RetentionInDays).toBe(30);
    }
    for (const [, log] of logs) expect(log.Properties.RetentionInDays).toBe(30);
  });

  test('each have a role of their own', () => {
    const roles = resourcesOf(service, 'AWS::Lambda::Function').map(
      ([, { Properties }]) => Properties.Role['Fn::GetAtt'][0],
    );
    expect(new Set(roles).size).toBe(areas.length);
    for (const [id, role] of resourcesOf(service, 'AWS::IAM::Role')) {
      if (roles.includes(id)) expect(role.Properties.ManagedPolicyArns).toBeUndefined();
    }
  });

  test('have no wildcard permissions and may not scan', () => {
    for (const [area, own] of statements(service)) {
      expect(own.length, area).toBeGreaterThan(0);
      for (const { Action, Resource, Effect } of own) {
        expect(Effect).toBe('Allow');
        for (const action of [Action].flat()) {
          expect(action, area).not.toContain('*');
          expect(action, area).not.toBe('dynamodb:Scan');
        }
        for (const target of [Resource].flat()) {
          expect(target, area).not.toBe('*');
          // Only S3 objects have names that are made at run time.
          const named = JSON.stringify(target);
          if (named.includes('*'))
            expect(
              [Action].flat().every((action) => action.startsWith('s3:')),
              named,
            ).toBe(true);
        }
      }
    }
  });

  test.each(areas.map((area) => [area.name, area] as const))(
    '%s has exactly the permissions of its declared rights',
    (name, area) => {
      const actions = actionsOf(name);
      const allowed = (action: string) => actions.includes(action);
      expect(allowed('dynamodb:Query')).toBe(area.rights.table !== undefined);
      expect(allowed('dynamodb:PutItem')).toBe(area.rights.table === 'write');
      expect(allowed('dynamodb:DeleteItem')).toBe(area.rights.table === 'write');
      expect(allowed('dynamodb:UpdateItem')).toBe(
        area.rights.table === 'write' || area.rights.counts === true,
      );
      expect(allowed('s3:GetObject')).toBe(area.rights.objects !== undefined);
      expect(allowed('s3:PutObject')).toBe(area.rights.objects === 'write');
      expect(allowed('sqs:SendMessage')).toBe((area.rights.sends ?? []).length > 0);
      expect(allowed('sqs:ReceiveMessage')).toBe(area.kind === 'worker');
      expect(allowed('sqs:GetQueueAttributes')).toBe(
        area.kind === 'worker' || area.rights.countsMessages === true,
      );
    },
  );

  test('write nothing but counts of requests where they only read', () => {
    const updates = statements(service)
      .get('search')!
      .filter(({ Action }) => [Action].flat().includes('dynamodb:UpdateItem'));
    const counts = { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['RATE#*'] } };
    expect(updates).toEqual([expect.objectContaining({ Action: 'dynamodb:UpdateItem', Condition: counts })]);
  });

  test('may query each index by name', () => {
    const [query] = statements(service)
      .get('users')!
      .filter(({ Action }) => Action === 'dynamodb:Query');
    for (const { name } of indexes) expect(JSON.stringify(query)).toContain(`/index/${name}`);
  });

  test('have only the names of resources they may use in their environment', () => {
    for (const [, { Properties }] of resourcesOf(service, 'AWS::Lambda::Function')) {
      const { name, rights, kind } = areas.find(({ name }) => Properties.Description.endsWith(` ${name}`))!;
      const names = Object.keys(Properties.Environment.Variables).filter((name) => name !== 'STREAM');
      const wanted = ['SERVICE_NAME', 'DEFAULT_BRANCH_NAME', 'AREA', 'LOG_LEVEL', 'ENDPOINT_METRICS'];
      wanted.push('POWERTOOLS_METRICS_NAMESPACE', 'CLIENT_THROTTLES', ...Object.keys(MALLOC));
      if (kind === 'worker') wanted.push('WORKER_QUEUE_URL');
      if (rights.table !== undefined) wanted.push('TABLE_NAME');
      if (rights.objects !== undefined) wanted.push('OBJECTS_BUCKET');
      if (name === 'git') wanted.push('MAX_FETCH_BYTES');
      if (rights.masterKey !== undefined) wanted.push('MASTER_KEY_PARAMETER');
      if (rights.countsMessages === true) {
        for (const queue of [...areasOf('worker').map(({ queue }) => queue), 'dead'])
          wanted.push(`COUNTED_QUEUE_URL_${queue.toUpperCase()}`);
      }
      // Its mails have links, and no request tells it where to.
      if (name === 'daily') wanted.push('BASE_URL');
      for (const queue of rights.sends ?? []) wanted.push(`QUEUE_URL_${queue.toUpperCase()}`);
      expect(names.sort()).toEqual(wanted.sort());
    }
  });
});

describe('data', () => {
  test('the table has point-in-time recovery and TTL, and is not deleted by a deployment', () => {
    data.hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        BillingMode: 'PAY_PER_REQUEST',
        DeletionProtectionEnabled: true,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
      },
    });
  });

  test('a restored table replaces the table of the stack, which is kept', () => {
    const restored = synthesize({ restoredTable: 'restored-1' });
    const text = JSON.stringify(restored.service.toJSON());
    for (const [, { Properties }] of resourcesOf(restored.service, 'AWS::Lambda::Function')) {
      const { TABLE_NAME } = Properties.Environment.Variables;
      expect([undefined, 'restored-1']).toContain(TABLE_NAME);
    }
    expect(text).toContain(':table/restored-1');
    expect(text).toContain(':table/restored-1/index/');
    expect(text).not.toMatch(/ImportValue":"[^"]*Table/);
    expect(Object.keys(restored.data.toJSON()['Outputs'])).toEqual(
      expect.arrayContaining(Object.keys(data.toJSON()['Outputs']).filter((name) => name.includes('Table'))),
    );
    restored.data.resourceCountIs('AWS::DynamoDB::Table', 1);
  });

  test('the table has the schema’s indexes', () => {
    const [[, table]] = resourcesOf(data, 'AWS::DynamoDB::Table') as [[string, Resource]];
    expect(
      table.Properties.GlobalSecondaryIndexes.map((index: Record<string, unknown>) => index['IndexName']),
    ).toEqual(indexes.map(({ name }) => name));
  });

  test('buckets are private, encrypted, versioned, reached over TLS only, and kept', () => {
    data.hasResource('AWS::S3::Bucket', {
      DeletionPolicy: 'Retain',
      Properties: {
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
        BucketEncryption: Match.anyValue(),
        VersioningConfiguration: { Status: 'Enabled' },
        OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
      },
    });
    data.hasResourceProperties('AWS::S3::BucketPolicy', {
      PolicyDocument: {
        Statement: [
          Match.objectLike({
            Effect: 'Deny',
            Action: 's3:*',
            Condition: { Bool: { 'aws:SecureTransport': 'false' } },
          }),
        ],
      },
    });
  });

  test('abandoned uploads and deleted versions expire', () => {
    const [[, bucket]] = resourcesOf(data, 'AWS::S3::Bucket') as [[string, Resource]];
    const all: Record<string, unknown>[] = bucket.Properties.LifecycleConfiguration.Rules;
    // Archives can be created again, and staged uploads have been imported or abandoned.
    const rules = all.filter((rule) => ![ARCHIVES, STAGING].includes(rule['Prefix'] as string));
    expect(rules).toHaveLength(all.length - 2);
    expect(all.find((rule) => rule['Prefix'] === STAGING)).toMatchObject({
      ExpirationInDays: STAGING_DAYS,
      AbortIncompleteMultipartUpload: { DaysAfterInitiation: STAGING_DAYS },
    });
    expect(rules).toContainEqual(
      expect.objectContaining({ AbortIncompleteMultipartUpload: { DaysAfterInitiation: 7 } }),
    );
    // Never before the table's point-in-time recovery ends, which is after 35 days.
    const expiry = rules.find((rule) => 'NoncurrentVersionExpiration' in rule)![
      'NoncurrentVersionExpiration'
    ];
    expect((expiry as { NoncurrentDays: number }).NoncurrentDays).toBeGreaterThanOrEqual(35);
    // No object in use expires.
    for (const rule of rules) expect(rule).not.toHaveProperty('ExpirationInDays');
  });
});

describe('work outside the request', () => {
  test('every worker’s queue has the dead-letter queue, and all want TLS', () => {
    const queues = resourcesOf(service, 'AWS::SQS::Queue');
    const redrives = queues.filter(([, { Properties }]) => Properties.RedrivePolicy !== undefined);
    expect(redrives.length).toBe(areasOf('worker').length);
    expect(queues.length).toBe(redrives.length + 1);
    expect(resourcesOf(service, 'AWS::SQS::QueuePolicy').length).toBe(queues.length);
    const timeouts = new Map(
      resourcesOf(service, 'AWS::Lambda::Function').map(([id, { Properties }]) => [id, Properties.Timeout]),
    );
    for (const [, { Properties }] of resourcesOf(service, 'AWS::Lambda::EventSourceMapping')) {
      const queue = queues.find(([id]) => id === Properties.EventSourceArn['Fn::GetAtt'][0])!;
      // "Set the queue's visibility timeout to at least six times the function's timeout", and "maxReceiveCount to at
      // least 5" (Lambda developer guide, "Creating and configuring an Amazon SQS event source mapping").
      const worker = timeouts.get(Properties.FunctionName.Ref);
      expect(queue[1].Properties.VisibilityTimeout).toBeGreaterThanOrEqual(6 * worker);
      // SQS API reference, CreateQueue.
      expect(queue[1].Properties.VisibilityTimeout).toBeLessThanOrEqual(43_200);
      expect(queue[1].Properties.RedrivePolicy.maxReceiveCount).toBeGreaterThanOrEqual(5);
    }
  });

  test('event sources report failures one by one and scale down when idle', () => {
    const sources = resourcesOf(service, 'AWS::Lambda::EventSourceMapping');
    expect(sources.length).toBe(areasOf('worker').length);
    for (const [, { Properties }] of sources) {
      expect(Properties.FunctionResponseTypes).toEqual(['ReportBatchItemFailures']);
      expect(Properties.ScalingConfig).toBeUndefined();
    }
  });

  test('scheduled areas run on their schedule', () => {
    for (const { schedule } of areasOf('scheduled')) {
      service.hasResourceProperties('AWS::Events::Rule', { ScheduleExpression: schedule, State: 'ENABLED' });
    }
  });
});

describe('costs and monitoring', () => {
  test('at most ten alarms', () => {
    expect(resourcesOf(service, 'AWS::CloudWatch::Alarm').length).toBeLessThanOrEqual(10);
  });

  test('alarms are sent to the configured address', () => {
    const told = synthesize({ alarmEmail: 'operator@example.com' }).service;
    told.hasResourceProperties('AWS::SNS::Subscription', {
      Protocol: 'email',
      Endpoint: 'operator@example.com',
    });
    for (const [, { Properties }] of resourcesOf(told, 'AWS::CloudWatch::Alarm')) {
      expect(Properties.AlarmActions).toHaveLength(1);
    }
  });

  test('an idle month stays under 3 $', () => {
    const items = idleCost([data.toJSON() as IdleTemplate, service.toJSON() as IdleTemplate]);
    const total = items.reduce((sum, { dollars }) => sum + dollars, 0);
    expect(total).toBeGreaterThan(0.3);
    expect(total).toBeLessThan(3);
  });

  test('the dashboard is one of an account’s three free ones, and shows every alarm and every area', () => {
    const [[, dashboard], ...more] = resourcesOf(service, 'AWS::CloudWatch::Dashboard') as [
      [string, Resource],
    ];
    expect(more).toEqual([]);
    const body = dashboard.Properties.DashboardBody;
    expect(metricsOf(body)).toBeGreaterThan(20);
    expect(metricsOf(body)).toBeLessThanOrEqual(50);
    const text = JSON.stringify(body);
    for (const type of ['AWS::CloudWatch::Alarm', 'AWS::SQS::Queue'])
      for (const [id] of resourcesOf(service, type)) expect(text, id).toContain(`"${id}"`);
    for (const [, { Properties }] of resourcesOf(service, 'AWS::Lambda::Function'))
      expect(text).toContain(`"${Properties.LoggingConfig.LogGroup.Ref}"`);
    expect(areas.length).toBeLessThanOrEqual(50);
    expect(resourcesOf(synthesize({ dashboard: 'false' }).service, 'AWS::CloudWatch::Dashboard')).toEqual([]);
  });

  test('a dashboard with more metrics is included in the cost', () => {
    const [[id, dashboard]] = resourcesOf(service, 'AWS::CloudWatch::Dashboard') as [[string, Resource]];
    const widgets = [{ properties: { metrics: Array.from({ length: 51 }, () => ['AWS/Lambda', 'Errors']) } }];
    const larger = { ...dashboard, Properties: { DashboardBody: JSON.stringify({ widgets }) } };
    expect(idleCost([{ Resources: { [id]: larger } }])).toEqual([
      { what: `AWS::CloudWatch::Dashboard ${id}`, dollars: 3 },
    ]);
  });

  test('functions have a service name, a log level and a metrics namespace', () => {
    const quiet = synthesize({ logLevel: 'warn', instance: 'Forge' }).service;
    for (const [, { Properties }] of resourcesOf(quiet, 'AWS::Lambda::Function')) {
      expect(Properties.Environment.Variables).toMatchObject({
        AREA: Properties.Description.split(' ').at(-1),
        LOG_LEVEL: 'warn',
        POWERTOOLS_METRICS_NAMESPACE: 'Forge',
        ENDPOINT_METRICS: '1',
      });
    }
  });

  test('with endpoint metrics off, no function emits them and the dashboard shows none', () => {
    const searches = (template: Template) => JSON.stringify(template.toJSON()).match(/SEARCH\(/g)?.length;
    expect(searches(service)).toBe(3);
    const mailing = synthesize({ mailFrom: 'git@example.com' }).service;
    const [[, dashboard]] = resourcesOf(mailing, 'AWS::CloudWatch::Dashboard') as [[string, Resource]];
    expect(metricsOf(dashboard.Properties.DashboardBody)).toBeLessThanOrEqual(50);
    const plain = synthesize({ endpointMetrics: 'false' }).service;
    expect(searches(plain)).toBeUndefined();
    expect(JSON.stringify(plain.toJSON())).not.toContain('ENDPOINT_METRICS');
  });

  test('a resource without a price is an error', () => {
    const unpriced: IdleTemplate = { Resources: { Key: { Type: 'AWS::KMS::Key' } } };
    expect(() => idleCost([unpriced])).toThrow(/AWS::KMS::Key/);
  });
});

describe('outputs and settings', () => {
  test('include the URL and how to create the first administrator', () => {
    service.hasOutput('Url', {});
    const [output] = Object.values(service.findOutputs('FirstAdministratorCommand'));
    const command = JSON.stringify(output?.['Value']);
    expect(command).toContain('aws lambda invoke --function-name ');
    const [id] = resourcesOf(service, 'AWS::Lambda::Function').find(([, { Properties }]) =>
      Properties.Description.endsWith(' first-administrator'),
    )!;
    expect(command).toContain(`{"Ref":"${id}"}`);
  });

  test('pass a configured base URL and outbound allowlist to functions', () => {
    const configured = synthesize({
      baseUrl: 'https://git.example.com',
      outboundAllow: '10.1.0.0/16',
    }).service;
    configured.hasOutput('Url', { Value: 'https://git.example.com' });
    for (const [, { Properties }] of resourcesOf(configured, 'AWS::Lambda::Function')) {
      expect(Properties.Environment.Variables.BASE_URL).toBe('https://git.example.com');
      expect(Properties.Environment.Variables.OUTBOUND_ALLOW).toBe('10.1.0.0/16');
    }
  });

  test('warn that outboundAllow lifts a check and connects nothing, because functions are in no VPC', () => {
    const warnings = (settings: Record<string, string>) => {
      const app = new App({ context: { ...cdkJson.context, ...settings }, analyticsReporting: false });
      const about = Match.stringLikeRegexp('outboundAllow .* connects nothing');
      return Annotations.fromStack(instance(app, code).service).findWarning('*', about);
    };
    expect(warnings({})).toEqual([]);
    expect(warnings({ outboundAllow: '10.1.0.0/16' })).toHaveLength(1);
    for (const [, { Properties }] of resourcesOf(service, 'AWS::Lambda::Function'))
      expect(Properties).not.toHaveProperty('VpcConfig');
  });

  test('give back large pieces of memory, as the host and the front do', () => {
    for (const [, { Properties }] of resourcesOf(service, 'AWS::Lambda::Function'))
      expect(Properties.Environment.Variables).toMatchObject(MALLOC);
    const set = Object.entries(MALLOC)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ');
    for (const file of ['package.json', 'Dockerfile'])
      expect(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'), file).toContain(set);
  });

  test('serve a domain at its root, whose links begin with it', () => {
    const domain = 'git.example.com';
    const certificate = 'arn:aws:acm:us-east-1:123456789012:certificate/0';
    const own = synthesize({ domain, domainCertificate: certificate }).service;
    own.hasResourceProperties('AWS::ApiGateway::DomainName', {
      DomainName: domain,
      RegionalCertificateArn: certificate,
      SecurityPolicy: 'TLS_1_2',
    });
    const [[, mapping]] = resourcesOf(own, 'AWS::ApiGateway::BasePathMapping') as [[string, Resource]];
    expect(mapping.Properties).not.toHaveProperty('BasePath');
    own.hasOutput('Url', { Value: `https://${domain}` });
    own.hasOutput('DomainTarget', {});
    for (const [, { Properties }] of resourcesOf(own, 'AWS::Lambda::Function'))
      expect(Properties.Environment.Variables.BASE_URL).toBe(`https://${domain}`);
    expect(resourcesOf(service, 'AWS::ApiGateway::DomainName')).toEqual([]);
  });

  test('reserve nothing by default: a new account has no runs to reserve', () => {
    for (const [, { Properties }] of resourcesOf(service, 'AWS::Lambda::Function'))
      expect(Properties).not.toHaveProperty('ReservedConcurrentExecutions');
  });

  test('reserve the runs that are configured, and limit the stage', () => {
    const limited = synthesize({ reservedConcurrency: 'git=40, maintenance=5', requestRate: '20' }).service;
    const reserved = resourcesOf(limited, 'AWS::Lambda::Function').flatMap(([, { Properties }]) =>
      Properties.ReservedConcurrentExecutions === undefined
        ? []
        : [[Properties.Description, Properties.ReservedConcurrentExecutions]],
    );
    expect(reserved.sort()).toEqual([
      ['Lemnos api git', 40],
      ['Lemnos worker maintenance', 5],
    ]);
    const [[, stage]] = resourcesOf(limited, 'AWS::ApiGateway::Stage') as [[string, Resource]];
    expect(stage.Properties.MethodSettings[0]).toMatchObject({
      ThrottlingRateLimit: 20,
      ThrottlingBurstLimit: 1000,
    });
  });

  test('let throttles of clients be off until an administrator switches them on', () => {
    expect(JSON.stringify(synthesize({ clientThrottles: 'false' }).service.toJSON())).not.toContain(
      'CLIENT_THROTTLES',
    );
  });

  test('tell the functions of the interface how many long reads run at once', () => {
    const told = resourcesOf(synthesize({ longReads: 'user=3' }).service, 'AWS::Lambda::Function');
    const with3 = told.filter(
      ([, { Properties }]) => Properties.Environment.Variables.LONG_READS === 'user=3',
    );
    expect(with3).toHaveLength(areas.filter(({ kind }) => kind === 'api').length);
  });

  test('let only the master-key function replace the master key; others that use it may only create it', () => {
    const grants = Object.values(service.findResources('AWS::IAM::Policy'))
      .flatMap(({ Properties }) => Properties.PolicyDocument.Statement as Record<string, unknown>[])
      .filter(({ Action }) => [Action].flat().includes('ssm:PutParameter'));
    const users = areas.filter(({ rights }) => rights.masterKey !== undefined);
    const changers = users.filter(({ rights }) => rights.masterKey === 'change');
    expect(changers.map(({ name }) => name)).toEqual(['master-key']);
    expect(grants).toHaveLength(users.length);
    expect(grants.filter(({ Condition }) => Condition === undefined)).toHaveLength(changers.length);
    for (const { Condition } of grants.filter((grant) => grant['Condition'] !== undefined)) {
      expect(Condition).toEqual({ StringEquals: { 'ssm:Overwrite': 'false' } });
    }
    expect(JSON.stringify(grants)).toContain('parameter/lemnos/master-key');
  });

  test('let one function send mail, from the domain of the configured sender', () => {
    const mails = (of: Template) =>
      Object.values(of.findResources('AWS::IAM::Policy')).filter((each) =>
        JSON.stringify(each).includes('ses:'),
      );
    expect(mails(service)).toHaveLength(0);
    const told = synthesize({ mailFrom: 'Lemnos <git@example.com>' }).service;
    expect(mails(told)).toHaveLength(1);
    expect(JSON.stringify(mails(told)[0])).toContain('"ses:FromAddress":"*@example.com"');
    // An identity with a default configuration set needs the right to that too.
    for (const resource of [':identity/*', ':configuration-set/*'])
      expect(JSON.stringify(mails(told)[0])).toContain(resource);
    const from = resourcesOf(told, 'AWS::Lambda::Function').filter(
      ([, { Properties }]) => Properties.Environment.Variables.MAIL_FROM !== undefined,
    );
    expect(from.map(([, { Properties }]) => Properties.Description)).toEqual(['Lemnos worker mail']);
  });

  test.each([
    ['mailFrom', 'nobody'],
    ['stream', 'no'],
    ['dashboard', 'no'],
    ['endpointMetrics', 'no'],
    ['logLevel', 'loud'],
    ['serviceName', "x'\r\nSet-Cookie: y"],
    ['tags', 'team'],
    ['deletionDelayDays', 'a week'],
    ['clientThrottles', 'no'],
    ['longReads', 'user=many'],
    ['domain', 'git.example.com'],
    ['shiftMinutes', '7'],
    ['shiftMinutes', 'slowly'],
    ['wafRateLimit', '9'],
    ['wafRateLimit', '1e3'],
    ['wafRateLimit', '2000000001'],
    ['requestRate', '0'],
    ['requestBurst', '1.5'],
    ['outboundAllow', 'http://10.0.0.1'],
    ['reservedConcurrency', 'git'],
    ['reservedConcurrency', 'got=10'],
    ['reservedConcurrency', 'git=0'],
  ])('refuses %s=%s', (name, value) => {
    expect(() => synthesize({ [name]: value })).toThrow(RangeError);
  });
});

describe('repository storages', () => {
  test('have buckets like the first, or lie in one that exists; functions know and reach them', () => {
    const { data, service } = synthesize({ repositoryStorages: 'cold,eu=other-bucket/lemnos' });
    const buckets = resourcesOf(data, 'AWS::S3::Bucket');
    expect(buckets).toHaveLength(2);
    const [first, second] = buckets.map(([, { Properties }]) => Properties);
    expect(second).toEqual(first);
    const functions = resourcesOf(service, 'AWS::Lambda::Function').map(([, { Properties }]) => Properties);
    const variable = (name: string) =>
      functions.find(({ Description }) => Description.endsWith(` ${name}`))!.Environment.Variables[
        'REPOSITORY_STORAGES'
      ];
    for (const name of ['settings', 'git', 'maintenance']) {
      expect(JSON.stringify(variable(name))).toContain('"cold="');
      expect(JSON.stringify(variable(name))).toContain('eu=other-bucket/lemnos/');
    }
    const policies = resourcesOf(service, 'AWS::IAM::Policy').map(([, { Properties }]) =>
      JSON.stringify(Properties),
    );
    const reaching = policies.filter((policy) => policy.includes('s3:GetObject'));
    expect(reaching.length).toBeGreaterThan(10);
    for (const policy of reaching) expect(policy).toContain(':s3:::other-bucket/lemnos/*');
  });

  test.each(['default', 'cold=', 'a b', 'cold=one=two'])('%s is refused', (repositoryStorages) => {
    expect(() => synthesize({ repositoryStorages })).toThrow(RangeError);
  });
});

describe('cdk-nag', () => {
  /** Findings of the rule pack for the stacks after `change`. */
  const findings = (
    change: (stacks: { data: Stack; service: Stack }) => void,
    settings: Record<string, string> = {},
  ): string => {
    const app = new App({ context: { ...cdkJson.context, ...settings }, analyticsReporting: false });
    change(instance(app, code));
    const { exitCode } = process;
    const said = vi.spyOn(console, 'error').mockImplementation(() => {});
    try {
      app.synth();
      return said.mock.calls.flat().join('\n');
    } catch (error) {
      return `${said.mock.calls.flat().join('\n')}${error}`;
    } finally {
      said.mockRestore();
      process.exitCode = exitCode;
    }
  };

  test.each([
    {},
    { shiftMinutes: '5', wafRateLimit: '100' },
    { repositoryStorages: 'cold,eu=other-bucket/lemnos' },
  ])('has no findings without an acknowledged reason: %o', (settings) => {
    expect(findings(() => {}, settings)).toBe('');
  });

  test('reports a new finding without a reason', () => {
    expect(findings(({ data }) => new Bucket(data, 'Careless'))).toContain('AwsSolutions-S10');
    expect(
      findings(({ service }) =>
        new Role(service, 'Careless', {
          assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
        }).addToPolicy(new PolicyStatement({ actions: ['dynamodb:*'], resources: ['*'] })),
      ),
    ).toContain('AwsSolutions-IAM5');
  });
});
