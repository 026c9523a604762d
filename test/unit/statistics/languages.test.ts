import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LANGUAGES } from '../../../lib/domain/statistics/language-table.ts';
import { languageOf } from '../../../lib/domain/statistics/languages.ts';
import type { AttributeName, AttributeState } from '../../../lib/git/archive/attributes.ts';
import { cpuMs } from '../../harness/cpu-ms.ts';

test.each([
  ['src/main.rs', 'Rust'],
  ['lib/a.TS', 'TypeScript'],
  ['app/page.tsx', 'TypeScript'],
  ['view/index.html.erb', 'HTML'],
  ['include/x.h', 'C'],
  ['x.m', 'Objective-C'],
  ['Makefile', 'Makefile'],
  ['deep/in/Dockerfile', 'Dockerfile'],
  ['Rakefile', 'Ruby'],
  ['.irbrc', 'Ruby'],
  ['CMakeLists.txt', 'CMake'],
  ['style.scss', 'SCSS'],
  ['a.b.c.py', 'Python'],
  // Data and prose are not counted.
  ['package.json', undefined],
  ['notes.md', undefined],
  ['list.csv', undefined],
  ['no-extension', undefined],
  ['', undefined],
  ['ends.with.', undefined],
  // Vendored code, generated code and documentation.
  ['vendor/lib/x.go', undefined],
  ['a/node_modules/b/index.js', undefined],
  ['public/jquery-3.1.js', undefined],
  ['public/app.min.js', undefined],
  ['api/v1/service.pb.go', undefined],
  ['types/index.d.ts', undefined],
  ['docs/example.py', undefined],
  ['sub/docs/example.py', 'Python'],
  ['examples/x.rb', undefined],
  ['README.html', undefined],
])('%s: %s', (path, language) => {
  expect(languageOf(path)).toBe(language);
});

test.each<[string, Partial<Record<AttributeName, AttributeState>>, string | undefined]>([
  ['vendor/x.go', { 'linguist-vendored': false }, 'Go'],
  ['vendor/x.go', { 'linguist-vendored': 'false' }, 'Go'],
  ['src/x.go', { 'linguist-vendored': true }, undefined],
  ['src/x.go', { 'linguist-generated': 'true' }, undefined],
  ['docs/x.go', { 'linguist-documentation': false }, 'Go'],
  ['src/x.go', { 'linguist-detectable': false }, undefined],
  ['src/x.inc', { 'linguist-language': 'PHP' }, 'PHP'],
  ['src/x.foo', { 'linguist-language': 'common-lisp' }, 'Common Lisp'],
  ['src/x.go', { 'linguist-language': 'Nonesuch' }, undefined],
  ['src/x.go', { 'linguist-language': true }, 'Go'],
])('%s with %j: %s', (path, attributes, language) => {
  expect(languageOf(path, new Map(Object.entries(attributes)) as never)).toBe(language);
});

test('every language of the table has a file name or extension, shared with no other', () => {
  const seen = new Set<string>();
  for (const line of LANGUAGES.trim().split('\n')) {
    const [language = '', rest = ''] = line.split(/: (.*)/);
    expect(language, line).not.toBe('');
    const [extensions = '', names = ''] = rest.split('|');
    const marks = (text: string, sign: string) =>
      text
        .split(' ')
        .filter(Boolean)
        .map((mark) => sign + mark);
    const known = [...marks(extensions, '*.'), ...marks(names, '')];
    expect(known, line).not.toEqual([]);
    for (const mark of known) {
      expect(seen.has(mark), `${mark} of ${language}`).toBe(false);
      seen.add(mark);
    }
  }
  expect(seen.size).toBeGreaterThan(1000);
});

test('any path is classified quickly', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 300 }), (path) => {
      expect(['string', 'undefined']).toContain(typeof languageOf(path));
    }),
  );
  const began = cpuMs();
  for (const unit of ['a/', '.', 'vendor', 'min.', '-', 'x.y/'])
    languageOf(unit.repeat(Math.floor(65_536 / unit.length)));
  expect(cpuMs() - began).toBeLessThan(2_000);
});
