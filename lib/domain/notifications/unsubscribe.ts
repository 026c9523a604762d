/**
 * Unsubscribe links, which work without signing in. A link contains the user and the subject, signed: nothing is stored
 * per link, it never expires, and using it is idempotent. It permits nothing but to unsubscribe, also after it was
 * forwarded.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { MemberSource } from '../../records/members.ts';
import { Missing } from '../../store/errors.ts';
import type { Thread } from '../../store/notes/participants.ts';
import type { Deps } from '../deps.ts';
import { refused } from '../errors.ts';

/** Path of the page that the link opens. */
const UNSUBSCRIBE_PAGE = '/users/unsubscribe';

/** What a user unsubscribes from: one thread, or a whole project or group. */
export type UnsubscribeFrom = { readonly thread: Thread } | { readonly source: MemberSource };

const PURPOSE = 'unsubscribe';
/** Characters of base64url: at least 128 bits. */
const SIGNATURE_LENGTH = 22;

/** Returns the unsubscribe URL for one recipient. */
export async function unsubscribeLink(
  { store }: Deps,
  userId: number,
  from: UnsubscribeFrom,
  baseUrl: string,
): Promise<string> {
  const payload = `${userId}.${textOf(from)}`;
  const token = `${payload}.${signed(await store.linkSecrets.get(PURPOSE), payload)}`;
  return `${baseUrl}${UNSUBSCRIBE_PAGE}?token=${token}`;
}

/** @throws 400 for an invalid signature */
export async function unsubscribe(deps: Deps, token: string): Promise<UnsubscribeFrom> {
  const { userId, from } = await readToken(deps, token);
  try {
    if ('thread' in from) await deps.store.threads.subscribe(from.thread, userId, false);
    else await deps.store.notificationSettings.change(userId, from.source, { level: 'disabled' });
  } catch (error) {
    // A deleted subject sends no mail.
    if (!(error instanceof Missing)) throw error;
  }
  return from;
}

/** @throws 400 for an invalid signature */
export async function readToken(
  { store }: Deps,
  token: string,
): Promise<{ readonly userId: number; readonly from: UnsubscribeFrom }> {
  const payload = token.slice(0, -SIGNATURE_LENGTH - 1);
  const signature = Buffer.from(token.slice(payload.length + 1));
  const expected = Buffer.from(signed(await store.linkSecrets.get(PURPOSE), payload));
  const [, userId, target] = /^(\d+)\.(.+)$/.exec(payload) ?? [];
  const from = target === undefined ? undefined : parsed(target);
  if (from === undefined || signature.length !== expected.length || !timingSafeEqual(signature, expected))
    throw refused('The link is invalid');
  return { userId: Number(userId), from };
}

const signed = (secret: Buffer, payload: string): string =>
  createHmac('sha256', secret).update(payload).digest('base64url').slice(0, SIGNATURE_LENGTH);

function textOf(from: UnsubscribeFrom): string {
  if (!('thread' in from)) return `${from.source.kind}.${from.source.id}`;
  const { projectId, noteable } = from.thread;
  return `${noteable.kind}.${noteable.kind === 'epic' ? noteable.groupId : projectId}.${noteable.id}`;
}

function parsed(text: string): UnsubscribeFrom | undefined {
  const [, kind, id, of] = /^([\w-]+)\.(\d+)(?:\.(\w+))?$/.exec(text) ?? [];
  if (kind === 'commit' && of !== undefined)
    return { thread: { projectId: Number(id), noteable: { kind, id: of } } };
  if ((kind === 'issue' || kind === 'merge-request' || kind === 'snippet') && /^\d+$/.test(of ?? ''))
    return { thread: { projectId: Number(id), noteable: { kind, id: Number(of) } } };
  if (kind === 'epic' && /^\d+$/.test(of ?? ''))
    return { thread: { projectId: 0, noteable: { kind, id: Number(of), groupId: Number(id) } } };
  return kind === 'project' || kind === 'group' ? { source: { kind, id: Number(id) } } : undefined;
}
