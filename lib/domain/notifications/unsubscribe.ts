/**
 * Links in mail by which its reader asks for no more of it, without signing in. A link says who and what about, signed:
 * nothing is stored of it, it leads there for ever, and following it twice is following it once. Whoever it was
 * forwarded to can do no more with it than that.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { MemberSource } from '../../records/members.ts';
import { Missing } from '../../store/errors.ts';
import type { Thread } from '../../store/notes/participants.ts';
import type { Deps } from '../deps.ts';
import { refused } from '../errors.ts';

/** The page that a mailed link leads to. */
const UNSUBSCRIBE_PAGE = '/users/unsubscribe';

/** What no more mail is wanted of: what is said about one thing, or all of a project or group. */
export type UnsubscribeFrom = { readonly thread: Thread } | { readonly source: MemberSource };

const PURPOSE = 'unsubscribe';
/** 128 bits. */
const SIGNATURE = 22;

/** The link in one reader's mail. */
export async function unsubscribeLink(
  { store }: Deps,
  userId: number,
  from: UnsubscribeFrom,
  baseUrl: string,
): Promise<string> {
  const said = `${userId}.${textOf(from)}`;
  const token = `${said}.${signed(await store.linkSecrets.get(PURPOSE), said)}`;
  return `${baseUrl}${UNSUBSCRIBE_PAGE}?token=${token}`;
}

/** @throws 400 for a link that was never made */
export async function unsubscribe(deps: Deps, token: string): Promise<UnsubscribeFrom> {
  const { userId, from } = await readToken(deps, token);
  try {
    if ('thread' in from) await deps.store.threads.leave(from.thread, userId);
    else await deps.store.notificationSettings.change(userId, from.source, { level: 'disabled' });
  } catch (error) {
    // What is gone sends no mail.
    if (!(error instanceof Missing)) throw error;
  }
  return from;
}

/** @throws 400 for a link that was never made */
export async function readToken(
  { store }: Deps,
  token: string,
): Promise<{ readonly userId: number; readonly from: UnsubscribeFrom }> {
  const said = token.slice(0, -SIGNATURE - 1);
  const shown = Buffer.from(token.slice(said.length + 1));
  const right = Buffer.from(signed(await store.linkSecrets.get(PURPOSE), said));
  const [, userId, what] = /^(\d+)\.(.+)$/.exec(said) ?? [];
  const from = what === undefined ? undefined : parsed(what);
  if (from === undefined || shown.length !== right.length || !timingSafeEqual(shown, right))
    throw refused('The link is invalid');
  return { userId: Number(userId), from };
}

const signed = (secret: Buffer, said: string): string =>
  createHmac('sha256', secret).update(said).digest('base64url').slice(0, SIGNATURE);

const textOf = (from: UnsubscribeFrom): string =>
  'thread' in from
    ? `${from.thread.noteable.kind}.${from.thread.projectId}.${from.thread.noteable.id}`
    : `${from.source.kind}.${from.source.id}`;

function parsed(text: string): UnsubscribeFrom | undefined {
  const [, kind, id, of] = /^(\w+)\.(\d+)(?:\.(\w+))?$/.exec(text) ?? [];
  if (kind === 'commit' && of !== undefined)
    return { thread: { projectId: Number(id), noteable: { kind, id: of } } };
  return kind === 'project' || kind === 'group' ? { source: { kind, id: Number(id) } } : undefined;
}
