import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { licenseNamed, licenseOf } from '../../../lib/domain/statistics/licenses.ts';

const modules = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), '..');
const KNOWN = new Set(['MIT', 'Apache-2.0', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'MPL-2.0']);

/** Packages at hand, with what they say of their licence and its text. */
function* packages(): Generator<{ name: string; said: string; text: string }> {
  const names = readdirSync(modules).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(modules, name)).map((each) => `${name}/${each}`) : [name],
  );
  for (const name of names) {
    const folder = join(modules, name);
    const manifest = join(folder, 'package.json');
    if (!existsSync(manifest)) continue;
    const said = JSON.parse(readFileSync(manifest, 'utf8')).license;
    const file = readdirSync(folder).find((each) => /^licen[sc]e(\.md|\.txt)?$/i.test(each));
    if (file !== undefined && KNOWN.has(said))
      yield { name, said, text: readFileSync(join(folder, file), 'utf8') };
  }
}

test('licences of installed packages are detected as declared', () => {
  const found = [...packages()].map(({ name, said, text }) => ({ name, said, is: licenseOf(text) }));
  expect(new Set(found.map(({ said }) => said)).size).toBeGreaterThanOrEqual(4);
  expect(found.length).toBeGreaterThan(100);
  const wrong = found.filter(({ said, is }) => is !== said.toLowerCase());
  // A few contain another text than the one they declare, or several.
  expect(wrong.length / found.length, JSON.stringify(wrong)).toBeLessThan(0.03);
});

test.each([
  [
    '                    GNU GENERAL PUBLIC LICENSE\n                       Version 3, 29 June 2007\n',
    'gpl-3.0',
  ],
  ['\t\t    GNU GENERAL PUBLIC LICENSE\n\t\t       Version 2, June 1991\n', 'gpl-2.0'],
  ['GNU LESSER GENERAL PUBLIC LICENSE\n Version 2.1, February 1999', 'lgpl-2.1'],
  ['GNU AFFERO GENERAL PUBLIC LICENSE\nVersion 3, 19 November 2007', 'agpl-3.0'],
  [
    'Mozilla Public License Version 2.0\n====\n1.12 "Secondary License" GNU General Public License, Version 2.0',
    'mpl-2.0',
  ],
  ['This is free and unencumbered software released into the public domain.', 'unlicense'],
  ['All rights reserved.', 'other'],
  ['', 'other'],
])('%j: %s', (text, key) => expect(licenseOf(text)).toBe(key));

test('any text has a licence result with a name', () => {
  fc.assert(fc.property(fc.string(), (text) => licenseNamed(licenseOf(text)).name !== ''));
  expect(licenseNamed('gone')).toMatchObject({ name: 'Other', nickname: null });
});
