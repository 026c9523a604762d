import { newPgpKey, newSshKey } from '../../harness/keys.ts';
import type { Operation } from './driver.ts';
import type { Fixtures, Someone } from './fixtures.ts';
import { countOf, endpoint, flip, found, type Sent } from './sent.ts';

/** Writes of keys and addresses: one's own, and those of others by an administrator. */
export const keyWrites: readonly Operation[] = (['keys', 'gpg_keys', 'emails'] as const).flatMap((kind) => {
  const id = kind === 'emails' ? ':email_id' : ':key_id';
  return (['/user', '/users/:id'] as const).flatMap((whose) => {
    const by = (user: Someone, fixtures: Fixtures) => ({
      base: `${whose.replace(':id', String(user.id))}/${kind}`,
      token: whose === '/user' ? user.token : fixtures.service.rootToken,
    });
    const going =
      (end: string) =>
      async (fixtures: Fixtures): Promise<Sent> => {
        const user = await ownerOf(fixtures);
        const { base, token } = by(user, fixtures);
        const made = await fixtures.done('POST', `/user/${kind}`, {
          token: user.token,
          json: fresh(fixtures, kind),
        });
        const path = `/user/${kind}/${made.id}`;
        const state = async () => flip(await found(fixtures, path, user.token));
        return { path: `${base}/${made.id}${end}`, token, state };
      };
    return [
      endpoint(`POST ${whose}/${kind}`, async (fixtures) => {
        const user = await ownerOf(fixtures);
        const { base, token } = by(user, fixtures);
        const json = fresh(fixtures, kind);
        return { path: base, token, json, state: () => has(fixtures, user, kind, json) };
      }),
      endpoint(`DELETE ${whose}/${kind}/${id}`, going('')),
      ...(kind === 'gpg_keys' ? [endpoint(`POST ${whose}/${kind}/${id}/revoke`, going('/revoke'))] : []),
    ];
  });
});

type Kind = 'keys' | 'gpg_keys' | 'emails';

/** Addresses cost mails, of which nobody may send many in an hour; of keys nobody has many either. */
const ownerOf = (fixtures: Fixtures): Promise<Someone> => fixtures.service.user(fixtures.fresh('keyholder'));

/** What makes one that nobody has; the first member tells it from the others. */
function fresh(fixtures: Fixtures, kind: Kind) {
  const name = fixtures.fresh('key');
  const email = `${name}@home.example`;
  if (kind === 'emails') return { email };
  return kind === 'keys' ? { title: name, key: newSshKey() } : { key: newPgpKey(email) };
}

async function has(fixtures: Fixtures, user: Someone, kind: Kind, json: object): Promise<string> {
  const rows: readonly object[] = await fixtures.done('GET', `/user/${kind}?per_page=100`, {
    token: user.token,
  });
  const [name, value] = Object.entries(json)[0]!;
  return countOf(rows.filter((row) => Reflect.get(row, name) === value));
}
