import { samlIdentityOf } from '../../lib/domain/scim/group-identities.ts';
import type { UserRecord } from '../../lib/records/users.ts';
import { idOf } from '../../lib/store/row-keys/key.ts';
import {
  scimCountKey,
  scimIdentityKey,
  scimNameKey,
  scimTokenKey,
  scimTokenOfKey,
  scimUserKey,
} from '../../lib/store/row-keys/scim.ts';
import { userKey } from '../../lib/store/row-keys/users.ts';
import type { ScimIdentity } from '../../lib/store/scim/identities.ts';
import type { ScimToken } from '../../lib/store/scim/tokens.ts';
import { keyText, type Row, rowCheck } from './rows.ts';

/** People of a group's identity provider are found by account and by name, and counted; so is its token. */
export const scim = rowCheck(
  ['scim-identity', 'scim-user', 'scim-name', 'scim-count', 'scim-token', 'scim-token-of-group'],
  function* (rows) {
    const counted = new Map<number, number>();
    const found = new Set<string>();
    for (const row of rows.of('GROUP#')) {
      const groupId = idOf(row.pk);
      if (row.sk.startsWith('SCIM#')) {
        const { userId, externUid, userName } = row as unknown as ScimIdentity;
        if (keyText(scimIdentityKey(groupId, externUid)) !== keyText(row))
          yield `an identity stands at ${keyText(row)}`;
        for (const key of [scimUserKey(groupId, userId), scimNameKey(groupId, userName)]) {
          found.add(keyText(key));
          if (rows.get(key)?.['externUid'] !== externUid)
            yield `${keyText(row)} is not found by ${keyText(key)}`;
        }
        const account = rows.get(userKey(userId)) as unknown as UserRecord | undefined;
        if (account === undefined) yield `${keyText(row)} is of nobody`;
        else if (row['active'] === false && samlIdentityOf(account, groupId) !== undefined)
          yield `${keyText(row)} was let go, and its account signs in there`;
        counted.set(groupId, (counted.get(groupId) ?? 0) + 1);
      }
      if (row.sk === 'SCIMTOKEN') {
        const { hash } = row as unknown as ScimToken;
        if (rows.get(scimTokenKey(hash))?.['groupId'] !== groupId) yield `${keyText(row)} lets nobody in`;
      }
    }
    for (const row of rows.of('GROUP#')) {
      if (/^SCIM(USER|NAME)#/.test(row.sk) && !found.has(keyText(row)))
        yield `${keyText(row)} leads to nobody`;
    }
    const groups = new Set(rows.of('GROUP#').map(({ pk }) => idOf(pk)));
    for (const groupId of groups) {
      const there = counted.get(groupId) ?? 0;
      const told = numberIn(rows.get(scimCountKey(groupId)));
      if (told !== there) yield `group ${groupId} counts ${told} of its provider; there are ${there}`;
    }
    for (const row of rows.of('SCIMTOKEN#')) {
      const token = rows.get(scimTokenOfKey(row['groupId'] as number));
      if (keyText(scimTokenKey((token?.['hash'] as string | undefined) ?? '-')) !== keyText(row))
        yield `${keyText(row)} is of no group`;
    }
  },
);

const numberIn = (row: Row | undefined): number => (row?.['identities'] as number | undefined) ?? 0;
