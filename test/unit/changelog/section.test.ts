import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { withSection } from '../../../lib/domain/changelog/section.ts';
import { compareVersions, parseVersion } from '../../../lib/domain/changelog/version.ts';

const section = (version: string) => `## ${version} (2021-01-05)\n\n### added (1 change)\n\n- [A](x)\n`;
const put = (file: string, version: string) => withSection(file, parseVersion(version)!, section(version));

describe('a section', () => {
  const INTRO = 'This is a changelog file.\n\n';
  const ONE = '## 1.0.0\n\nThis is the changelog for version 1.0.0.\n';
  const TWO = '## 2.0.0\n\nThis is another release.\n\n';
  test.each([
    ['of the first release', '', '1.0.0', section('1.0.0')],
    ['above an older one', INTRO + ONE, '2.0.0', `${INTRO}${section('2.0.0')}\n${ONE}`],
    ['between two', INTRO + TWO + ONE, '1.1.0', `${INTRO}${TWO}${section('1.1.0')}\n${ONE}`],
    ['below all', INTRO + TWO + ONE, '0.5.0', `${INTRO}${TWO}${ONE}\n${section('0.5.0')}`],
    ['behind an open line', 'Intro', '1.0.0', `Intro\n\n${section('1.0.0')}`],
    ['in a blank file', '\n \n', '1.0.0', section('1.0.0')],
    ['that is there', INTRO + TWO + ONE, '1.0.0', undefined],
    ['that is there with a letter', '## v1.0.0: x\n', '1.0.0', undefined],
    ['beside a longer version', '## 1.0.0-rc1 x\n', '1.0.0', `${section('1.0.0')}\n## 1.0.0-rc1 x\n`],
    [
      'beside what is no version',
      '## 1.0\n## 1.0.0.0\n### 1.0.0\n ## 1.0.0\n',
      '1.0.0',
      `## 1.0\n## 1.0.0.0\n### 1.0.0\n ## 1.0.0\n\n${section('1.0.0')}`,
    ],
    ['after a heading that ends a sentence', '## 2.0.0.\n', '1.0.0', `## 2.0.0.\n\n${section('1.0.0')}`],
  ])('%s', (_, file, version, expected) => {
    expect(put(file, version)).toBe(expected);
  });
});

test('sections of any versions are inserted in version order, whatever else the file contains', () => {
  const part = fc.constantFrom('0', '1', '2', '10', '0-rc.1', '0-rc.10', '3+a');
  const version = fc.tuple(fc.nat(3), fc.nat(12), part).map((parts) => parts.join('.'));
  const intro = fc.string({ unit: fc.constantFrom('a', '\n', ' ', '#', '\x80'), maxLength: 20 });
  fc.assert(
    fc.property(intro, fc.uniqueArray(version, { maxLength: 12 }), (text, versions) => {
      let file = text;
      for (const one of versions) {
        file = put(file, one)!;
        expect(put(file, one)).toBeUndefined();
      }
      const sorted = versions.toSorted((a, b) => compareVersions(parseVersion(b)!, parseVersion(a)!));
      const headings = file.match(/^## \d.*$/gm) ?? [];
      expect(headings).toEqual(sorted.map((one) => `## ${one} (2021-01-05)`));
      if (text.trim() !== '') expect(file.startsWith(text)).toBe(true);
    }),
  );
});
