import { setTimeout as sleep } from 'node:timers/promises';
import { gatewayTree, RESOURCE_QUOTA } from '../../cdk/gateway-tree.ts';
import type { Emulator } from './emulator.ts';
import type { Tally } from './tally.ts';

/** Paths of an API, and why its deployment is refused. */
interface Tree {
  readonly what: string;
  readonly paths: readonly string[];
  readonly refused?: string;
}

const TREES: readonly Tree[] = [
  {
    what: 'one variable child for each resource is deployed',
    paths: ['/commits/{sha}/signature', '/commits/{sha}/{proxy+}'],
  },
  {
    what: 'two variable children of one resource is refused',
    paths: ['/commits/{sha}/signature', '/commits/{proxy+}'],
    refused: 'of this resource already has a variable path part -- only one is allowed',
  },
  {
    what: 'more resources than an API may have is refused',
    paths: Array.from({ length: RESOURCE_QUOTA }, (_, i) => `/r${i}`),
    refused: 'Maximum number of Resources for this API has been reached',
  },
];

/** What the emulated API Gateway says of trees of paths is what AWS says, and what `cdk/gateway-tree.ts` knows before. */
export async function gatewayRefusals(tally: Tally, emulator: Emulator): Promise<void> {
  for (const [i, { what, paths, refused }] of TREES.entries())
    await tally.step(`a tree with ${what}`, async () => {
      const said = await stackOf(emulator, `tree-${i}`, paths);
      if (refused === undefined ? said !== undefined : !said?.includes(refused))
        throw new Error(`it ended with: ${said ?? 'a stack'}`);
      if (known(paths) !== (refused === undefined)) throw new Error('cdk/gateway-tree.ts says otherwise');
    });
}

function known(paths: readonly string[]): boolean {
  try {
    return gatewayTree(paths).size > 0;
  } catch {
    return false;
  }
}

/** Creates a stack of an API with these paths. @returns why it could not be created, if so */
async function stackOf(
  emulator: Emulator,
  name: string,
  paths: readonly string[],
): Promise<string | undefined> {
  const method = { 'x-amazon-apigateway-integration': { type: 'mock' }, responses: {} };
  const body = {
    openapi: '3.0.1',
    info: { title: name, version: '1' },
    paths: Object.fromEntries(paths.map((path) => [path, { get: method }])),
  };
  const template = { Resources: { Api: { Type: 'AWS::ApiGateway::RestApi', Properties: { Body: body } } } };
  await cloudFormation(emulator, {
    Action: 'CreateStack',
    StackName: name,
    TemplateBody: JSON.stringify(template),
  });
  for (let waited = 0; waited < 60_000; waited += 200) {
    const answer = await cloudFormation(emulator, { Action: 'DescribeStacks', StackName: name });
    const [, status] = /<StackStatus>(\w+)<\/StackStatus>/.exec(answer) ?? [];
    if (status === 'CREATE_COMPLETE') return undefined;
    if (/^(ROLLBACK_COMPLETE|CREATE_FAILED|ROLLBACK_FAILED)$/.test(status ?? ''))
      return cloudFormation(emulator, { Action: 'DescribeStackEvents', StackName: name });
    await sleep(200);
  }
  throw new Error(`the stack ${name} did not end`);
}

async function cloudFormation(
  { endpoint }: Emulator,
  request: Readonly<Record<string, string>>,
): Promise<string> {
  const answer = await fetch(endpoint, {
    method: 'POST',
    headers: {
      // Where it goes to is all that is looked at.
      Authorization:
        'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/cloudformation/aws4_request, SignedHeaders=host, Signature=0',
    },
    body: new URLSearchParams({ Version: '2010-05-15', ...request }),
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${request['Action']}: ${answer.status} ${text}`);
  return text;
}
