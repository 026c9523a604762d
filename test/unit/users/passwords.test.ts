import { expect, test } from 'vitest';
import { hashPassword, verifyPassword } from '../../../lib/domain/accounts/password-hash.ts';

test('a hash matches its password only, in either Unicode normal form', async () => {
  const stored = await hashPassword('grün und blau');
  expect(stored).toMatch(/^scrypt\$\d+\$\d+\$\d+\$[\w+/=]+\$[\w+/=]+$/);
  expect(await verifyPassword('grün und blau'.normalize('NFD'), stored)).toBe(true);
  expect(await verifyPassword('grün und rot', stored)).toBe(false);
  expect(await hashPassword('grün und blau')).not.toBe(stored);
});

test.each(['', 'scrypt$1$1$1', 'bcrypt$1$1$1$AA==$AA==', 'nonsense'])(
  'the malformed hash %j matches no password',
  async (stored) => {
    expect(await verifyPassword('', stored)).toBe(false);
  },
);
