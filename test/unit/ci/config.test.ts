import { expect, test } from 'vitest';
import { writeHere, writeYaml } from '../../../lib/ci/yaml/parse.ts';
import { configOf, planOf, problemsOf } from './configs.ts';

const job = (name: string, lines: string) => `${name}:\n  script: x\n${lines.replace(/^/gm, '  ')}\n`;

// Messages as the product words them.
test.each([
  ['', ['jobs config should contain at least one visible job']],
  ['.hidden: {script: x}', ['jobs config should contain at least one visible job']],
  ['- a list', ['Invalid configuration format']],
  ['just text', ['Invalid configuration format']],
  ['a: {stage: test}', ['jobs:a config should implement a script: or a trigger: keyword']],
  ['a: text', ['jobs:a config should implement a script: or a trigger: keyword']],
  [job('a', 'colour: red'), ['jobs:a config contains unknown keys: colour']],
  [job('a', 'tags: x'), ['jobs:a:tags config should be an array of strings']],
  [job('a', 'image: 1'), ['jobs:a:image config should be a hash or a string']],
  [
    job('a', 'stage: nowhere'),
    ['a job: chosen stage does not exist; available stages are .pre, build, test, deploy, .post'],
  ],
  [
    job('a', 'when: sometimes'),
    ['jobs:a when should be one of: on_success, on_failure, always, manual, delayed'],
  ],
  [job('a', 'when: delayed'), ['jobs:a start in should be a duration']],
  [job('a', 'start_in: 1 day'), ['jobs:a start in must be blank']],
  [job('a', 'when: delayed\nstart_in: 8 days'), ['jobs:a start in should not exceed the limit']],
  [job('a', 'rules: []\nonly: [main]'), ['jobs:a config key may not be used with `rules`: only']],
  [job('a', 'rules: [{if: "$A =="}]'), ['jobs:a:rules:rule if invalid expression syntax']],
  [job('a', 'rules: [{when: later}]'), ['jobs:a:rules:rule when unknown value: later']],
  [job('a', 'rules: x'), ['jobs:a:rules config should be an array of hashes']],
  [job('a', 'needs: [b]'), ['a job: undefined need: b']],
  [job('a', 'dependencies: [b]'), ['a job: undefined dependency: b']],
  [job('a', 'parallel: 1'), ['jobs:a:parallel config must be greater than or equal to 2']],
  [job('a', 'parallel: 51'), ['jobs:a:parallel config must be less than or equal to 50']],
  [job('a', 'retry: 3'), ['jobs:a:retry max must be less than or equal to 2']],
  [job('a', 'retry: {max: 1, when: bad}'), ['jobs:a:retry when contains unknown values: bad']],
  [job('a', 'timeout: soon'), ['jobs:a:timeout config should be a duration']],
  [job('a', 'coverage: x'), ['jobs:a:coverage config must be a regular expression']],
  [job('a', 'variables: [x]'), ['jobs:a:variables config should be a hash of key value pairs']],
  [job('a', 'variables: {A: true}'), ['jobs:a:variables config should be a hash of key value pairs']],
  [job('a', 'environment: {url: x}'), ["jobs:a:environment name can't be blank"]],
  [
    job('a', 'environment: "a:b"'),
    [
      "jobs:a:environment name can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, but it cannot start or end with '/'",
    ],
  ],
  [job('a', 'environment: {name: x, on_stop: b}'), ['a job: on_stop job b is not defined']],
  [
    job('a', 'artifacts: {reports: {other: x}}'),
    ['jobs:a:artifacts:reports config contains unknown keys: other'],
  ],
  [job('a', 'cache: {key: a/b}'), ['jobs:a:cache:key config should be a string or symbol']],
  [job('a', 'extends: .b'), ['a: unknown keys in `extends` (.b)']],
  [
    `${job('.b', 'extends: .c')}${job('.c', 'extends: .b')}`,
    ['.b: circular dependency detected in `extends`'],
  ],
  [`b: x\n${job('a', 'extends: b')}`, ['a: invalid base hashes in `extends` (b)']],
  ['a: {script: !reference [.b, script]}', ['!reference [".b","script"] could not be found']],
  ['a: {script: !reference [a, script]}', ['!reference ["a","script"] is part of a circular chain']],
  ['a: {script: [!reference []]}', ['!reference [] is not valid']],
  [`${job('a', 'needs: [b]')}${job('b', 'needs: [a]')}`, ['The pipeline has circular dependencies']],
  [
    `stages: [one, two]\n${job('a', 'stage: one\nneeds: [b]')}${job('b', 'stage: two')}`,
    ['a job: need b is not defined in current or prior stages'],
  ],
  [
    `${job('a', 'needs: []\ndependencies: [b]')}${job('b', 'stage: build')}`,
    ['jobs:a dependencies the b should be part of needs'],
  ],
  [
    `default: {image: x}\nimage: y\n${job('a', '')}`,
    ['default config image is defined in top-level and `default:` entry'],
  ],
  [`default: {script: x}\n${job('a', '')}`, ['default config contains unknown keys: script']],
  [
    `workflow: {rules: [{when: manual}]}\n${job('a', '')}`,
    ['workflow:rules:rule when unknown value: manual'],
  ],
  [`image: [1]\n${job('a', '')}`, ['image config should be a hash or a string']],
  ['a: {trigger: {project: g/p, include: x.yml}}', ['jobs:a:trigger config contains unknown keys: project']],
  [
    'a: {trigger: {include: {artifact: x.yml}}}',
    ['jobs:a:trigger:include config must specify the job where to fetch the artifact from'],
  ],
  ['a: {trigger: {include: [{artifact: x.yml, job: b}]}}', ['a job: undefined dependency: b']],
  [
    `a: {stage: build, trigger: {include: [{artifact: x.yml, job: b}]}}\n${job('b', '')}`,
    ['a job: dependency b is not defined in current or prior stages'],
  ],
  [
    'a: {needs: [{pipeline: g/p}, {pipeline: g/q}]}',
    ['jobs:a config should contain exactly one bridge need'],
  ],
  ['a: {trigger: g/p, script: x}', ['jobs:a config contains unknown keys: trigger']],
])('%j', async (text, messages) => {
  expect(await problemsOf(text)).toEqual(messages);
});

