/**
 * The page behind a link that confirms an address. It asks once more: programs that look at links in mail follow them
 * too, and would confirm for whoever wrote somebody else's address.
 */
import { confirmEmail } from '../../domain/emails/confirmation.ts';
import { DomainError } from '../../domain/errors.ts';
import { readBody } from '../../http/body.ts';
import type { Page } from '../../http/function.ts';
import type { ApiDeps } from '../endpoint.ts';
import { formPage } from '../pages/form-page.ts';
import { escaped } from '../users/present.ts';

const FORM_BYTES = 4 * 1024;
const MAX_TOKEN = 100;

/** `GET /users/confirmation?confirmation_token=`: says nothing of whether the link is good. */
export const confirmationPage: Page<ApiDeps> = (_, request) => {
  const token = (new URL(request.url).searchParams.get('confirmation_token') ?? '').slice(0, MAX_TOKEN);
  return page(
    200,
    // Where it is sent is said relative to the page, so that a stage before it does not matter.
    `<form method="post" action="confirmation"><input type="hidden" name="confirmation_token" value="${escaped(token)}">
<p><button>This is my address</button></p></form>`,
  );
};

/** `POST /users/confirmation`: the form. */
export const emailConfirmed: Page<ApiDeps> = async (facts, request, deps) => {
  const token = (await readBody(request, FORM_BYTES))['confirmation_token'];
  try {
    const email = await confirmEmail(
      await deps(),
      // Whoever follows the link: they are not signed in.
      { kind: 'anonymous', origin: { address: facts.sourceIp, requestId: facts.requestId } },
      typeof token === 'string' ? token.slice(0, MAX_TOKEN) : '',
    );
    return page(200, `<p>${escaped(email)} is confirmed. You may close this page.</p>`);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const status = error.code === 'conflict' ? 409 : 400;
    return page(status, `<p role="alert"><strong>${escaped(String(error.detail))}</strong></p>`);
  }
};

const page = (status: number, main: string) => formPage('Confirm your e-mail address', status, main);
