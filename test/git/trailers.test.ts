import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseTrailers } from '../../lib/git/trailers.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'trailers-'));
  execFileSync('git', ['init', '--quiet', '--bare', directory]);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const environment = { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };

/** `key: value` lines, as git prints them. */
const ours = (message: string) => parseTrailers(message).map(({ key, value }) => `${key}: ${value}`);

/** git's trailers of each message, in a separate commit each. */
function gitsOf(messages: readonly string[]): string[][] {
  const stream = messages.map((message, index) => {
    const data = Buffer.from(message);
    return Buffer.concat([
      Buffer.from(`commit refs/heads/m\nmark :${index + 1}\ncommitter A <a@b> ${index} +0000\n`),
      Buffer.from(`data ${data.length}\n`),
      data,
      Buffer.from('\n'),
    ]);
  });
  const run = (args: string[], input?: Buffer) =>
    execFileSync('git', args, {
      cwd: directory,
      env: environment,
      maxBuffer: 1 << 28,
      ...(input ? { input } : {}),
    });
  run(['update-ref', '-d', 'refs/heads/m']);
  run(['fast-import', '--quiet', '--force'], Buffer.concat([Buffer.from('reset refs/heads/m\n'), ...stream]));
  const log = run([
    'log',
    '--reverse',
    '--format=%x1e%(trailers:only,unfold)%x1f',
    'refs/heads/m',
  ]).toString();
  return log
    .split('\x1e')
    .slice(1)
    .map((part) =>
      part
        .slice(0, part.lastIndexOf('\x1f'))
        .split('\n')
        .filter((line) => line !== ''),
    );
}

const TABLE: Record<string, string> = {
  'one trailer': 'title\n\nSigned-off-by: A <a@b>\n',
  'no newline at the end': 'title\n\nbody\n\nA: 1\nB: 2',
  'the title alone is none': 'Key: value\n',
  'title of two lines': 'title\nKey: value\n',
  'prose spoils a block': 'title\n\nprose here\nKey: value\n',
  'prose beside a line of git': 'title\n\nprose here\nKey: value\nSigned-off-by: me\n',
  'too much prose': 'title\n\na a\nb b\nc c\nd d\nSigned-off-by: me\n',
  'prose up to three quarters': 'title\n\na a\nb b\nc c\nSigned-off-by: me\n',
  'cherry picked': 'title\n\nKey: value\n(cherry picked from commit abc)\n',
  folded: 'title\n\nKey: one\n  two\n\tthree\nOther: x\n',
  'starts with a continuation': 'title\n\n  two\nKey: one\n',
  'whitespace before the separator': 'title\n\nKey \t: one\n',
  'whitespace in the key': 'title\n\nMy key: one\n',
  'empty value': 'title\n\nKey:\n',
  'only a separator': 'title\n\n: value\n',
  'the last paragraph only': 'title\n\nKey: one\n\nprose\n',
  CRLF: 'title\r\n\r\nKey: value\r\nOther: x\r\n',
  'a line of whitespace divides': 'title\n\nbody\n \t\nKey: value\n',
  'blank lines at the end': 'title\n\nKey: value\n\n\n  \n',
  comments: '# c\ntitle\n\n# c\nKey: value\n# comment\nOther: x\n# end\n',
  'a comment breaks a fold': 'title\n\nKey: value\n# comment\n  more\n',
  'comment as title': '#c\n\nKey: value\n',
  conflicts: 'title\n\nKey: value\n\nConflicts:\n\ta.txt\n\tb.txt\n',
  'conflicts, then text': 'title\n\nKey: value\n\nConflicts:\n\ta.txt\nmore\n',
  scissors: 'title\n\nKey: value\n# ------------------------ >8 ------------------------\nOther: x\n',
  'a divider is text': 'title\n\nKey: value\n---\nOther: x\n',
  'a divider behind a block': 'title\n\nbody\n\nKey: value\n\n---\n\nOther: x\n',
  'not ASCII': 'title\n\nKey: värde 🦊\nSchlüssel: x\n',
  repeated: 'title\n\nKey: one\nKey: two\nkey: three\n',
  empty: '',
};

test.each(Object.entries(TABLE))('same as git interpret-trailers: %s', (_, message) => {
  const printed = execFileSync('git', ['interpret-trailers', '--parse', '--no-divider'], {
    cwd: directory,
    env: environment,
    input: message,
  });
  expect(ours(message).map((line) => line.trimEnd())).toEqual(
    printed
      .toString()
      .split('\n')
      .map((line) => line.trimEnd())
      .filter((line) => line !== ''),
  );
});

test('same as git log, for random messages', () => {
  const piece = fc.constantFrom(
    'Key: value',
    'Signed-off-by: A',
    'Signed-off-by:A',
    '(cherry picked from commit 1)',
    'prose here',
    'a',
    '',
    '',
    ' ',
    ' more',
    '\tmore',
    '#',
    '# comment',
    'Conflicts:',
    'Conflicts: ',
    '---',
    'K:',
    ': v',
    'k-2 : v',
    'a b: c',
    'X:y:z',
    '# ------------------------ >8 ------------------------',
    '\r',
    'Key: value\r',
    'é: x',
    ' Key: x',
    '-: x',
    '\fK: v',
    'K\v: v',
    'Key:\v v\f',
  );
  const line = fc.oneof(
    { weight: 6, arbitrary: piece },
    { weight: 1, arbitrary: fc.stringMatching(/^[ -~]{0,12}$/) },
  );
  const message = fc
    .tuple(fc.constantFrom('title\n\n', ''), fc.array(line, { maxLength: 12 }), fc.constantFrom('\n', ''))
    .map(([head, lines, end]) => head + lines.join('\n') + end);
  const messages = fc.sample(message, 3_000);
  const expected = gitsOf(messages);
  expect(expected.length).toBe(messages.length);
  for (const [index, text] of messages.entries()) {
    expect(
      ours(text).map((l) => l.trimEnd()),
      JSON.stringify(text),
    ).toEqual(expected[index]!.map((l) => l.trimEnd()));
  }
});

test('parsing takes linear time, also for megabytes', () => {
  parseTrailers(`title\n\n${'Key: value\n more\n'.repeat(100_000)}`);
  parseTrailers(`title\n\nKey:${' '.repeat(1_000_000)}x`);
  parseTrailers(`title\n\nKey: ${' x\n'.repeat(100_000)}`);
  parseTrailers(`title\n\nKey: a${' '.repeat(500_000)}b`);
});