test.each(['', '# comment\n'.repeat(2000)])(
  'bytes are text and a set is a hash, in long files too (%#)',
  async (comments) => {
    const text = `a:\n  script: !!binary ZWNobyAxCg==\n  needs: []\n  variables: !!set {}\n${comments}`;
    const { jobs } = await configOf(text);
    expect(jobs.get('a')).toMatchObject({ script: ['echo 1\n'], variables: {} });
  },
);

test('many bytes are no more than their text', async () => {
  const bytes = Buffer.alloc(700_000, 'x').toString('base64');
  const { jobs } = await configOf(`a:\n  script: !!binary ${bytes}\n`);
  expect(jobs.get('a')?.script?.[0]).toHaveLength(700_000);
});

test('everything that is wrong is told at once', async () => {
  const text = `${job('a', 'tags: x\nwhen: y')}${job('b', 'retry: 9')}`;
  expect(await problemsOf(text)).toHaveLength(3);
});

test('a syntax error tells its place', async () => {
  const [message] = await problemsOf('a:\n  script: [x\n');
  expect(message).toMatch(/^\(<unknown>\): .* at line \d+ column \d+$/);
});

test('what Ruby reads as text, truth or number is read so', async () => {
  const { jobs } = await configOf(
    'a: {script: x, variables: {A: y, B: 012, C: 1_000, D: 12345678901234567890, E: 2020-01-01, F: 1.50}, interruptible: yes}',
  );
  expect(jobs.get('a')).toMatchObject({
    interruptible: true,
    variables: { A: 'y', B: '10', C: '1000', D: '12345678901234567890', E: '2020-01-01', F: '1.5' },
  });
});

