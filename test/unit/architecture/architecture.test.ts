import { describe, expect, test } from 'vitest';
import { type Import, importsOf, sources, textOf } from './imports.ts';
import {
  againstLayers,
  againstSubjects,
  buildingKeys,
  circles,
  LAYERS,
  namelessErrors,
  packagesOf,
  scanning,
  sdkImports,
} from './rules.ts';

const files = new Set(Object.keys(LAYERS).flatMap(sources));
const all = [...files].flatMap((file) => importsOf(file));
const inside = all.filter(({ to }) => to.startsWith('@lemnos/') || to.endsWith('.ts'));
const service = new Map([...sources('lib'), ...sources('functions')].map((file) => [file, textOf(file)]));

describe('architecture', () => {
  test('reads imports at all', () => {
    expect(inside.length).toBeGreaterThan(1000);
  });

  test('layers import one way', () => {
    expect(againstLayers(inside)).toEqual([]);
  });

  test('subjects of a layer import one way', () => {
    expect(againstSubjects(inside)).toEqual([]);
  });

  test('no files import each other in a circle, types included', () => {
    expect(circles(inside)).toEqual([]);
  });

  test('an AWS SDK is imported only by lib/store, local and cdk', () => {
    expect(sdkImports(all)).toEqual([]);
  });

  test('a workspace package declares the packages that it imports', () => {
    const { workspaces } = JSON.parse(textOf('package.json'));
    expect(workspaces).toEqual(['local/aws']);
    for (const folder of workspaces) {
      const { dependencies } = JSON.parse(textOf(`${folder}/package.json`));
      expect(packagesOf(sources(folder).map((file) => textOf(file)))).toEqual(Object.keys(dependencies));
    }
  });

  test('Powertools is imported for log lines, metrics and batches of workers only', () => {
    const users = all.filter(({ to }) => to.startsWith('@aws-lambda-powertools/'));
    expect(users.map(({ from, to }) => `${from} → ${to}`).sort()).toEqual([
      'functions/worker.ts → @aws-lambda-powertools/batch',
      'lib/telemetry/log.ts → @aws-lambda-powertools/logger',
      'lib/telemetry/metrics.ts → @aws-lambda-powertools/metrics',
    ]);
  });

  test('re2js is imported by lib/regexp only, and loaded when a pattern is met', () => {
    const users = all.filter(({ to }) => to === 're2js');
    expect([...new Set(users.map(({ from }) => from))]).toEqual(['lib/regexp/user-pattern.ts']);
    expect(textOf('lib/regexp/user-pattern.ts')).not.toMatch(/^import (?!type\b).*'re2js'/m);
  });

  test('no request path scans the table', () => {
    expect(scanning(service)).toEqual([]);
  });

  test('only lib/store/row-keys builds keys of the table', () => {
    expect(buildingKeys(service)).toEqual([]);
  });

  // A file that cannot name a row can neither change nor remove it; and the one that can has no such method.
  test('audit rows are named only by the file that writes them, and it never changes or removes one', () => {
    const KEYS = /\baudit(EventKey|Partition|OwnPartition|ListClass)\b|['"`]AUDIT#/;
    const naming = [...service].filter(([, text]) => KEYS.test(text)).map(([file]) => file);
    expect(naming.sort()).toEqual([
      'lib/store/audit-events/audit-events.ts',
      'lib/store/row-keys/audit-events.ts',
    ]);
    const text = textOf('lib/store/audit-events/audit-events.ts');
    expect(text).not.toMatch(/\b(delete|update|deletePage|deleteMatching)\b/);
    expect(text.match(/\bput: /g)).toHaveLength(1);
    expect(text).toMatch(/if: ABSENT/);
  });

  test('errors say their own names', () => {
    expect(namelessErrors(service)).toEqual([]);
  });
});

describe('each rule finds a planted violation', () => {
  const edge = (from: string, to: string, typeOnly = false): Import => ({ from, to, typeOnly });
  const file = (name: string, text: string) => new Map([[name, text]]);

  test.each<[string, readonly string[], readonly string[]]>([
    [
      'a domain file that imports an endpoint',
      againstLayers([edge('lib/domain/tags/tags.ts', 'lib/api/tags/shapes.ts')]),
      ['lib/domain/tags/tags.ts → lib/api/tags/shapes.ts'],
    ],
    [
      'an endpoint that imports more than types of the store',
      againstLayers([
        edge('lib/api/tags/endpoints.ts', 'lib/store/refs/protection-rules.ts', true),
        edge('lib/api/tags/endpoints.ts', 'lib/store/refs/protection-rules.ts'),
      ]),
      ['lib/api/tags/endpoints.ts → lib/store/refs/protection-rules.ts'],
    ],
    [
      'a file of the service that imports the embedded services',
      againstLayers([
        edge('lib/store/clients.ts', '@lemnos/embedded-aws/s3'),
        edge('local/host.ts', '@lemnos/embedded-aws/s3'),
      ]),
      ['lib/store/clients.ts → @lemnos/embedded-aws/s3'],
    ],
    [
      'the embedded services imported by a path, or importing the host',
      againstLayers([
        edge('local/host.ts', 'local/aws/s3/index.ts'),
        edge('local/aws/s3/index.ts', 'local/lock.ts'),
        edge('local/aws/sqs/index.ts', 'local/aws/faults.ts'),
      ]),
      ['local/host.ts → local/aws/s3/index.ts', 'local/aws/s3/index.ts → local/lock.ts'],
    ],
    [
      'a subject that imports a later one',
      againstSubjects([
        edge('lib/domain/projects/projects.ts', 'lib/domain/groups/groups.ts'),
        edge('lib/domain/groups/groups.ts', 'lib/domain/projects/projects.ts'),
      ]),
      ['lib/domain/groups/groups.ts → lib/domain/projects/projects.ts'],
    ],
    [
      'a subject without a place in the order',
      againstSubjects([edge('lib/store/made-up/made-up.ts', 'lib/store/table/table.ts')]),
      ['lib/store/made-up has no place'],
    ],
    ['a circle of values', circles([edge('a.ts', 'b.ts'), edge('b.ts', 'a.ts')]), ['a.ts → b.ts → a.ts']],
    [
      'a circle that only a type closes',
      circles([edge('a.ts', 'b.ts'), edge('b.ts', 'c.ts'), edge('c.ts', 'a.ts', true)]),
      ['a.ts → b.ts → c.ts → a.ts'],
    ],
    [
      'an SDK in the domain',
      sdkImports([edge('lib/domain/mail/send.ts', '@aws-sdk/client-sesv2')]),
      ['lib/domain/mail/send.ts → @aws-sdk/client-sesv2'],
    ],
    ['a scan', scanning(file('lib/store/users/list.ts', 'await table.scan()')), ['lib/store/users/list.ts']],
    [
      'a key put together outside of the row keys',
      buildingKeys(file('lib/store/users/list.ts', "const key = { pk: userPartition(id), sk: 'USER' };")),
      ['lib/store/users/list.ts'],
    ],
    [
      'an error without its name',
      namelessErrors(file('lib/store/errors.ts', 'class Lost extends Error {}')),
      ['lib/store/errors.ts: Lost'],
    ],
  ])('%s', (_, found, expected) => {
    expect(found).toEqual(expected);
  });

  test('imports are read whole: types, re-exports, several lines, dynamic ones', () => {
    const text = `import type { A } from './a.ts';
import { type B, type C } from './b.ts';
import {
  D,
  type E,
} from '../d.ts';
export { f } from './f.ts';
const g = await import('./g.ts');`;
    expect(importsOf('lib/x/file.ts', text)).toEqual([
      edge('lib/x/file.ts', 'lib/x/a.ts', true),
      edge('lib/x/file.ts', 'lib/x/b.ts', true),
      edge('lib/x/file.ts', 'lib/d.ts'),
      edge('lib/x/file.ts', 'lib/x/f.ts'),
      edge('lib/x/file.ts', 'lib/x/g.ts'),
    ]);
  });
});
