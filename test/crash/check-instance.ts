import { VARIABLE } from '../../lib/store/row-keys/ci-variables.ts';
import { masterKeyLease, secretKey } from '../../lib/store/row-keys/secrets.ts';
import { TRIGGER } from '../../lib/store/row-keys/triggers.ts';
import { keyText, rowCheck } from './rows.ts';

/** Secrets are sealed, and stand where they are read. */
export const secrets = rowCheck(['secret'], function* (rows) {
  // Variables and triggers are sealed too, and have keys of their own.
  const others = [VARIABLE, TRIGGER];
  for (const row of rows.of('SECRETS#').filter(({ sk }) => !others.some((each) => sk.startsWith(each)))) {
    const at = row.sk.lastIndexOf('#');
    if (keyText(secretKey(row.sk.slice(0, at), row.sk.slice(at + 1))) !== keyText(row))
      yield `a secret stands at ${keyText(row)}`;
    if (typeof row['key'] !== 'string' || !(row['sealed'] instanceof Uint8Array))
      yield `${keyText(row)} is not sealed`;
  }
});

export const masterKeyLeases = rowCheck(['master-key-lease'], function* (rows) {
  const lease = rows.get(masterKeyLease());
  if (lease !== undefined && (typeof lease['until'] !== 'number' || typeof lease['fence'] !== 'number'))
    yield 'the lease of the master key is no lease';
});

export const settings = rowCheck(['settings'], function* (rows) {
  for (const row of rows.of('SETTINGS#')) {
    if (!Number.isInteger(row['version']) || typeof row['values'] !== 'object' || row['values'] === null)
      yield `${keyText(row)} holds no settings`;
  }
});

export const linkSecrets = rowCheck(['link-secret'], function* (rows) {
  for (const row of rows.of('LINKSECRET#'))
    if (Buffer.from(String(row['secret']), 'base64url').length !== 32) yield `${row.pk} holds no secret`;
});