test('a job takes what it extends in depth, lists as a whole, the later base before the earlier', async () => {
  const { jobs } = await configOf(`
.one: {script: [one], variables: {A: "1", B: "1"}, tags: [x]}
.two: {extends: .one, variables: {B: "2", C: "2"}}
a: {extends: [.one, .two], variables: {C: "3"}, tags: [y]}`);
  expect(jobs.get('a')).toMatchObject({
    script: ['one'],
    variables: { A: '1', B: '2', C: '3' },
    tags: ['y'],
  });
});

test('a job has what default says, unless it says so itself or inherits nothing', async () => {
  const { jobs } = await configOf(`
default: {image: ruby, before_script: [x], retry: 1}
a: {script: x}
b: {script: x, image: node, inherit: {default: [retry]}}
c: {script: x, inherit: {default: false}}`);
  expect(jobs.get('a')).toMatchObject({ image: { name: 'ruby' }, beforeScript: ['x'], retry: { max: 1 } });
  expect(jobs.get('b')).toMatchObject({ image: { name: 'node' }, retry: { max: 1 } });
  expect(jobs.get('b')).not.toHaveProperty('beforeScript');
  expect(jobs.get('c')).not.toHaveProperty('image');
});

test('references bring lines of scripts into scripts, and any value elsewhere', async () => {
  const { jobs } = await configOf(`
.a: {script: [one, two], variables: {A: "1"}, nested: [!reference [.a, script], three]}
a:
  script: [zero, !reference [.a, nested], four]
  variables: {B: !reference [.a, variables, A]}`);
  expect(jobs.get('a')).toMatchObject({
    script: ['zero', 'one', 'two', 'three', 'four'],
    variables: { B: '1' },
  });
});

test('names that every object knows are names like others', async () => {
  const { jobs } = await configOf('__proto__: {script: x}\nconstructor: {script: y}\ntoString: {script: z}');
  expect([...jobs.keys()]).toEqual(['__proto__', 'constructor', 'toString']);
});

test.each([
  [
    'aliases',
    `a: &a [x, x, x, x, x, x, x, x, x, x]\n${'bcdefgh'.replace(/./g, (c, i: number) => `${c}: &${c} [${`*${'abcdefg'[i]},`.repeat(10)}]\n`)}z: {script: *h}`,
  ],
  [
    'references',
    `.a: [x, x, x, x, x, x, x, x, x, x]\n${'bcdefgh'.replace(/./g, (c, i: number) => `.${c}: [${`!reference [.${'abcdefg'[i]}],`.repeat(10)}]\n`)}z: {script: !reference [.h]}`,
  ],
])('a file whose %s stand for ten million values is refused', async (_kind, text) => {
  expect(await problemsOf(text)).toEqual(['The parsed YAML is too big']);
});

test('a matrix of ten thousand jobs is refused before it is made', async () => {
  const values = `[${Array.from({ length: 100 }, (_, i) => `v${i}`).join(',')}]`;
  expect(
    await problemsOf(`a: {script: x, parallel: {matrix: [{A: ${values}, B: ${values}, C: ${values}}]}}`),
  ).toEqual(['jobs:a:parallel:matrix config generates too many jobs (maximum is 50)']);
});

test('a chain of more than ten levels of extends is refused', async () => {
  const chain = Array.from({ length: 12 }, (_, i) => `.j${i}: {extends: .j${i + 1}}`).join('\n');
  const [message] = await problemsOf(`${chain}\n.j12: {script: x}\na: {extends: .j0}`);
  expect(message).toMatch(/: nesting too deep in `extends`$/);
});

