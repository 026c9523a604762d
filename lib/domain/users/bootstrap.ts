import { TOKEN_SCOPES, type TokenRecord } from '../../records/tokens.ts';
import type { UserRecord } from '../../records/users.ts';
import { AlreadyExists, NameTaken } from '../../store/errors.ts';
import { TOKEN_PREFIXES, tokenHash } from '../access/token-check.ts';
import { type AuditAuthor, auditedUser, prepareAudited } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { refused } from '../errors.ts';
import { auditedToken } from '../tokens/audit.ts';
import { newTokenText, revokeToken } from '../tokens/tokens.ts';

const USERNAME = 'root';
const TOKEN_NAME = 'First administrator';
/** Who may invoke functions of the instance. */
const OPERATOR = { kind: 'system', name: '(Operator)' } as const satisfies AuditAuthor;

export interface FirstAdministrator {
  readonly username: string;
  /** Text of a new token; absent when one existed and no other was requested. */
  readonly token?: string;
}

/**
 * Creates the administrator `root` (ID 1 on a new instance) and their first token. Idempotent: with the same token nothing
 * changes, with another one the old one is revoked, without a token a random one is created only the first time.
 *
 * @param wanted 20 to 255 URL-safe characters
 * @throws 400 when the token is malformed or belongs to another user
 */
export async function firstAdministrator(
  deps: Deps,
  wanted: string | undefined,
): Promise<FirstAdministrator> {
  if (wanted !== undefined && !/^[A-Za-z0-9_-]{20,255}$/.test(wanted)) {
    throw refused('the token must be 20 to 255 characters of A-Z, a-z, 0-9, _ and -');
  }
  const root = (await deps.store.users.byUsername(USERNAME)) ?? (await createRoot(deps));
  const current = await tokensOf(deps, root);
  const live = current.filter((token) => !token.revoked);
  if (wanted === undefined) {
    if (live.length > 0) return { username: root.username };
    const text = newTokenText(TOKEN_PREFIXES.access);
    await addToken(deps, root, text);
    return { username: root.username, token: text };
  }
  const hash = tokenHash(wanted);
  const existing = await deps.store.tokens.byHash(hash);
  if (existing === undefined) await addToken(deps, root, wanted);
  else if (existing.userId !== root.id || existing.revoked) {
    throw refused('this token was used before: choose another');
  }
  const entity = auditedUser(root);
  const others = live.filter((token) => token.hash !== hash);
  await Promise.all(others.map((token) => revokeToken(deps, OPERATOR, token, { entity })));
  return { username: root.username };
}

async function createRoot(deps: Deps): Promise<UserRecord> {
  const now = deps.now();
  const event = await prepareAudited(deps, OPERATOR);
  try {
    return await deps.store.users.create(
      {
        username: USERNAME,
        name: 'Administrator',
        email: 'admin@example.com',
        state: 'active',
        admin: true,
        external: false,
        privateProfile: false,
        canCreateGroup: true,
        projectsLimit: (await deps.settings.current()).default_projects_limit,
        confirmedAt: now.toISOString(),
        lastActivityOn: null,
        // The token is the only credential.
        passwordHash: null,
        profile: {},
      },
      {
        now,
        about: (id) => [event({ entity: auditedUser({ id, username: USERNAME }), details: { add: 'user' } })],
      },
    );
  } catch (error) {
    // Created by a concurrent first start.
    const other = error instanceof NameTaken ? await deps.store.users.byUsername(USERNAME) : undefined;
    if (other === undefined) throw error;
    return other;
  }
}

/** The tokens that this function created for root; tokens created by root itself are left alone. */
async function tokensOf(deps: Deps, root: UserRecord): Promise<TokenRecord[]> {
  const found: TokenRecord[] = [];
  for (let page = 1, more = true; more; page++) {
    const read = await deps.store.tokens.list({ of: { userId: root.id }, page, perPage: 100 });
    found.push(...read.items.filter((token) => token.name === TOKEN_NAME));
    more = read.more;
  }
  return found;
}

async function addToken(deps: Deps, root: UserRecord, text: string): Promise<void> {
  const event = await prepareAudited(deps, OPERATOR);
  const alongside = (created: TokenRecord) => [
    event(auditedToken(auditedUser(root), created, { action: 'Created' })),
  ];
  try {
    await deps.store.tokens.create(
      {
        userId: root.id,
        name: TOKEN_NAME,
        scopes: [...TOKEN_SCOPES],
        expiresAt: null,
        hash: tokenHash(text),
      },
      { now: deps.now(), alongside },
    );
  } catch (error) {
    if (!(error instanceof AlreadyExists)) throw error;
  }
}
