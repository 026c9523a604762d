/**
 * The page behind the link in mail that asks for no more of it. It asks once more, since programs that look at links
 * follow them too; mail clients that know RFC 8058 send its form at once, by the same address.
 */
import { DomainError } from '../../domain/errors.ts';
import { readToken, type UnsubscribeFrom, unsubscribe } from '../../domain/notifications/unsubscribe.ts';
import type { Page } from '../../http/function.ts';
import type { ApiDeps } from '../endpoint.ts';
import { formPage } from '../pages/form-page.ts';
import { escaped } from '../users/present.ts';

const TITLE = 'Unsubscribe';
const MAX_TOKEN = 200;

/** It names nothing: whoever reads it may not be let in there any more. */
const told = (from: UnsubscribeFrom): string =>
  'thread' in from ? 'this conversation' : `this ${from.source.kind}`;

/** `GET /users/unsubscribe?token=` */
export const unsubscribePage: Page<ApiDeps> = (_, request, deps) =>
  answered(async () => {
    const token = tokenIn(request);
    const { from } = await readToken(await deps(), token);
    // Where it is sent is said relative to the page, so that a stage before it does not matter.
    return `<p>No more mail about ${told(from)}?</p>
<form method="post" action="unsubscribe?token=${escaped(encodeURIComponent(token))}">
<p><button name="List-Unsubscribe" value="One-Click">Unsubscribe</button></p></form>`;
  });

/** `POST /users/unsubscribe?token=`: whatever its body says. */
export const unsubscribed: Page<ApiDeps> = (_, request, deps) =>
  answered(async () => {
    const from = await unsubscribe(await deps(), tokenIn(request));
    return `<p>You are sent no more mail about ${told(from)}. You may close this page.</p>`;
  });

const tokenIn = (request: Request): string =>
  (new URL(request.url).searchParams.get('token') ?? '').slice(0, MAX_TOKEN);

async function answered(main: () => Promise<string>) {
  try {
    return formPage(TITLE, 200, await main());
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return formPage(TITLE, 400, `<p role="alert"><strong>${escaped(String(error.detail))}</strong></p>`);
  }
}