test('a long file, which a thread reads, is read as a short one', async () => {
  const text = `.a: {script: [one, !reference [.b, script]], variables: {N: 1, D: 2020-01-01, F: 1.5}}
.b: {script: [two]}
a: {extends: .a, when: manual}
`;
  const long = text + '# comment\n'.repeat(5000);
  const [ofShort, ofLong] = [await configOf(text), await configOf(long)];
  expect(ofLong.jobs.get('a')).toMatchObject({ script: ['one', 'two'], when: 'manual' });
  expect(ofLong).toEqual(ofShort);
  expect(await problemsOf(`${long}a: [`)).toEqual(await problemsOf(`${text}${'\n'.repeat(5000)}a: [`));
});

test('a long configuration is written by a thread as a short one is here', async () => {
  const { merged } = await configOf(`a: {script: [${"'x', ".repeat(3000)}y], tags: ['1', "a\\nb"]}`);
  expect(await writeYaml(merged)).toBe(`---\n${await writeHere(merged)}`);
});

test.each([
  [
    'jobs extend much',
    `.a: {${Array.from({ length: 3000 }, (_, i) => `k${i}: v`).join()}}\n${Array.from({ length: 3000 }, (_, i) => `.b${i}: {extends: .a}\n`).join('')}`,
  ],
  [
    'references name much again and again',
    `.a: {b: [${'x,'.repeat(3000)}x]}\n${Array.from({ length: 3000 }, (_, i) => `.b${i}: [!reference [.a, b]]\n`).join('')}`,
  ],
])('a file whose %s is refused before it is made', async (_kind, text) => {
  expect(await problemsOf(`${text}a: {script: x}`)).toEqual(['The parsed YAML is too big']);
});

test('jobs that extend long lists may stand for more than one file', async () => {
  const changes = Array.from({ length: 40 }, (_, i) => `p${i}/**`).join();
  const rules = Array.from({ length: 5 }, () => `{changes: [${changes}]}`).join();
  const jobs = Array.from({ length: 600 }, (_, i) => `j${i}: {extends: .a, script: x}\n`).join('');
  const config = await configOf(`.a: {rules: [${rules}]}\n${jobs}`);
  expect(config.jobs.size).toBe(600);
  expect(await writeYaml(config.merged)).toBe(`---\n${await writeHere(config.merged)}`);
});

test('a hash of more entries than are copied at once is refused', async () => {
  const variables = Array.from({ length: 20_001 }, (_, i) => `V${i}: x`).join();
  expect(await problemsOf(`variables: {${variables}}\na: {script: x}`)).toEqual([
    'The parsed YAML is too big',
  ]);
});

test('a reference whose path stands for much is refused before it is told', async () => {
  const lists = Array.from({ length: 6 }, (_, i) => `&a${i + 1} [${`*a${i}, `.repeat(9)}*a${i}]`).join();
  expect(await problemsOf(`a: {script: !reference [&a0 [x, x], ${lists}]}`)).toEqual([
    'The parsed YAML is too big',
  ]);
});

test('what is wrong in many jobs is told within bounds', async () => {
  const stages = Array.from({ length: 5000 }, (_, i) => `s${i}`).join();
  const jobs = Array.from({ length: 500 }, (_, i) => `j${i}: {script: x, stage: y}\n`).join('');
  const told = await problemsOf(`stages: [${stages}]\n${jobs}`);
  expect(told[0]).toMatch(/^j0 job: chosen stage does not exist; available stages are \.pre, s0, /);
  expect(told.join().length).toBeLessThan(200_000);
});

test('the variables of all jobs of a pipeline are bounded together', async () => {
  const variables = Array.from({ length: 1000 }, (_, i) => `V${i}: x`).join();
  const jobs = Array.from({ length: 300 }, (_, i) => `j${i}: {script: x}\n`).join('');
  await expect(planOf(`variables: {${variables}}\n${jobs}`)).rejects.toThrow('The parsed YAML is too big');
});
