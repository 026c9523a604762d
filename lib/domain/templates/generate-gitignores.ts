/**
 * Writes `lib/domain/templates/gitignores.json` from the npm package `gitignr`, which has a copy of github/gitignore:
 *
 *     npm pack gitignr@1.1.1 && tar xzf gitignr-1.1.1.tgz && npm run generate:gitignores package
 *
 * It is no dependency, since its program, and what that needs, is of no use here.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { FileTemplate } from './files.ts';

const SUFFIX = '.gitignore';
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: generate-gitignores.ts <folder of the package>');

/** Those of languages, and then of editors and systems: a name is taken once. */
const all = new Map<string, FileTemplate>();
for (const below of ['gitignore', 'gitignore/Global']) {
  for (const file of readdirSync(join(folder, below)).filter((each) => each.endsWith(SUFFIX))) {
    const name = basename(file, SUFFIX);
    const content = readFileSync(join(folder, below, file), 'utf8').replaceAll('\r\n', '\n');
    if (name !== '' && !all.has(name)) all.set(name, { name, content });
  }
}
const sorted = [...all.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
writeFileSync(join(import.meta.dirname, 'gitignores.json'), `${JSON.stringify(sorted, null, 2)}\n`);
