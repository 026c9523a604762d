/** The documents name files, folders, commands and headings that exist, and list all subjects and decisions. */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';

const DOCUMENTS = [
  ...['README.md', 'CONTRIBUTING.md', 'local/aws/README.md', 'test/deploy/README.md'],
  ...globSync('docs/*.md').sort(),
];
const ROOTS = readdirSync('.', { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() && !['node_modules', '.git'].includes(entry.name) ? [entry.name] : [],
);
const FILES = new Set(
  globSync(ROOTS.map((root) => `${root}/**/*.*`))
    .concat(globSync('*.*'))
    .map((file) => basename(file)),
);

const textOf = (file: string): string => readFileSync(file, 'utf8');

/** Without blocks of code: they show commands and answers. */
const proseOf = (file: string): string => textOf(file).replaceAll(/^```[\s\S]*?^```/gm, '');

/** As the anchors of headings are made: lower case, no punctuation, hyphens for spaces. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

const headingsOf = (file: string): string[] =>
  [...proseOf(file).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading!);

const linksOf = (text: string): string[] =>
  [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!).filter((link) => !/^[a-z]+:/.test(link));

/** @returns the links of a document that lead nowhere */
function deadLinks(file: string, text = proseOf(file)): string[] {
  return linksOf(text).filter((link) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? file : join(dirname(file), path);
    if (!existsSync(target)) return true;
    return anchor !== undefined && !headingsOf(target).map(anchorOf).includes(anchor);
  });
}

/** @returns paths and names of files between backticks that do not exist; what has `<words>` in it is a pattern */
function deadPaths(text: string): string[] {
  const quoted = [...text.matchAll(/`([\w.*{},/-]+)`/g)].map(([, path]) => path!);
  return quoted.filter((path) => {
    if (ROOTS.includes(path.split('/')[0]!) && path.includes('/')) return globSync(path).length === 0;
    return /^[\w-]+\.(ts|txt)$/.test(path) && !FILES.has(path);
  });
}

/** @returns npm scripts that package.json does not have */
function deadCommands(text: string): string[] {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
  const named = [...text.matchAll(/npm run (?:--silent )?([\w:]+)/g)].map(([, name]) => name!);
  return named.filter((name) => !(name in scripts));
}

describe.each(DOCUMENTS)('%s', (file) => {
  test('has links to existing targets only', () => {
    expect(deadLinks(file)).toEqual([]);
  });

  test('names existing files and folders only', () => {
    expect(deadPaths(proseOf(file))).toEqual([]);
  });

  test('names existing commands only', () => {
    expect(deadCommands(textOf(file))).toEqual([]);
  });
});

test('missing files, links and commands are reported', () => {
  expect(deadLinks('README.md', '[a](docs/nothing.md) [b](#nowhere) [c](https://example.com)')).toEqual([
    'docs/nothing.md',
    '#nowhere',
  ]);
  expect(
    deadPaths('`lib/nothing.ts` `lib/domain/<subject>/jobs.ts` `nothing.ts` `vitest.config.ts`'),
  ).toEqual(['lib/nothing.ts', 'nothing.ts']);
  expect(deadCommands('npm run nothing, npm run check')).toEqual(['nothing']);
});

test('docs/architecture.md lists every subject', () => {
  const layers = ['lib/api', 'lib/domain', 'lib/store', 'test/scenarios'];
  const folders = layers.flatMap((layer) =>
    readdirSync(layer, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])),
  );
  const section = textOf('docs/architecture.md')
    .split(/^## /m)
    .find((each) => each.startsWith('Subjects\n'))!;
  const listed = [...section.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name);
  expect(listed).toEqual([...new Set(folders)].sort());
});

test('the index of docs/decisions.md has every decision, and each has a date', () => {
  const text = textOf('docs/decisions.md');
  const headings = [...text.matchAll(/^### (.*)\n+\*\d{4}-\d{2}-\d{2}\*\n/gm)].map(([, heading]) => heading!);
  expect(headings).toEqual([...text.matchAll(/^### (.*)$/gm)].map(([, heading]) => heading));
  const index = [...text.split(/^## /m)[0]!.matchAll(/^- \[(.*)\]\(#(.*)\)$/gm)];
  expect(index.map(([, title, anchor]) => [title, anchor])).toEqual(
    headings.map((heading) => [heading, anchorOf(heading)]),
  );
});
