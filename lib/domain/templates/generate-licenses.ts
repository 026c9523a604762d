/** Writes `lib/domain/templates/licenses.json` from the data of choosealicense.com: `npm run generate:licenses`. */
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { LicenseTemplate } from './licenses.ts';

interface Described {
  readonly title: string;
  readonly nickname: string | null;
  readonly featured: boolean;
  readonly hidden: boolean;
  readonly description: string;
  readonly permissions: readonly string[];
  readonly conditions: readonly string[];
  readonly limitations: readonly string[];
  readonly body: string;
}

const all = createRequire(import.meta.url)('@rexxars/choosealicense-list/licenses.json') as Record<
  string,
  Described
>;
const shown = Object.entries(all)
  .filter(([, { hidden }]) => !hidden)
  .map(
    ([id, license]): LicenseTemplate => ({
      key: id.toLowerCase(),
      name: license.title,
      nickname: license.nickname,
      popular: license.featured,
      description: license.description,
      permissions: license.permissions,
      conditions: license.conditions,
      limitations: license.limitations,
      content: license.body,
    }),
  )
  .sort((a, b) => (a.key < b.key ? -1 : 1));
writeFileSync(join(import.meta.dirname, 'licenses.json'), `${JSON.stringify(shown, null, 2)}\n`);
