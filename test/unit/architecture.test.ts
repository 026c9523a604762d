import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** What a folder may import, besides itself and packages. `type` imports only where marked. */
const MAY_IMPORT: Record<string, { values: string[]; types: string[] }> = {
  'lib/git': { values: [], types: [] },
  // What is written down of the work under way, and the id it goes by.
  'lib/telemetry': { values: [], types: [] },
  // Encrypting and decrypting.
  'lib/sealing': { values: [], types: [] },
  // What the store keeps, as everybody sees it: plain data and its constants.
  'lib/records': { values: [], types: ['lib/store/table/keys.ts'] },
  'lib/store': { values: ['lib/records', 'lib/git', 'lib/sealing', 'lib/telemetry'], types: ['lib/domain'] },
  // It talks with strangers: nothing of ours is in its reach.
  'lib/outbound': { values: ['lib/git', 'lib/sealing'], types: [] },
  // Formats of keys and signatures, and the cryptography under them.
  'lib/signatures': { values: [], types: [] },
  'lib/domain': {
    values: ['lib/records', 'lib/store', 'lib/git', 'lib/outbound', 'lib/signatures', 'lib/telemetry'],
    types: [],
  },
  'lib/http': { values: ['lib/records', 'lib/domain', 'lib/telemetry'], types: ['lib/store'] },
  // The store is the rules' business: an endpoint sees records.
  'lib/api': {
    values: ['lib/http', 'lib/domain', 'lib/git', 'lib/records', 'lib/telemetry'],
    types: ['lib/store'],
  },
  functions: {
    values: [
      'lib/api',
      'lib/http',
      'lib/domain',
      'lib/store',
      'lib/records',
      'lib/git',
      'lib/outbound',
      'lib/telemetry',
    ],
    types: [],
  },
  // Bundles carry the OpenAPI document and its viewer.
  cdk: {
    values: [
      'functions/areas.ts',
      'lib/store/table/schema.ts',
      'lib/store/environment.ts',
      'lib/api/all.ts',
      'lib/api/meta/viewer/pack.ts',
    ],
    types: [],
  },
  local: {
    values: ['functions', 'lib/store', 'lib/records', 'lib/domain', 'lib/http', 'lib/git', 'lib/telemetry'],
    types: [],
  },
};

interface Import {
  from: string;
  to: string;
  typeOnly: boolean;
}

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.d.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

const STATEMENT =
  /^\s*(import|export)\s+(type\s+)?(?:[\w*{}\s,$]+?\s+from\s+)?'([^']+)'|import\('([^']+)'\)/gm;

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  const found: Import[] = [];
  for (const match of text.matchAll(STATEMENT)) {
    const target = match[3] ?? match[4] ?? '';
    const to = target.startsWith('.') ? normalize(join(dirname(file), target)) : target;
    found.push({ from: file, to, typeOnly: match[2] !== undefined });
  }
  return found;
}

const roomOf = (file: string) => Object.keys(MAY_IMPORT).find((room) => file.startsWith(`${room}/`));
const all = Object.keys(MAY_IMPORT).flatMap(sources).flatMap(importsOf);
const inside = all.filter((edge) => !edge.to.startsWith('node:') && edge.to.endsWith('.ts'));

describe('architecture', () => {
  test('reads imports at all', () => {
    expect(inside.length).toBeGreaterThan(10);
  });

  test('imports run one way', () => {
    const wrong = inside.filter((edge) => {
      const room = roomOf(edge.from);
      if (room === undefined || edge.to.startsWith(`${room}/`)) return false;
      const rule = MAY_IMPORT[room]!;
      const allowed = edge.typeOnly ? [...rule.values, ...rule.types] : rule.values;
      return !allowed.some((target) => edge.to === target || edge.to.startsWith(`${target}/`));
    });
    expect(wrong.map((edge) => `${edge.from} → ${edge.to}`)).toEqual([]);
  });

  test('an AWS SDK is imported only by lib/store, local and cdk', () => {
    const wrong = all.filter(
      (edge) =>
        edge.to.startsWith('@aws-sdk/') && !['lib/store', 'local', 'cdk'].includes(roomOf(edge.from) ?? ''),
    );
    expect(wrong.map((edge) => `${edge.from} → ${edge.to}`)).toEqual([]);
  });

  test('Powertools writes for lib/telemetry, and gathers the batches of workers', () => {
    const users = all.filter((edge) => edge.to.startsWith('@aws-lambda-powertools/'));
    expect(users.map((edge) => `${edge.from} → ${edge.to}`).sort()).toEqual([
      'functions/worker.ts → @aws-lambda-powertools/batch',
      'lib/telemetry/log.ts → @aws-lambda-powertools/logger',
      'lib/telemetry/metrics.ts → @aws-lambda-powertools/metrics',
    ]);
  });

  test('no request path scans the table', () => {
    const scanning = [...sources('lib'), ...sources('functions')].filter((file) =>
      /ScanCommand|\.scan\(/.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(scanning).toEqual([]);
  });

  // Whoever cannot name a row can neither change nor remove it; and the one that can has no such method.
  test('rows of the audit are named by the file that writes them, and it only puts what is not there', () => {
    const KEYS = /\baudit(EventKey|Partition|OwnPartition|ListClass)\b|['"`]AUDIT#/;
    const naming = [...sources('lib'), ...sources('functions')].filter((file) =>
      KEYS.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(naming.sort()).toEqual(['lib/store/audit-events/audit-events.ts', 'lib/store/table/keys.ts']);
    const text = readFileSync(join(root, 'lib/store/audit-events/audit-events.ts'), 'utf8');
    expect(text).not.toMatch(/\b(delete|update|removeSome)\b/);
    expect(text.match(/\bput: /g)).toHaveLength(1);
    expect(text).toMatch(/if: ABSENT/);
  });

  test('there is no circle', () => {
    const edges = new Map<string, string[]>();
    for (const edge of inside.filter((e) => !e.typeOnly)) {
      edges.set(edge.from, [...(edges.get(edge.from) ?? []), edge.to]);
    }
    const state = new Map<string, 'open' | 'done'>();
    const circles: string[] = [];
    const visit = (file: string, path: string[]) => {
      if (state.get(file) === 'done') return;
      if (state.get(file) === 'open') {
        circles.push([...path.slice(path.indexOf(file)), file].join(' → '));
        return;
      }
      state.set(file, 'open');
      for (const next of edges.get(file) ?? []) visit(next, [...path, file]);
      state.set(file, 'done');
    };
    for (const file of edges.keys()) visit(file, []);
    expect(circles).toEqual([]);
  });
});

// Bundles shorten the names of classes: an error that does not say its own is a letter in the logs.
test('errors say their own names', () => {
  const nameless = ['lib', 'functions'].flatMap(sources).flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return [...text.matchAll(/class (\w+) extends \w*Error\b/g)]
      .filter(([, name]) => !new RegExp(`\\bname(: string)? = '${name}'`).test(text))
      .map(([, name]) => `${file}: ${name}`);
  });
  expect(nameless).toEqual([]);
});
