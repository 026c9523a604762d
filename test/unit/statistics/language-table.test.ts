import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { languageTable, TABLE } from '../../../lib/domain/statistics/generate-language-table.ts';

test('the committed table is the one that `npm run generate:languages` makes', () => {
  expect(readFileSync(TABLE, 'utf8')).toBe(languageTable());
});
