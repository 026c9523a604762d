/**
 * The page that a mailed confirmation link opens. Confirming takes a click on the page: mail scanners follow links too,
 * and would confirm addresses that their owners never asked to add.
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

/** `GET /users/confirmation?confirmation_token=`: the same page whether the token is valid or not. */
export const confirmationPage: Page<ApiDeps> = (_, request) => {
  const token = (new URL(request.url).searchParams.get('confirmation_token') ?? '').slice(0, MAX_TOKEN);
  return page(
    200,
    // The form's action is relative to the page, so that it works below a stage of the gateway too.
    `<form method="post" action="confirmation"><input type="hidden" name="confirmation_token" value="${escaped(token)}">
<p><button>Confirm</button></p></form>`,
  );
};

/** `POST /users/confirmation`: confirms the address. */
export const emailConfirmed: Page<ApiDeps> = async (facts, request, deps) => {
  const token = (await readBody(request, FORM_BYTES))['confirmation_token'];
  try {
    const email = await confirmEmail(
      await deps(),
      // Anyone who has the link can confirm; they are not signed in.
      { kind: 'anonymous', origin: { address: facts.sourceIp, requestId: facts.requestId } },
      typeof token === 'string' ? token.slice(0, MAX_TOKEN) : '',
    );
    return page(200, `<p>${escaped(email)} is confirmed. You can close this page.</p>`);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const status = error.code === 'conflict' ? 409 : 400;
    return page(status, `<p role="alert"><strong>${escaped(String(error.detail))}</strong></p>`);
  }
};

const page = (status: number, main: string) => formPage('Confirm your email address', status, main);
