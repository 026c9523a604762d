/**
 * The page that the unsubscribe link in mail opens. It asks for confirmation with a form, because mail scanners follow
 * links; mail clients that support one-click unsubscription (RFC 8058) post the form directly to the same URL.
 */
import { DomainError } from '../../domain/errors.ts';
import { readToken, type UnsubscribeFrom, unsubscribe } from '../../domain/notifications/unsubscribe.ts';
import type { Page } from '../../http/function.ts';
import type { ApiDeps } from '../endpoint.ts';
import { formPage } from '../pages/form-page.ts';
import { escaped } from '../users/present.ts';

const TITLE = 'Unsubscribe';
const MAX_TOKEN = 200;

/** Names no project, group or thread: the recipient may have lost access to it. */
const subjectOf = (from: UnsubscribeFrom): string =>
  'thread' in from ? 'this conversation' : `this ${from.source.kind}`;

/** `GET /users/unsubscribe?token=` */
export const unsubscribePage: Page<ApiDeps> = (_, request, deps) =>
  respond(async () => {
    const token = tokenIn(request);
    const { from } = await readToken(await deps(), token);
    // The form's action is relative to the page, so that it works below the path of an API Gateway stage.
    return `<p>Stop receiving mail about ${subjectOf(from)}?</p>
<form method="post" action="unsubscribe?token=${escaped(encodeURIComponent(token))}">
<p><button name="List-Unsubscribe" value="One-Click">Unsubscribe</button></p></form>`;
  });

/** `POST /users/unsubscribe?token=`: its body is ignored. */
export const unsubscribed: Page<ApiDeps> = (_, request, deps) =>
  respond(async () => {
    const from = await unsubscribe(await deps(), tokenIn(request));
    return `<p>You will no longer receive mail about ${subjectOf(from)}. You can close this page.</p>`;
  });

const tokenIn = (request: Request): string =>
  (new URL(request.url).searchParams.get('token') ?? '').slice(0, MAX_TOKEN);

async function respond(main: () => Promise<string>) {
  try {
    return formPage(TITLE, 200, await main());
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return formPage(TITLE, 400, `<p role="alert"><strong>${escaped(String(error.detail))}</strong></p>`);
  }
}
