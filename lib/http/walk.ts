/**
 * Clients that read a list page by page, by number alone: each page begins where the one before ended, as by the link
 * that led there. What is kept of a page is what that link has, and the list trusts it no more.
 */
import { createHash } from 'node:crypto';
import type { Credential } from '../domain/actor.ts';
import { type KeysetRule, markedAfter, markedFor, type OffsetPage, queryText } from './pagination.ts';

/** Keeps the end of the page that a caller read last of a list. */
export interface PageEnds {
  last(list: string): Promise<string | undefined>;
  keep(list: string, end: string): Promise<void>;
}

/** What tells a list and its caller from others. */
interface Walked {
  readonly credential: Credential;
  readonly sudo: string | undefined;
  /** Of a caller without a credential. */
  readonly address: string;
  readonly path: string;
  readonly given: Readonly<Record<string, unknown>>;
}

export interface Walk {
  /** The page, from where the last one ended if it is the next. */
  page(): Promise<OffsetPage>;
  /** Waits until its end is kept. */
  done(): Promise<void> | undefined;
}

/** Begins to read where the last page ended. Where that fails, the number counts. */
export function walk(ends: PageEnds, page: OffsetPage, { marker }: KeysetRule, walked: Walked): Walk {
  const { credential, sudo, address, path, given } = walked;
  const caller = credential.kind === 'token' ? [credential.token, sudo] : address;
  const query = queryText({ ...given, page: undefined, [marker]: undefined });
  const text = JSON.stringify([caller, path, query]);
  const list = createHash('sha256').update(text).digest('base64url');
  const last = page.page === 1 ? undefined : ends.last(list).catch(() => undefined);
  let kept: Promise<void> | undefined;
  const ended = (end: string): void => {
    kept = ends.keep(list, markedFor(page, end)).catch(() => {});
  };
  return {
    async page() {
      const after = markedAfter(await last, page.offset);
      return { ...page, ...(after === undefined ? {} : { after }), ended };
    },
    done: () => kept,
  };
}
