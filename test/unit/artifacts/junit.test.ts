import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BadReport, junitCases, type TestCase } from '../../../lib/domain/artifacts/junit.ts';

async function parse(text: string, pieceBytes = 1 << 16): Promise<TestCase[]> {
  const bytes = Buffer.from(text);
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  }
  const found: TestCase[] = [];
  for await (const each of junitCases(pieces())) found.push(each);
  return found;
}
const inSuite = (content: string): string => `<?xml version="1.0"?><testsuite>${content}</testsuite>`;
const PLAIN = {
  status: 'success',
  name: 'a',
  classname: null,
  file: null,
  time: 0,
  output: null,
  attachment: null,
};

describe('a case', () => {
  test.each([
    ['<testcase name="a"/>', PLAIN],
    [
      '<testcase name="a" classname="b.c" file="d.rb" time="1.25"></testcase>',
      { ...PLAIN, classname: 'b.c', file: 'd.rb', time: 1.25 },
    ],
    ['<testcase name="a" time="1,234.5"/>', { ...PLAIN, time: 1234.5 }],
    ['<testcase name="a" time="soon"/>', PLAIN],
    ['<testcase name="a" time="-1"/>', PLAIN],
    [
      '<testcase name="a"><failure>x &lt; <![CDATA[<y>]]></failure></testcase>',
      { ...PLAIN, status: 'failed', output: 'x < <y>' },
    ],
    [
      '<testcase name="a"><failure message="m" type="t"/></testcase>',
      { ...PLAIN, status: 'failed', output: { message: 'm', type: 't' } },
    ],
    [
      '<testcase name="a"><error>e</error><failure>f</failure></testcase>',
      { ...PLAIN, status: 'failed', output: 'f' },
    ],
    ['<testcase name="a"><error/></testcase>', { ...PLAIN, status: 'error' }],
    ['<testcase name="a"><skipped/><system-out>x</system-out></testcase>', { ...PLAIN, status: 'skipped' }],
    [
      '<testcase name="a"><failure>f</failure><system-out>see [[ATTACHMENT|shots/a b.png]]\n</system-out></testcase>',
      { ...PLAIN, status: 'failed', output: 'f', attachment: 'shots/a b.png' },
    ],
    [
      '<testcase name="a"><failure>1<testcase>2</testcase>3</failure></testcase>',
      { ...PLAIN, status: 'failed', output: '123' },
    ],
  ])('%s', async (text, expected) => {
    expect(await parse(inSuite(text))).toEqual([expected]);
  });

  test('is one below suites alone', async () => {
    const names = async (text: string) => (await parse(text)).map(({ name }) => name);
    expect(
      await names(
        '<testsuites><testsuite><testsuite><testcase name="deep"/></testsuite></testsuite></testsuites>',
      ),
    ).toEqual(['deep']);
    expect(await names('<testcase name="alone"/>')).toEqual([]);
    expect(await names(inSuite('<properties><testcase name="hidden"/></properties>'))).toEqual([]);
    // Files that a job has sent as one.
    expect(await names(`${inSuite('<testcase name="1"/>')}\n${inSuite('<testcase name="2"/>')}`)).toEqual([
      '1',
      '2',
    ]);
  });
});

test('what was written is read, wherever the pieces end', async () => {
  const text = fc.string({ unit: 'binary' }).map((each) => each.replaceAll(/[\p{Cc}\uFFFE\uFFFF]/gu, ''));
  const escaped = (value: string) =>
    value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&#62;').replaceAll('"', '&quot;');
  const made = fc.array(fc.record({ name: text, output: text }));
  await fc.assert(
    fc.asyncProperty(made, fc.integer({ min: 1, max: 40 }), async (cases, pieceBytes) => {
      const xml = cases.map(
        ({ name, output }) =>
          `<testcase name="${escaped(name)}"><failure>${escaped(output)}</failure></testcase>`,
      );
      const read = await parse(inSuite(xml.join('\n')), pieceBytes);
      expect(read.map(({ name, output }) => ({ name, output }))).toEqual(
        cases.map(({ name, output }) => ({ name, output: output.trim() === '' ? null : output })),
      );
    }),
    { numRuns: 40 },
  );
});

describe('hostile reports', () => {
  test('no text makes anything but cases or a report that is bad', async () => {
    const parts = fc.constantFrom(
      ...[
        '<testsuite>',
        '</testsuite>',
        '<testcase',
        ' name="',
        '"',
        '>',
        '/>',
        '</testcase>',
        '<failure>',
        '</failure>',
      ],
      ...[
        '<![CDATA[',
        ']]>',
        '<!--',
        '-->',
        '<?xml',
        '?>',
        '&amp;',
        '&x;',
        '&#xD800;',
        '\0',
        '<!DOCTYPE a [',
        ']>',
        'é',
      ],
    );
    await fc.assert(
      fc.asyncProperty(fc.array(parts, { maxLength: 40 }), async (all) => {
        await parse(all.join(''), 7).catch((error: unknown) => expect(error).toBeInstanceOf(BadReport));
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ['', 'JUnit XML parsing failed: there is no element'],
    ['no xml', 'JUnit XML parsing failed: there is no element'],
    [inSuite('<testcase><failure></testcase>'), 'JUnit XML parsing failed: failure is not closed'],
    ['<testsuite><testcase/>', 'JUnit XML parsing failed: testsuite is not closed'],
    ['<testsuite>', 'JUnit XML parsing failed: testsuite is not closed'],
    [
      inSuite(`<testcase ${Array.from({ length: 500_000 }, (_, n) => `a${n}="x"`).join(' ')}/>`),
      'JUnit XML parsing failed: an element has too many attributes',
    ],
    ['<testsuite>'.repeat(100_000), 'JUnit XML parsing failed: elements are too deep'],
  ])('%.60s is refused', async (text, message) => {
    await expect(parse(text)).rejects.toThrow(new BadReport(message));
  });

  test('entities stay as they are', async () => {
    const bomb = '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY f SYSTEM "file:///etc/passwd">]>';
    const [read] = await parse(`${bomb}${inSuite('<testcase name="&a;&f;"/>')}`);
    expect(read!.name).toBe('&a;&f;');
  });

  test('five megabytes of an attribute, of text, or of elements are read in linear time', async () => {
    for (const text of [
      inSuite(`<testcase name="${'&amp;'.repeat(1_000_000)}"/>`),
      inSuite(`<testcase><failure>${'&lt;'.repeat(1_250_000)}</failure></testcase>`),
      inSuite('<testcase/>'.repeat(450_000)),
      inSuite('</testcase>'.repeat(450_000)),
    ]) {
      await parse(text, 1 << 14);
    }
  });
});
