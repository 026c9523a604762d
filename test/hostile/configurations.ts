import type { DocumentStep } from './documents.ts';

/** Configurations of pipelines that are small as text and large, or slow, to read. */

const numbered = (line: (i: number) => string, count: number): string =>
  Array.from({ length: count }, (_, i) => line(i)).join('');
/** As many lines as fit into a file of the largest size. */
const full = (line: (i: number) => string, bytes = 1_000_000): string => {
  const lines: string[] = [];
  for (let size = 0, i = 0; ; i++) {
    const next = line(i);
    size += next.length;
    if (size > bytes) return lines.join('');
    lines.push(next);
  }
};

const JOB = 'j: {script: s}\n';

/** It is longer than what is parsed at once. */
export const ORDINARY_CONFIGURATION = `${JOB}${'# comment\n'.repeat(5000)}`;

export const CONFIGURATIONS: Readonly<Record<string, string>> = {
  'many hidden jobs': `${numbered((i) => `.j${i}: {script: s}\n`, 16_000)}${JOB}`,
  'more jobs than there may be': full((i) => `j${i}: {script: s}\n`),
  'as many jobs as there may be': numbered((i) => `j${i}: {script: [${'a, '.repeat(20)}b]}\n`, 2000),
  'as many values as there may be': `${JOB}.a: [${'a,'.repeat(49_900)}a]\n`,
  'many hashes': `${JOB}.a: [${'{a: b},'.repeat(24_000)}a]\n`,
  'more values than there may be': `${JOB}.a: [${'{a: b},'.repeat(140_000)}a]\n`,
  'many keys': `${JOB}.a:\n${full((i) => `  k${i}: v\n`)}`,
  'one long text': `${JOB}.a: "${'a'.repeat(1_000_000)}"\n`,
  'escaped text': `${JOB}.a: "${'\\u4e2d'.repeat(160_000)}"\n`,
  'a block of lines': `j:\n  script: |\n${full((i) => `    line ${i}\n`)}`,
  'folded lines': `j:\n  script: >\n${full((i) => `    line ${i}\n`)}`,
  'anchors ten times ten': `.a0: &a0 [${'x, '.repeat(9)}x]\n${numbered(
    (i) => `.a${i + 1}: &a${i + 1} [${`*a${i}, `.repeat(9)}*a${i}]\n`,
    5,
  )}${JOB}`,
  'texts ten times ten': `.a0: &a0 ["${'x'.repeat(9000)}"]\n${numbered(
    (i) => `.a${i + 1}: &a${i + 1} [${`*a${i}, `.repeat(9)}*a${i}]\n`,
    3,
  )}${JOB}`,
  'merged keys': `.a: &a {${numbered((i) => `k${i}: v, `, 1000)}z: z}\n${full((i) => `.b${i}:\n  <<: *a\n`, 2000)}${JOB}`,
  'one base that all extend': `.a: {${numbered((i) => `k${i}: v, `, 40_000)}z: z}\n${full(
    (i) => `.b${i}: {extends: .a}\n`,
    500_000,
  )}${JOB}`,
  'a small base that all extend': `.a: {${numbered((i) => `k${i}: v, `, 100)}z: z}\n${full((i) => `.b${i}: {extends: .a}\n`, 100_000)}${JOB}`,
  'bases of each other': `.a: {extends: .b}\n.b: {extends: .a}\n${JOB}`,
  'a chain of bases': `.a0: {script: s}\n${numbered((i) => `.a${i + 1}: {extends: .a${i}}\n`, 5000)}${JOB}`,
  'bases of many': `.a0: {script: s}\n${numbered((i) => `.a${i + 1}: {extends: [${`.a${i}, `.repeat(2000)}.a${i}]}\n`, 10)}${JOB}`,
  'references to each other': `.a: !reference [.b]\n.b: !reference [.a]\nj: {script: !reference [.a]}\n`,
  'references to much': `.a: {b: &b [${'x, '.repeat(1000)}x], c: [${'*b, '.repeat(200)}*b]}\nj: {script: s}\n${numbered((i) => `.r${i}: [!reference [.a, c]]\n`, 2000)}`,
  'references in depth': `.a: ${numbered((i) => `{k${i}: `, 90)}[${'x,'.repeat(300_000)}x]${'}'.repeat(90)}\n${JOB}${numbered(
    (i) => `.r${i}: !reference [.a${numbered((k) => `, k${k}`, i)}]\n`,
    90,
  )}`,
  'references ten times ten': `.a0: [${'x, '.repeat(9)}x]\n${numbered(
    (i) => `.a${i + 1}: [${`!reference [.a${i}], `.repeat(9)}!reference [.a${i}]]\n`,
    9,
  )}${JOB}`,
  'a matrix of millions': `j: {script: s, parallel: {matrix: [{${numbered((i) => `V${i}: [1,2,3,4,5,6,7,8,9,0], `, 6)}W: 1}]}}\n`,
  'large matrices': numbered(
    (i) => `j${i}: {script: s, parallel: {matrix: [{A: [1,2,3,4,5,6,7], B: [1,2,3,4,5,6,7]}]}}\n`,
    2000,
  ),
  'slow patterns': numbered(
    (i) => `j${i}: {script: s, rules: [{if: '"${'a'.repeat(1000)}" =~ /(a?){${400 - (i % 20)}}b${i}/'}]}\n`,
    400,
  ),
  'patterns of classes': numbered(
    (i) => `j${i}: {script: s, rules: [{if: '"a" =~ /${'\\pL'.repeat(90)}${i}/i'}]}\n`,
    100,
  ),
  'long conditions': numbered((i) => `j${i}: {script: s, rules: [{if: '${'$A || '.repeat(499)}$A'}]}\n`, 300),
  'many rules': `.r: &r [${"{if: '$A'}, ".repeat(200)}{if: '$A'}]\n${numbered((i) => `j${i}: {script: s, rules: *r}\n`, 100)}`,
  'patterns of files': numbered(
    (i) =>
      `j${i}: {script: s, rules: [{changes: ['${'**/*a*'.repeat(20)}${i}', '{${'a,'.repeat(200)}b}'], exists: ['**/${'*a'.repeat(50)}']}]}\n`,
    300,
  ),
  'needs of all': numbered(
    (i) =>
      `j${i}: {script: s, needs: [${numbered((k) => `j${Math.max(0, i - k - 1)}, `, Math.min(i, 20))}]}\n`,
    2000,
  ),
  'many stages': `stages: [${numbered((i) => `s${i}, `, 20_000)}z]\n${numbered((i) => `j${i}: {script: s, stage: s${19_999 - i}}\n`, 2000)}`,
  'stages that are not there': `stages: [${numbered((i) => `s${i}, `, 20_000)}z]\n${numbered((i) => `j${i}: {script: s, stage: x}\n`, 2000)}`,
  'variables in variables': `variables: {${numbered((i) => `V${i}: '${`$V${i + 1}`.repeat(20)}', `, 500)}Z: z}\n${JOB}`,
  'long variables': `variables: {${numbered((i) => `V${i}: '${'x'.repeat(1000)}', `, 500)}Z: z}\n${numbered((i) => `j${i}: {script: s, environment: '${'$V1'.repeat(300)}'}\n`, 300)}`,
  'includes itself': `include: .gitlab-ci.yml\n${JOB}`,
  'includes much': `include: [${'b.yml, '.repeat(99)}b.yml]\n${JOB}`,
  'problems everywhere': numbered((i) => `j${i}: {x: y, rules: 1, needs: {a: b}, only: 1}\n`, 2000),
  deep: `${JOB}.a: ${'['.repeat(50_000)}`,
  tabs: '\t'.repeat(1_000_000),
  comments: `${full((i) => `# ${i}\n`)}${JOB}`,
  documents: `${JOB}${'---\na: b\n'.repeat(100_000)}`,
};

/** What configurations include: as large as a file may be. */
export const INCLUDED = numbered((i) => `.i${i}: {script: s}\n`, 15_000);

const file = { branch: 'main', content: ':text', commit_message: 'm' };

interface ConfigurationStep extends DocumentStep {
  /** The configurations for which it is done, where another step does the same work; undefined: all. */
  readonly of?: readonly string[];
}

/** Those whose answers are large, each in a way of its own. */
const of = [
  'ordinary',
  'as many jobs as there may be',
  'as many values as there may be',
  'one long text',
  'a block of lines',
  'needs of all',
  'includes much',
];

/** Everything that reads a configuration. */
export const CONFIGURATION_STEPS: readonly ConfigurationStep[] = [
  {
    method: 'POST',
    path: '/ci/lint',
    json: { content: ':text', include_merged_yaml: true, include_jobs: true },
    of,
  },
  {
    method: 'POST',
    path: '/projects/:id/ci/lint',
    json: { content: ':text', dry_run: true, include_jobs: true },
  },
  { method: 'POST', path: '/projects/:id/repository/files/.gitlab-ci.yml', json: file },
  { method: 'GET', path: '/projects/:id/ci/lint?dry_run=true&include_jobs=true', of },
  { method: 'POST', path: '/projects/:id/pipeline?ref=main' },
  { method: 'GET', path: '/projects/:id/pipelines', of },
  { method: 'GET', path: '/projects/:id/jobs?per_page=100', of },
  {
    method: 'DELETE',
    path: '/projects/:id/repository/files/.gitlab-ci.yml',
    json: { branch: 'main', commit_message: 'm' },
  },
];
