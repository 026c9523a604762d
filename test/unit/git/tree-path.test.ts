import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decodePath,
  encodePath,
  type PathProblem,
  type RawPath,
  readPath,
} from '../../../lib/git/tree/path.ts';

test('any bytes round-trip through text', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const raw = Buffer.from(bytes).toString('latin1') as RawPath;
      const text = decodePath(raw);
      expect(encodePath(text)).toBe(raw);
      expect(text.isWellFormed()).toBe(true);
      expect(encodePath(JSON.parse(JSON.stringify(text)))).toBe(raw);
    }),
  );
});

test('UTF-8 is decoded', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(decodePath(encodePath(text)!)).toBe(text);
    }),
  );
  expect(decodePath('caf\xc3\xa9' as RawPath)).toBe('café');
  expect(decodePath('caf\xe9' as RawPath)).toBe('caf\u{10fee9}');
  expect(encodePath('\ud800')).toBeUndefined();
});

test('a name that has what stands for a byte is told apart from one that has the byte', () => {
  const real = Buffer.from('\u{10fee9}').toString('latin1') as RawPath;
  expect(decodePath(real)).not.toBe(decodePath('\xe9' as RawPath));
  expect(encodePath(decodePath(real))).toBe(real);
});

describe('paths to write to', () => {
  const refused: Record<PathProblem, string[]> = {
    empty: [''],
    traversal: ['..', '.', 'a/../b', './a', 'a/.', 'a\\..\\b', '..\\a'],
    absolute: ['/a', '//', '\\a'],
    'empty-component': ['a//b', 'a/'],
    'git-directory': [
      '.git',
      '.GIT/config',
      'a/.Git/hooks/x',
      '.git./x',
      '.git /x',
      '.git . .',
      'git~1/x',
      'GIT~1',
      '.git::$INDEX_ALLOCATION/x',
      '.git:x',
      '.g\u200cit/x',
      '\ufeff.git',
      'a\\.git\\config',
    ],
    character: ['a\0b', 'a\nb', '\u007f', 'a\ud800'],
    'too-long': [`${'a/'.repeat(3000)}b`, 'x'.repeat(256), 'é'.repeat(128)],
  };
  test.each(Object.entries(refused))('%s', (problem, paths) => {
    for (const path of paths) expect(readPath(path), JSON.stringify(path)).toEqual({ problem });
  });

  test('ordinary names are accepted', () => {
    for (const path of [
      'a',
      'a/b.c',
      '.gitignore',
      '.github/x',
      'git',
      '.gitx/y',
      'a b',
      'ü/é',
      '...',
      'a\\b',
      '-x',
    ]) {
      expect(readPath(path)).toEqual({ path: encodePath(path) });
    }
  });
});
