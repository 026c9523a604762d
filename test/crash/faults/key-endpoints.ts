import { newPgpKey, newSshKey } from '../../harness/keys.ts';
import type { Operation } from './driver.ts';
import type { Scene, Someone } from './scene.ts';
import { countOf, endpoint, flip, found, type Sent } from './sent.ts';

/** Writes of keys and addresses: one's own, and those of others by an administrator. */
export const keyWrites: readonly Operation[] = (['keys', 'gpg_keys', 'emails'] as const).flatMap((kind) => {
  const id = kind === 'emails' ? ':email_id' : ':key_id';
  return (['/user', '/users/:id'] as const).flatMap((whose) => {
    const by = (user: Someone, scene: Scene) => ({
      base: `${whose.replace(':id', String(user.id))}/${kind}`,
      token: whose === '/user' ? user.token : scene.service.rootToken,
    });
    const going =
      (end: string) =>
      async (scene: Scene): Promise<Sent> => {
        const user = await ownerOf(scene);
        const { base, token } = by(user, scene);
        const made = await scene.done('POST', `/user/${kind}`, {
          token: user.token,
          json: fresh(scene, kind),
        });
        const path = `/user/${kind}/${made.id}`;
        const state = async () => flip(await found(scene, path, user.token));
        return { path: `${base}/${made.id}${end}`, token, state };
      };
    return [
      endpoint(`POST ${whose}/${kind}`, async (scene) => {
        const user = await ownerOf(scene);
        const { base, token } = by(user, scene);
        const json = fresh(scene, kind);
        return { path: base, token, json, state: () => has(scene, user, kind, json) };
      }),
      endpoint(`DELETE ${whose}/${kind}/${id}`, going('')),
      ...(kind === 'gpg_keys' ? [endpoint(`POST ${whose}/${kind}/${id}/revoke`, going('/revoke'))] : []),
    ];
  });
});

type Kind = 'keys' | 'gpg_keys' | 'emails';

/** Addresses cost mails, of which nobody may send many in an hour; of keys nobody has many either. */
const ownerOf = (scene: Scene): Promise<Someone> => scene.service.user(scene.fresh('keyholder'));

/** What makes one that nobody has; the first member tells it from the others. */
function fresh(scene: Scene, kind: Kind) {
  const name = scene.fresh('key');
  const email = `${name}@home.example`;
  if (kind === 'emails') return { email };
  return kind === 'keys' ? { title: name, key: newSshKey() } : { key: newPgpKey(email) };
}

async function has(scene: Scene, user: Someone, kind: Kind, json: object): Promise<string> {
  const rows: readonly object[] = await scene.done('GET', `/user/${kind}?per_page=100`, {
    token: user.token,
  });
  const [name, value] = Object.entries(json)[0]!;
  return countOf(rows.filter((row) => Reflect.get(row, name) === value));
}
